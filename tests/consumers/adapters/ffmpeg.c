/* SPDX-License-Identifier: MIT */
/*
 * As FFmpeg's code uses nv-codec-headers: a context object with the functions in it, a check that
 * casts two of them back, contexts pushed and popped around each use, PTX from a string.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct AVClass {
    const char *name;
} AVClass;

static void av_log(void *context, const char *level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("[%s] %s: ", ((AVClass *)context)->name, level);
    vprintf(format, arguments);
    va_end(arguments);
}

#define FFNV_LOG_FUNC(logctx, msg, ...) av_log(logctx, "error", msg, __VA_ARGS__)
#define FFNV_DEBUG_LOG_FUNC(logctx, msg, ...) av_log(logctx, "debug", msg, __VA_ARGS__)
#include LOADER
#ifdef AFTER
#include AFTER
#endif
#ifdef OTHERS
static int load_others(CuvidFunctions **cuvid, NvencFunctions **nvenc)
{
    AVClass class = {"others"};
    return cuvid_load_functions(cuvid, &class) | nvenc_load_functions(nvenc, &class);
}
#endif

static inline int ff_cuda_check(void *avctx, void *get_name, void *get_string, CUresult err,
                                const char *func)
{
    const char *err_name = NULL, *err_string = NULL;
    if (err == CUDA_SUCCESS)
        return 0;
    ((tcuGetErrorName *)get_name)(err, &err_name);
    ((tcuGetErrorString *)get_string)(err, &err_string);
    av_log(avctx, "error", "%s failed", func);
    if (err_name && err_string)
        printf(" -> %s: %s", err_name, err_string);
    printf("\n");
    return -EIO;
}
#define FF_CUDA_CHECK_DL(avctx, cudl, x)                                                           \
    ff_cuda_check(avctx, (void *)cudl->cuGetErrorName, (void *)cudl->cuGetErrorString, (x), #x)
#define CHECK_CU(x) FF_CUDA_CHECK_DL(s, s->cu, x)

struct stream {
    AVClass class;
    CudaFunctions *cu;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    CUfunction function;
    CUdeviceptr data;
    size_t pitch;
};

static int open_device(struct stream *s)
{
    CUdevice device;
    CUcontext dummy;
    int major, ret = cuda_load_functions(&s->cu, s);
    if (ret < 0) {
        av_log(s, "error", "Could not dynamically load CUDA\n");
        return ret;
    }
    if ((ret = CHECK_CU(s->cu->cuInit(0))) < 0 ||
        (ret = CHECK_CU(s->cu->cuDeviceGet(&device, 0))) < 0 ||
        (ret = CHECK_CU(s->cu->cuDeviceGetAttribute(
             &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))) < 0 ||
        (ret = CHECK_CU(s->cu->cuCtxCreate(&s->context, CU_CTX_SCHED_BLOCKING_SYNC, device))) < 0)
        return ret;
    return CHECK_CU(s->cu->cuCtxPopCurrent(&dummy));
}

static int upload(struct stream *s, unsigned char *picture, size_t width, size_t height)
{
    CUcontext dummy;
    CUDA_MEMCPY2D copy = {0};
    int ret;
    if ((ret = CHECK_CU(s->cu->cuCtxPushCurrent(s->context))) < 0)
        return ret;
    if ((ret = CHECK_CU(s->cu->cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING))) < 0 ||
        (ret = CHECK_CU(s->cu->cuMemAllocPitch(&s->data, &s->pitch, width, height, 16))) < 0)
        goto done;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = picture;
    copy.srcPitch = width;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = s->data;
    copy.dstPitch = s->pitch;
    copy.WidthInBytes = width;
    copy.Height = height;
    if ((ret = CHECK_CU(s->cu->cuMemcpy2DAsync(&copy, s->stream))) < 0)
        goto done;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = s->data;
    copy.srcPitch = s->pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = picture + width * height;
    copy.dstPitch = width;
    copy.WidthInBytes = width;
    copy.Height = height;
    if ((ret = CHECK_CU(s->cu->cuMemcpy2DAsync(&copy, s->stream))) < 0 ||
        (ret = CHECK_CU(s->cu->cuStreamSynchronize(s->stream))) < 0)
        goto done;
    if (s->cu->cuImportExternalMemory) /* as the Vulkan code asks */
        printf("external memory\n");
done:
    CHECK_CU(s->cu->cuCtxPopCurrent(&dummy));
    return ret;
}

static int filter(struct stream *s, const char *ptx)
{
    CUcontext dummy;
    unsigned n = 4;
    float a[4] = {1, 2, 3, 4}, c[4] = {0};
    CUdeviceptr memory = 0, result = 0;
    int ret;
    CHECK_CU(s->cu->cuCtxPushCurrent(s->context));
    if ((ret = CHECK_CU(s->cu->cuModuleLoadData(&s->module, ptx))) < 0 ||
        (ret = CHECK_CU(s->cu->cuModuleGetFunction(&s->function, s->module, "vecadd"))) < 0 ||
        (ret = CHECK_CU(s->cu->cuMemAlloc(&memory, sizeof a))) < 0 ||
        (ret = CHECK_CU(s->cu->cuMemAlloc(&result, sizeof a))) < 0)
        goto done;
    void *arguments[] = {&memory, &memory, &result, &n};
    if ((ret = CHECK_CU(s->cu->cuMemcpyHtoD(memory, a, sizeof a))) < 0 ||
        (ret = CHECK_CU(s->cu->cuLaunchKernel(s->function, 1, 1, 1, 4, 1, 1, 0, s->stream,
                                              arguments, NULL))) < 0 ||
        (ret = CHECK_CU(s->cu->cuStreamSynchronize(s->stream))) < 0 ||
        (ret = CHECK_CU(s->cu->cuMemcpyDtoH(c, result, sizeof c))) < 0)
        goto done;
    printf("sum %g %g %g %g\n", c[0], c[1], c[2], c[3]);
done:
    CHECK_CU(s->cu->cuMemFree(memory));
    CHECK_CU(s->cu->cuMemFree(result));
    CHECK_CU(s->cu->cuCtxPopCurrent(&dummy));
    return ret;
}

int main(int count, char **arguments)
{
    static unsigned char picture[2 * 64 * 48];
    static char ptx[65536];
    struct stream state = {{"hwupload"}, NULL, NULL, NULL, NULL, NULL, 0, 0}, *s = &state;
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (file) {
        ptx[fread(ptx, 1, sizeof ptx - 1, file)] = '\0';
        fclose(file);
    }
    memset(picture, 7, sizeof picture / 2);
    int ret = open_device(s);
    if (!ret)
        ret = upload(s, picture, 64, 48);
    if (!ret && *ptx)
        ret = filter(s, ptx);
    if (!ret)
        printf("copied %d\n", picture[sizeof picture - 1]);
    if (s->context) {
        CHECK_CU(s->cu->cuMemFree(s->data));
        CHECK_CU(s->cu->cuCtxDestroy(s->context));
    }
#ifdef OTHERS
    CuvidFunctions *cuvid = NULL;
    NvencFunctions *nvenc = NULL;
    printf("others %s\n", load_others(&cuvid, &nvenc) < 0 ? "absent" : "there");
#endif
    cuda_free_functions(&s->cu);
    printf("end %d\n", ret);
    return s->cu ? 1 : 0;
}
