// What gauge.cpp and gauge_use.cpp use of the simulator's headers, as their documentation describes it.
#pragma once
using FsNetworkRequestId = long long;
using HttpRequestCallback = void (*)(FsNetworkRequestId request, int error, void* data);
struct FsNetworkHttpRequestParam { char* postField; };
extern "C" {
FsNetworkRequestId fsNetworkHttpRequestPost(
    const char* url, FsNetworkHttpRequestParam* param, HttpRequestCallback callback, void* data);
int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId request);
bool fsNetworkHttpCancelRequest(FsNetworkRequestId request);
}
#define MSFS_CALLBACK
using FsContext = void*;
using ENUM = int;
enum { PANEL_SERVICE_PRE_INSTALL, PANEL_SERVICE_PRE_DRAW, PANEL_SERVICE_PRE_KILL };
const int SERVICES[] = {PANEL_SERVICE_PRE_INSTALL, PANEL_SERVICE_PRE_DRAW, PANEL_SERVICE_PRE_KILL};
inline ENUM get_aircraft_var_enum(const char*) { return 0; }
inline ENUM get_units_enum(const char*) { return 0; }
inline double aircraft_varget(ENUM, ENUM, int) { return 0; }
