/* SPDX-License-Identifier: MIT */
/* Callbacks that a program registers; and what this device lacks: how it says so. */
#include "conform.h"

static unsigned heard, wrong;

static void CUDA_CB hear(void *data, CUlogLevel level, char *message, size_t length)
{
    heard += *(const unsigned *)data;
    wrong += level != CU_LOG_LEVEL_ERROR || length != strlen(message) || strchr(message, '\n');
}

static void CUDA_CB hear_and_call(void *data, CUlogLevel level, char *message, size_t length)
{
    static bool inside;
    CUdeviceptr address = 0;
    if (inside)
        return;
    inside = true;
    *(CUresult *)data = cu->cuMemAlloc(&address, 16);
    (void)level, (void)message, (void)length;
}

static void asked_logs(void)
{
    unsigned one = 1, many = 1000;
    CUlogsCallbackHandle a = NULL, b = NULL;
    CUlogIterator at = 7, from = 7, behind = 12345;
    CUdeviceptr address;
    char text[40000];
    size_t size = sizeof text;
    CALL(cu->cuLogsRegisterCallback(NULL, &one, &a));
    CALL(cu->cuLogsRegisterCallback(hear, &one, &a));
    CALL(cu->cuLogsRegisterCallback(hear, &many, &b));
    VALUE("differ=%d", a != b);
    MUST(cu->cuInit(0));
    MUST(cu->cuDevicePrimaryCtxRetain(&ctx, dev));
    MUST(cu->cuCtxSetCurrent(ctx));
    heard = 0;
    MUST(cu->cuMemAlloc(&address, 64));
    NOTE("heard=%d", heard != 0);
    CALL(cu->cuMemAlloc(NULL, 1));
    VALUE("first=%d second=%d wrong=%u", heard % 1000 != 0, heard >= 1000, wrong);
    CALL(cu->cuLogsUnregisterCallback(a));
    heard = 0;
    CALL(cu->cuMemFree(7));
    VALUE("first=%d second=%d", heard % 1000 != 0, heard >= 1000);
    CALL(cu->cuLogsUnregisterCallback(NULL));
    CALL(cu->cuLogsUnregisterCallback(b));
    CALL(cu->cuLogsCurrent(&at, 0));
    CALL(cu->cuMemFree(7));
    CALL(cu->cuLogsCurrent(&from, 0));
    VALUE("more=%d", from > at);
    CALL(cu->cuLogsDumpToMemory(&at, text, &size, 0));
    VALUE("all=%d named=%d length=%d line=%d", at == from, !!strstr(text, "cuMemFree_v2"),
          strlen(text) == size, size && text[size - 1] == '\n');
    size = sizeof text;
    CALL(cu->cuLogsDumpToMemory(&at, text, &size, 0));
    VALUE("size=%zu", size);
    size = sizeof text;
    CALL(cu->cuLogsDumpToMemory(&behind, text, &size, 0));
    VALUE("size=%zu at=%u", size, behind);
    size = 10;
    CALL(cu->cuLogsDumpToMemory(NULL, text, &size, 0));
    VALUE("size=%zu", size);
    size = sizeof text;
    CALL(cu->cuLogsDumpToMemory(NULL, text, &size, 1));
    CALL(cu->cuLogsDumpToMemory(NULL, NULL, &size, 0));
    CALL(cu->cuLogsDumpToMemory(NULL, text, NULL, 0));
    CALL(cu->cuLogsDumpToFile(NULL, "/nonexistent/file", 0));
    CALL(cu->cuLogsDumpToFile(NULL, "", 0));
    CALL(cu->cuLogsDumpToFile(NULL, "/dev/null", 1));
}

static void asked_logs_inside(void)
{
    CUresult inside = CUDA_ERROR_UNKNOWN;
    CALL(cu->cuLogsRegisterCallback(hear_and_call, &inside, NULL));
    CALL(cu->cuMemAlloc(NULL, 1));
    VALUE("inside=%d", (int)inside);
}

static void note(CUasyncNotificationInfo *info, void *data, CUasyncCallbackHandle handle)
{
    (void)info, (void)data, (void)handle;
}

static void asked_notifications(void)
{
    CUasyncCallbackHandle a = NULL, b = NULL;
    CALL(cu->cuDeviceRegisterAsyncNotification(dev, note, NULL, &a));
    CALL(cu->cuDeviceUnregisterAsyncNotification(dev, NULL));
    MUST(cu->cuInit(0));
    CALL(cu->cuDeviceRegisterAsyncNotification(dev, note, NULL, &a));
    CALL(cu->cuDeviceRegisterAsyncNotification(dev, note, NULL, &b));
    VALUE("differ=%d", a != b);
    CALL(cu->cuDeviceRegisterAsyncNotification(99, note, NULL, &b));
    CALL(cu->cuDeviceRegisterAsyncNotification(-1, note, NULL, &b));
    CALL(cu->cuDeviceRegisterAsyncNotification(dev, NULL, NULL, &b));
    CALL(cu->cuDeviceRegisterAsyncNotification(99, NULL, NULL, &b));
    CALL(cu->cuDeviceUnregisterAsyncNotification(99, a));
    CALL(cu->cuDeviceUnregisterAsyncNotification(99, NULL));
    CALL(cu->cuDeviceUnregisterAsyncNotification(dev, NULL));
    CALL(cu->cuDeviceUnregisterAsyncNotification(dev, a));
    CALL(cu->cuDeviceUnregisterAsyncNotification(dev, b));
}

static void asked_decompression(void)
{
    CUmemDecompressParams params;
    CUstream stream = conform_stream();
    CUgraph graph = NULL;
    size_t at = 77;
    memset(&params, 0, sizeof params);
    CALL(cu->cuMemBatchDecompressAsync(&params, 1, 0, &at, NULL));
    VALUE("%zu", at);
    CALL(cu->cuMemBatchDecompressAsync(NULL, 0, 7, NULL, stream));
    CALL(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cu->cuMemBatchDecompressAsync(&params, 1, 0, &at, stream));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    CALL(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cu->cuMemBatchDecompressAsync(&params, 1, 0, &at, conform_stream()));
    CALL(cu->cuMemBatchDecompressAsync(&params, 1, 0, &at, NULL));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuMemBatchDecompressAsync(&params, 1, 0, &at, NULL));
}

static void asked_multicast(void)
{
    CUmulticastObjectProp prop = {.numDevices = 1, .size = 2 << 20, .handleTypes = 1};
    CUmemGenericAllocationHandle handle = 5;
    size_t size = 7;
    CALL(cu->cuMulticastGetGranularity(&size, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    VALUE("%zu", size);
    CALL(cu->cuMulticastGetGranularity(&size, &prop, (CUmulticastGranularity_flags)9));
    CALL(cu->cuMulticastCreate(&handle, &prop));
    VALUE("%d", (int)handle);
    CALL(cu->cuMulticastAddDevice(0, dev));
    CALL(cu->cuMulticastAddDevice(12345, 99));
    CALL(cu->cuMulticastBindMem(0, 0, 0, 0, 0, 0));
    CALL(cu->cuMulticastBindAddr(0, 0, 0, 0, 0));
    CALL(cu->cuMulticastUnbind(0, 99, 0, 0));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuMulticastGetGranularity(&size, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
}

static void asked_reference(void)
{
    CUfunction function = conform_kernel("empty");
    CUtexref reference = NULL;
    MUST(cu->cuTexRefCreate(&reference));
    CALL(cu->cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, reference));
    CALL(cu->cuParamSetTexRef(function, 0, reference));
    CALL(cu->cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, NULL));
    CALL(cu->cuParamSetTexRef(function, 0, NULL));
    CALL(cu->cuParamSetTexRef(NULL, CU_PARAM_TR_DEFAULT, reference));
    CALL(cu->cuParamSetTexRef(NULL, CU_PARAM_TR_DEFAULT, NULL));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, reference));
}

static void asked_resource(void)
{
    CUdevResource all, part;
    unsigned count = 1;
    MUST(cu->cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
    NOTE("minimum=%u alignment=%u", all.sm.minSmPartitionSize, all.sm.smCoscheduledAlignment);
    all.type = CU_DEV_RESOURCE_TYPE_INVALID;
    CALL(cu->cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, 16));
}

static const struct sequence sequences[] = {
    S(asked_logs, BARE),          S(asked_logs_inside, PRIMARY),
    S(asked_notifications, BARE), S(asked_decompression, PRIMARY),
    S(asked_multicast, PRIMARY),  S(asked_reference, PRIMARY),
    S(asked_resource, PRIMARY),   {0}};
const struct family asked_family = {"asked", sequences};
