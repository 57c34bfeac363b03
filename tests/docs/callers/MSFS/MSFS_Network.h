// Stands in for the header of Microsoft Flight Simulator's SDK, as its documentation describes it.
#pragma once

typedef long long FsNetworkRequestId;
typedef void (*HttpRequestCallback)(FsNetworkRequestId request, int error, void* data);

struct FsNetworkHttpRequestParam {
  char* postField;
  char** headerOptions;
  unsigned int headerOptionsSize;
  unsigned char* data;
  unsigned int dataSize;
};

extern "C" {
FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam*, HttpRequestCallback, void*);
int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId);
unsigned char* fsNetworkHttpRequestGetData(FsNetworkRequestId);
unsigned long fsNetworkHttpRequestGetDataSize(FsNetworkRequestId);
bool fsNetworkHttpCancelRequest(FsNetworkRequestId);
}
