/* SPDX-License-Identifier: MIT */
/* Before and at cuInit; versions; the driver's words for its errors; questions by name. */
#include "conform.h"

static void before_init(void)
{
    int number = -5;
    CUdevice device = -5;
    CUcontext context = NULL;
    CUdeviceptr address = 0;
    CALL(cu->cuDriverGetVersion(&number));
    VALUE("version=%d", number);
    number = -5;
    CALL(cu->cuDeviceGetCount(&number));
    VALUE("count=%d", number);
    CALL(cu->cuDeviceGetCount(NULL));
    CALL(cu->cuDeviceGet(&device, 0));
    VALUE("device=%d", device);
    CALL(cu->cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CALL(cu->cuCtxCreate_v2(&context, 0, 0));
    CALL(cu->cuCtxGetCurrent(&context));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuMemFree(0));
    CALL(cu->cuMemFreeHost(NULL));
    CALL(cu->cuStreamSynchronize(NULL));
    CALL(cu->cuModuleUnload(NULL));
}

static void before_init_more(void)
{
    void *data = NULL;
    size_t size = 0;
    CUgraph graph = NULL;
    CUevent event = NULL;
    CUstream stream = NULL;
    CUmodule module = NULL;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    CUuserObject object = NULL;
    CUmoduleLoadingMode mode = 0;
    CUstreamCaptureMode capture = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CALL(cu->cuGraphCreate(&graph, 0));
    CALL(cu->cuEventCreate(&event, 0));
    CALL(cu->cuStreamCreate(&stream, 0));
    CALL(cu->cuMemHostAlloc(&data, 16, 0));
    CALL(cu->cuModuleLoadData(&module, conform_ptx));
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, 0));
    CALL(cu->cuPointerGetAttribute(&data, CU_POINTER_ATTRIBUTE_CONTEXT, 16));
    CALL(cu->cuUserObjectCreate(&object, data, NULL, 1, 1));
    CALL(cu->cuModuleGetLoadingMode(&mode));
    CALL(cu->cuThreadExchangeStreamCaptureMode(&capture));
    CALL(cu->cuCtxPopCurrent(NULL));
    CALL(cu->cuProfilerStart());
    CALL(cu->cuProfilerStop());
}

static void init_flags(void)
{
    int count = -5;
    CALL(cu->cuInit(1));
    CALL(cu->cuDeviceGetCount(&count));
    CALL(cu->cuInit(0xffffffff));
    CALL(cu->cuInit(0));
    CALL(cu->cuDeviceGetCount(&count));
    CALL(cu->cuInit(0));
    CALL(cu->cuInit(1));
    CALL(cu->cuDeviceGetCount(&count));
}

static void version(void)
{
    int number = 0;
    CALL(cu->cuDriverGetVersion(NULL));
    CALL(cu->cuDriverGetVersion(&number));
    VALUE("version=%d", number);
    MUST(cu->cuInit(0));
    CALL(cu->cuDriverGetVersion(NULL));
    CALL(cu->cuDriverGetVersion(&number));
    VALUE("version=%d", number);
}

static void error_names(void)
{
    for (int code = 0; code < 1010; code++) {
        const char *name = "unwritten";
        CUresult result = cu->cuGetErrorName((CUresult)code, &name);
        /* All unknown codes answer alike; a few of them stand for the rest. */
        if (result != CUDA_SUCCESS && code % 50)
            continue;
        EACH(result, "cuGetErrorName %d", code);
        VALUE("%s", name ? name : "NULL");
    }
}

static void error_strings(void)
{
    for (int code = 0; code < 1010; code++) {
        const char *text = "unwritten";
        CUresult result = cu->cuGetErrorString((CUresult)code, &text);
        if (result != CUDA_SUCCESS && code % 50)
            continue;
        EACH(result, "cuGetErrorString %d", code);
        /* The sentence is the driver's own: that there is one is enough. */
        VALUE("%s", !text ? "NULL" : strcmp(text, "unwritten") == 0 ? "unwritten" : "some");
    }
}

static void error_misuse(void)
{
    const char *name = "unwritten";
    CALL(cu->cuGetErrorName((CUresult)-1, &name));
    VALUE("%s", name ? name : "NULL");
    name = "unwritten";
    CALL(cu->cuGetErrorName((CUresult)100000, &name));
    VALUE("%s", name ? name : "NULL");
    name = "unwritten";
    CALL(cu->cuGetErrorString((CUresult)-1, &name));
    VALUE("%s", name ? name : "NULL");
}

static void ask(const char *name, int wanted, cuuint64_t flags)
{
    void *address = (void *)&address;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)77;
    EACH(cu->cuGetProcAddress_v2(name, &address, wanted, flags, &status),
         "cuGetProcAddress_v2(\"%s\", %d, %d)", name, wanted, (int)flags);
    VALUE("address=%s status=%d",
          address == (void *)&address ? "untouched"
          : address                   ? "some"
                                      : "NULL",
          (int)status);
}

static void proc(void)
{
    ask("cuInit", 13000, 0);
    ask("cuInit", 2000, 0);
    ask("cuInit", 1000, 0);
    ask("cuMemAlloc", 2000, 0);
    ask("cuMemAlloc", 3020, 0);
    ask("cuMemAlloc_v2", 13000, 0);
    ask("cuCtxCreate", 13000, 0);
    ask("cuCtxCreate", 99990, 0);
    ask("cuCtxCreate", 13010, 0);
    ask("cuCtxCreate", 13990, 0);
    ask("cuCtxCreate", 14000, 0);
    ask("cuCtxCreate", 20000, 0);
    ask("cuCtxCreate", 99990, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    ask("cuCtxCreate", 12345, 0);
    ask("cuCtxCreate", 13001, 0);
    ask("cuNoSuchFunction", 13000, 0);
    ask("", 13000, 0);
    ask("cuGraphCreate", 9000, 0);
    ask("cuGraphCreate", 10000, 0);
    ask("CUINIT", 13000, 0);
    ask("cuInit", 0, 0);
    ask("cuInit", -1, 0);
}

static void proc_flags(void)
{
    for (int flags = 0; flags < 9; flags++)
        ask("cuLaunchKernel", 13000, (cuuint64_t)flags);
    ask("cuLaunchKernel", 6050, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    ask("cuLaunchKernel", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    ask("cuInit", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    ask("cuMemcpy", 4000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    ask("cuMemcpy", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
}

static void proc_misuse(void)
{
    void *address = (void *)&address;
    CALL(cu->cuGetProcAddress_v2("cuInit", &address, 13000, 0, NULL));
    CALL(cu->cuGetProcAddress_v2("cuNothing", &address, 13000, 0, NULL));
    VALUE("address=%s", address ? "some" : "NULL");
    address = (void *)&address;
    CALL(cu->cuGetProcAddress_v1("cuInit", &address, 13000, 0));
    VALUE("touched=%d", address != (void *)&address);
    address = (void *)&address;
    CALL(cu->cuGetProcAddress_v1("cuNothing", &address, 13000, 0));
    VALUE("touched=%d null=%d", address != (void *)&address, !address);
    address = (void *)&address;
    CALL(cu->cuGetProcAddress_v1("cuGraphCreate", &address, 9000, 0));
    VALUE("touched=%d null=%d", address != (void *)&address, !address);
    CALL(cu->cuGetProcAddress_v1("cuInit", &address, 13000, 64));
}

static void *proc_address(const char *name, int wanted, cuuint64_t flags)
{
    void *address = NULL;
    CUdriverProcAddressQueryResult status;
    cu->cuGetProcAddress_v2(name, &address, wanted, flags, &status);
    return address;
}

static void proc_same(void)
{
    const cuuint64_t thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    NOTE("memalloc v1/v2 differ=%d",
         proc_address("cuMemAlloc", 2000, 0) != proc_address("cuMemAlloc", 3020, 0));
    NOTE("ctxcreate 3020=11030 same=%d",
         proc_address("cuCtxCreate", 3020, 0) == proc_address("cuCtxCreate", 11030, 0));
    NOTE("ctxcreate 11030=11040 same=%d",
         proc_address("cuCtxCreate", 11030, 0) == proc_address("cuCtxCreate", 11040, 0));
    NOTE("ctxcreate 12040=12050 same=%d",
         proc_address("cuCtxCreate", 12040, 0) == proc_address("cuCtxCreate", 12050, 0));
    NOTE("sync 12090=13000 same=%d",
         proc_address("cuCtxSynchronize", 12090, 0) == proc_address("cuCtxSynchronize", 13000, 0));
    NOTE("launch legacy=thread same=%d",
         proc_address("cuLaunchKernel", 13000, 0) == proc_address("cuLaunchKernel", 13000, thread));
    NOTE("init legacy=thread same=%d",
         proc_address("cuInit", 13000, 0) == proc_address("cuInit", 13000, thread));
    NOTE("launch legacy flag same=%d",
         proc_address("cuLaunchKernel", 13000, 0) == proc_address("cuLaunchKernel", 13000, 1));
    NOTE("capture 10000=10010 same=%d", proc_address("cuStreamBeginCapture", 10000, 0) ==
                                            proc_address("cuStreamBeginCapture", 10010, 0));
    NOTE("instantiate 11000=12000 same=%d", proc_address("cuGraphInstantiate", 11000, 0) ==
                                                proc_address("cuGraphInstantiate", 12000, 0));
}

static void export_table(void)
{
    const void *table = (const void *)&table;
    CUuuid id;
    memset(&id, 0x5a, sizeof id);
    CALL(cu->cuGetExportTable(&table, &id));
    VALUE("touched=%d", table != (const void *)&table);
    CALL(cu->cuGetExportTable(NULL, &id));
    CALL(cu->cuGetExportTable(&table, NULL));
    MUST(cu->cuInit(0));
    CALL(cu->cuGetExportTable(&table, &id));
    CALL(cu->cuGetExportTable(NULL, &id));
    CALL(cu->cuGetExportTable(&table, NULL));
}

static void profiler(void)
{
    CALL(cu->cuProfilerStart());
    CALL(cu->cuProfilerStart());
    CALL(cu->cuProfilerStop());
    CALL(cu->cuProfilerStop());
}

static void capture_mode(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    VALUE("was=%d", (int)mode);
    CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    VALUE("was=%d", (int)mode);
    mode = (CUstreamCaptureMode)9;
    CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    VALUE("was=%d", (int)mode);
}

static void loading_mode(void)
{
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)9;
    CALL(cu->cuModuleGetLoadingMode(&mode));
    VALUE("mode=%d", (int)mode);
}

static void logs(void)
{
    CUlogIterator at = 0;
    size_t size = 0;
    char text[64] = "";
    CALL(cu->cuLogsCurrent(&at, 0));
    CALL(cu->cuLogsCurrent(&at, 1));
    CALL(cu->cuLogsCurrent(NULL, 0));
    CALL(cu->cuLogsDumpToMemory(NULL, NULL, &size, 0));
    CALL(cu->cuLogsDumpToMemory(NULL, text, NULL, 0));
    CALL(cu->cuLogsDumpToFile(NULL, NULL, 0));
}

static void no_context(void)
{
    CUdeviceptr address = 0;
    CUmodule module = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    void *host = NULL;
    size_t a = 0, b = 0;
    CUdevice device = 0;
    unsigned flags = 0;
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuMemHostAlloc(&host, 16, 0));
    CALL(cu->cuMemAllocManaged(&address, 16, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemFree(0));
    CALL(cu->cuMemFree(4096));
    CALL(cu->cuMemFreeHost(&flags));
    CALL(cu->cuMemGetInfo(&a, &b));
    CALL(cu->cuModuleLoadData(&module, conform_ptx));
    CALL(cu->cuStreamCreate(&stream, 0));
    CALL(cu->cuStreamSynchronize(NULL));
    CALL(cu->cuStreamQuery(NULL));
    CALL(cu->cuEventCreate(&event, 0));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxGetDevice(&device));
    CALL(cu->cuCtxGetFlags(&flags));
    CALL(cu->cuCtxGetLimit(&a, CU_LIMIT_STACK_SIZE));
    CALL(cu->cuMemsetD8(4096, 1, 1));
    CALL(cu->cuMemcpyHtoD(4096, &flags, 4));
    CALL(cu->cuMemcpyHtoD(4096, &flags, 0));
    CALL(cu->cuMemAllocAsync(&address, 16, NULL));
}

static void no_context_more(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUlinkState link = NULL;
    CUtexObject texture = 0;
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR flat = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC description = {.maxAnisotropy = 0};
    CUcontext context = (CUcontext)&graph;
    CUlibrary loaded = NULL;
    int least = 0, greatest = 0;
    CALL(cu->cuGraphCreate(&graph, 0));
    CALL(cu->cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CALL(cu->cuGraphDestroy(graph));
    CALL(cu->cuLinkCreate(0, NULL, NULL, &link));
    CALL(cu->cuArrayCreate(&array, &flat));
    CALL(cu->cuTexObjectCreate(&texture, &resource, &description, NULL));
    CALL(cu->cuCtxGetCurrent(&context));
    VALUE("null=%d", !context);
    CALL(cu->cuCtxPopCurrent(&context));
    CALL(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuCtxPushCurrent(NULL));
    CALL(cu->cuCtxGetStreamPriorityRange(&least, &greatest));
    CALL(cu->cuLibraryLoadData(&loaded, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryUnload(loaded));
}

static const struct sequence sequences[] = {S(before_init, BARE),
                                            S(before_init_more, BARE),
                                            S(init_flags, BARE),
                                            S(version, BARE),
                                            S(error_names, BARE),
                                            S(error_strings, BARE),
                                            S(error_misuse, BARE),
                                            S(proc, BARE),
                                            S(proc_flags, BARE),
                                            S(proc_misuse, BARE),
                                            S(proc_same, BARE),
                                            S(export_table, BARE),
                                            S(profiler, PRIMARY),
                                            S(capture_mode, INIT),
                                            S(loading_mode, INIT),
                                            S(logs, INIT),
                                            S(no_context, INIT),
                                            S(no_context_more, INIT),
                                            {0}};
const struct family init_family = {"init", sequences};
