// What gauge.cpp uses of the simulator's header, as its documentation describes it.
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
