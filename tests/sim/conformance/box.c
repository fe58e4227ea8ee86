/* SPDX-License-Identifier: MIT */
/* Copies of rectangles and boxes. */
#include "conform.h"

static unsigned char from[4096], to[4096];

static CUDA_MEMCPY2D up(CUdeviceptr a)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = 32;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = a;
    copy.dstPitch = 64;
    copy.WidthInBytes = 20;
    copy.Height = 4;
    return copy;
}

static void flat(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY2D copy = up(a), back;
    for (int i = 0; i < 4096; i++)
        from[i] = (unsigned char)i;
    CALL(cu->cuMemcpy2D(&copy));
    VALUE("word=%08x", conform_read(a + 64));
    memset(&back, 0, sizeof back);
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    back.srcDevice = a;
    back.srcPitch = 64;
    back.srcXInBytes = 4;
    back.srcY = 1;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = to;
    back.dstPitch = 16;
    back.WidthInBytes = 8;
    back.Height = 2;
    CALL(cu->cuMemcpy2D(&back));
    VALUE("bytes=%d,%d", to[0], to[16]);
    CALL(cu->cuMemcpy2DUnaligned(&copy));
    CALL(cu->cuMemcpy2DAsync(&copy, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemcpy2D(NULL));
    CALL(cu->cuMemcpy2DUnaligned(NULL));
    CALL(cu->cuMemcpy2DAsync(NULL, NULL));
}

static void flat_zero(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY2D copy = up(a);
    copy.WidthInBytes = 0;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.Height = 0;
    CALL(cu->cuMemcpy2D(&copy));
    copy.dstDevice = 0;
    CALL(cu->cuMemcpy2D(&copy));
    copy.dstMemoryType = (CUmemorytype)9;
    CALL(cu->cuMemcpy2D(&copy));
    memset(&copy, 0, sizeof copy);
    CALL(cu->cuMemcpy2D(&copy));
}

static void flat_pitch(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY2D copy = up(a);
    copy.srcPitch = 19;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.dstPitch = 19;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.srcPitch = copy.dstPitch = 0;
    CALL(cu->cuMemcpy2D(&copy));
    copy.Height = 1;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.dstXInBytes = 50;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.srcXInBytes = 20;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.dstPitch = (size_t)1 << 31;
    CALL(cu->cuMemcpy2D(&copy));
    CALL(cu->cuMemcpy2DUnaligned(&copy));
    copy.Height = 1;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.dstPitch = 21;
    CALL(cu->cuMemcpy2D(&copy));
}

static void flat_types(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY2D copy = up(a);
    for (int type = 0; type < 6; type++) {
        copy = up(a);
        copy.dstMemoryType = (CUmemorytype)type;
        copy.dstHost = to;
        EACH(cu->cuMemcpy2D(&copy), "cuMemcpy2D to type %d", type);
        copy = up(a);
        copy.srcMemoryType = (CUmemorytype)type;
        copy.srcDevice = a + 2048;
        EACH(cu->cuMemcpy2D(&copy), "cuMemcpy2D from type %d", type);
    }
    CALL(cu->cuCtxSynchronize());
}

static void flat_bad_pointers(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY2D copy = up(a);
    copy.srcHost = NULL;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(0);
    CALL(cu->cuMemcpy2D(&copy));
    copy = up((CUdeviceptr)(uintptr_t)to);
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.Height = 100;
    copy.srcPitch = 20;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.dstY = 1 << 20;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.WidthInBytes = SIZE_MAX;
    CALL(cu->cuMemcpy2D(&copy));
    copy = up(a);
    copy.Height = SIZE_MAX;
    CALL(cu->cuMemcpy2D(&copy));
    CALL(cu->cuCtxSynchronize());
}

static void flat_unified(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY2D copy = up(a);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = (CUdeviceptr)(uintptr_t)from;
    CALL(cu->cuMemcpy2D(&copy));
    copy.srcDevice = a + 1024;
    CALL(cu->cuMemcpy2D(&copy));
    copy.dstDevice = (CUdeviceptr)(uintptr_t)to;
    CALL(cu->cuMemcpy2D(&copy));
    copy.srcDevice = 0;
    CALL(cu->cuMemcpy2D(&copy));
}

static CUDA_MEMCPY3D lift(CUdeviceptr a)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = 16;
    copy.srcHeight = 4;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = a;
    copy.dstPitch = 32;
    copy.dstHeight = 8;
    copy.WidthInBytes = 12;
    copy.Height = 3;
    copy.Depth = 2;
    return copy;
}

static void deep(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY3D copy = lift(a);
    for (int i = 0; i < 4096; i++)
        from[i] = (unsigned char)i;
    CALL(cu->cuMemcpy3D(&copy));
    VALUE("words=%08x,%08x", conform_read(a), conform_read(a + 256));
    CALL(cu->cuMemcpy3DAsync(&copy, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemcpy3D(NULL));
    CALL(cu->cuMemcpy3DAsync(NULL, NULL));
    copy.srcZ = 1;
    copy.dstY = 1;
    copy.dstXInBytes = 4;
    CALL(cu->cuMemcpy3D(&copy));
    VALUE("word=%08x", conform_read(a + 36));
}

static void deep_zero(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY3D copy = lift(a);
    copy.Depth = 0;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.Height = 0;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.WidthInBytes = 0;
    CALL(cu->cuMemcpy3D(&copy));
    memset(&copy, 0, sizeof copy);
    CALL(cu->cuMemcpy3D(&copy));
}

static void deep_pitch(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY3D copy = lift(a);
    copy.srcPitch = 11;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.srcHeight = 2;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.srcPitch = 0;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.dstHeight = 0;
    CALL(cu->cuMemcpy3D(&copy));
    copy.Depth = 1;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.dstXInBytes = 25;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.dstY = 6;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.dstZ = 1 << 20;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.srcLOD = 1;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.reserved0 = &copy;
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.dstPitch = (size_t)1 << 31;
    copy.Depth = copy.Height = 1;
    CALL(cu->cuMemcpy3D(&copy));
}

static void deep_types(void)
{
    CUdeviceptr a = conform_memory(4096);
    for (int type = 0; type < 6; type++) {
        CUDA_MEMCPY3D copy = lift(a);
        copy.srcMemoryType = (CUmemorytype)type;
        copy.srcDevice = a + 2048;
        EACH(cu->cuMemcpy3D(&copy), "cuMemcpy3D from type %d", type);
    }
    CUDA_MEMCPY3D copy = lift(0);
    CALL(cu->cuMemcpy3D(&copy));
    copy = lift(a);
    copy.srcHost = NULL;
    CALL(cu->cuMemcpy3D(&copy));
}

static void peers(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUDA_MEMCPY3D_PEER copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcContext = copy.dstContext = ctx;
    copy.srcDevice = a;
    copy.dstDevice = a + 2048;
    copy.srcPitch = copy.dstPitch = 32;
    copy.srcHeight = copy.dstHeight = 4;
    copy.WidthInBytes = 16;
    copy.Height = 2;
    copy.Depth = 2;
    CALL(cu->cuMemcpy3DPeer(&copy));
    CALL(cu->cuMemcpy3DPeerAsync(&copy, NULL));
    copy.srcContext = NULL;
    CALL(cu->cuMemcpy3DPeer(&copy));
    copy.srcContext = ctx;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    CALL(cu->cuMemcpy3DPeer(&copy));
    copy.Depth = 0;
    CALL(cu->cuMemcpy3DPeer(&copy));
    CALL(cu->cuCtxSynchronize());
}

static const struct sequence sequences[] = {S(flat, PRIMARY),
                                            S(flat_zero, PRIMARY),
                                            S(flat_pitch, PRIMARY),
                                            S(flat_types, PRIMARY),
                                            S(flat_bad_pointers, PRIMARY),
                                            S(flat_unified, PRIMARY),
                                            S(deep, PRIMARY),
                                            S(deep_zero, PRIMARY),
                                            S(deep_pitch, PRIMARY),
                                            S(deep_types, PRIMARY),
                                            S(peers, PRIMARY),
                                            {0}};
const struct family box_family = {"box", sequences};
