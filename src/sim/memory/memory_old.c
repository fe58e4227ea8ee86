/* SPDX-License-Identifier: MIT */
/* The first ABI of memory, of CUDA 3.1 and before, with addresses and sizes of 32 bits. Drivers
 * still export it, and refuse it in every context that a later ABI made. */
#include "core/core.h"

static CUresult refuse(void)
{
    struct sim_context *context;
    CUresult result = sim_current(&context);
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : result;
}

CUresult sim_cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray)
{
    (void)pHandle, (void)pAllocateArray;
    return refuse();
}

CUresult sim_cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray)
{
    (void)pArrayDescriptor, (void)hArray;
    return refuse();
}

CUresult sim_cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray)
{
    (void)pHandle, (void)pAllocateArray;
    return refuse();
}

CUresult sim_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray)
{
    (void)pArrayDescriptor, (void)hArray;
    return refuse();
}

CUresult sim_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    (void)dptr, (void)bytesize;
    return refuse();
}

CUresult sim_cuMemAllocHost(void **pp, unsigned int bytesize)
{
    (void)pp, (void)bytesize;
    return refuse();
}

CUresult sim_cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes,
                             unsigned int Height, unsigned int ElementSizeBytes)
{
    (void)dptr, (void)pPitch, (void)WidthInBytes, (void)Height, (void)ElementSizeBytes;
    return refuse();
}

CUresult sim_cuMemFree(CUdeviceptr_v1 dptr)
{
    (void)dptr;
    return refuse();
}

CUresult sim_cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr)
{
    (void)pbase, (void)psize, (void)dptr;
    return refuse();
}

CUresult sim_cuMemGetInfo(unsigned int *free, unsigned int *total)
{
    (void)free, (void)total;
    return refuse();
}

CUresult sim_cuMemHostGetDevicePointer(CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags)
{
    (void)pdptr, (void)p, (void)Flags;
    return refuse();
}

CUresult sim_cuMemcpy2D(const CUDA_MEMCPY2D_v1 *pCopy)
{
    (void)pCopy;
    return refuse();
}

CUresult sim_cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream)
{
    (void)pCopy, (void)hStream;
    return refuse();
}

CUresult sim_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1 *pCopy)
{
    (void)pCopy;
    return refuse();
}

CUresult sim_cuMemcpy3D(const CUDA_MEMCPY3D_v1 *pCopy)
{
    (void)pCopy;
    return refuse();
}

CUresult sim_cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream)
{
    (void)pCopy, (void)hStream;
    return refuse();
}

CUresult sim_cuMemcpyAtoA(CUarray dstArray, unsigned int dstOffset, CUarray srcArray,
                          unsigned int srcOffset, unsigned int ByteCount)
{
    (void)dstArray, (void)dstOffset, (void)srcArray, (void)srcOffset, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyAtoD(CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset,
                          unsigned int ByteCount)
{
    (void)dstDevice, (void)srcArray, (void)srcOffset, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyAtoH(void *dstHost, CUarray srcArray, unsigned int srcOffset,
                          unsigned int ByteCount)
{
    (void)dstHost, (void)srcArray, (void)srcOffset, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, unsigned int srcOffset,
                               unsigned int ByteCount, CUstream hStream)
{
    (void)dstHost, (void)srcArray, (void)srcOffset, (void)ByteCount, (void)hStream;
    return refuse();
}

CUresult sim_cuMemcpyDtoA(CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice,
                          unsigned int ByteCount)
{
    (void)dstArray, (void)dstOffset, (void)srcDevice, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyDtoD(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
                          unsigned int ByteCount)
{
    (void)dstDevice, (void)srcDevice, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyDtoDAsync(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
                               unsigned int ByteCount, CUstream hStream)
{
    (void)dstDevice, (void)srcDevice, (void)ByteCount, (void)hStream;
    return refuse();
}

CUresult sim_cuMemcpyDtoH(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
    (void)dstHost, (void)srcDevice, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount,
                               CUstream hStream)
{
    (void)dstHost, (void)srcDevice, (void)ByteCount, (void)hStream;
    return refuse();
}

CUresult sim_cuMemcpyHtoA(CUarray dstArray, unsigned int dstOffset, const void *srcHost,
                          unsigned int ByteCount)
{
    (void)dstArray, (void)dstOffset, (void)srcHost, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyHtoAAsync(CUarray dstArray, unsigned int dstOffset, const void *srcHost,
                               unsigned int ByteCount, CUstream hStream)
{
    (void)dstArray, (void)dstOffset, (void)srcHost, (void)ByteCount, (void)hStream;
    return refuse();
}

CUresult sim_cuMemcpyHtoD(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount)
{
    (void)dstDevice, (void)srcHost, (void)ByteCount;
    return refuse();
}

CUresult sim_cuMemcpyHtoDAsync(CUdeviceptr_v1 dstDevice, const void *srcHost,
                               unsigned int ByteCount, CUstream hStream)
{
    (void)dstDevice, (void)srcHost, (void)ByteCount, (void)hStream;
    return refuse();
}

CUresult sim_cuMemsetD16(CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N)
{
    (void)dstDevice, (void)us, (void)N;
    return refuse();
}

CUresult sim_cuMemsetD2D16(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us,
                           unsigned int Width, unsigned int Height)
{
    (void)dstDevice, (void)dstPitch, (void)us, (void)Width, (void)Height;
    return refuse();
}

CUresult sim_cuMemsetD2D32(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui,
                           unsigned int Width, unsigned int Height)
{
    (void)dstDevice, (void)dstPitch, (void)ui, (void)Width, (void)Height;
    return refuse();
}

CUresult sim_cuMemsetD2D8(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc,
                          unsigned int Width, unsigned int Height)
{
    (void)dstDevice, (void)dstPitch, (void)uc, (void)Width, (void)Height;
    return refuse();
}

CUresult sim_cuMemsetD32(CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N)
{
    (void)dstDevice, (void)ui, (void)N;
    return refuse();
}

CUresult sim_cuMemsetD8(CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N)
{
    (void)dstDevice, (void)uc, (void)N;
    return refuse();
}

CUresult sim_cuTexRefGetAddress(CUdeviceptr_v1 *pdptr, CUtexref hTexRef)
{
    (void)pdptr, (void)hTexRef;
    return refuse();
}

CUresult sim_cuTexRefSetAddress(unsigned int *ByteOffset, CUtexref hTexRef, CUdeviceptr_v1 dptr,
                                unsigned int bytes)
{
    (void)ByteOffset, (void)hTexRef, (void)dptr, (void)bytes;
    return refuse();
}

CUresult sim_cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *desc,
                                  CUdeviceptr_v1 dptr, unsigned int Pitch)
{
    (void)hTexRef, (void)desc, (void)dptr, (void)Pitch;
    return refuse();
}
