/* SPDX-License-Identifier: MIT */
/**
 * @file
 * For source written for the CUDA part of nv-codec-headers (ffnvcodec/dynlink_loader.h): the same
 * names over cushim. Link cushim, and include this header instead.
 *
 *     CudaFunctions *cu = NULL;
 *     if (cuda_load_functions(&cu, log_context) < 0)
 *         return -1;
 *     cu->cuInit(0);
 *     cuda_free_functions(&cu);
 *
 * What differs: members that every driver has had for long are never NULL. If a driver lacks one,
 * its call returns an error, and the load succeeds all the same. The others are NULL if the driver
 * lacks them, as there. The driver stays loaded after cuda_free_functions. The sentence that is
 * logged names the reason. Plain names are those of the newest of a function's ABIs in 64 bits
 * (tcuModuleGetGlobal is that of cuModuleGetGlobal_v2).
 *
 * For cuvid_load_functions and nvenc_load_functions include ffnvcodec/dynlink_loader.h after this
 * header: it then leaves the CUDA part to it.
 */
#ifndef CUSHIM_DYNLINK_LOADER_H
#define CUSHIM_DYNLINK_LOADER_H

#include <stdint.h>
#include <stdlib.h>
#ifdef __cplusplus
#include <type_traits>
#endif

/** @cond what nv-codec-headers declare as well, and what this header needs */
#ifndef CUSHIM_COMPANIONS
#define CUSHIM_COMPANIONS /* in the two files to copy: the types of cudaGL.h and the others */
#endif
#include <cushim/cushim.h>
#ifdef CUSHIM_CUDA_TYPES_H
#ifndef CUDAGL_H
#include <cushim/cudaGL.h>
#endif
#ifndef CUDAEGL_H
#include <cushim/cudaEGL.h>
#endif
#ifndef CUDAD3D11_H
#include <cushim/cudaD3D11.h>
#endif
#endif
#ifndef CU_EGL_FRAME_MAX_PLANES
#define CU_EGL_FRAME_MAX_PLANES 3
#endif

/* A project's own logging, as with nv-codec-headers. */
#if !defined(FFNV_LOG_FUNC) || !defined(FFNV_DEBUG_LOG_FUNC)
#include <stdio.h>
#define FFNV_LOG_FUNC(logctx, msg, ...) fprintf(stderr, (msg), __VA_ARGS__)
#define FFNV_DEBUG_LOG_FUNC(logctx, msg, ...)
#endif

#ifdef _WIN32
#define CUSHIM_DYNLINK_HANDLE_ void *
#else
#include <dlfcn.h>
#ifndef FFNV_LIB_HANDLE
#define FFNV_LIB_HANDLE void *
#endif
#define CUSHIM_DYNLINK_HANDLE_ FFNV_LIB_HANDLE
#endif

typedef unsigned int GLenum;
typedef unsigned int GLuint;
typedef int32_t ffnv_EGLint;
typedef void *ffnv_EGLStreamKHR;
/** @endcond */

/* MEMBER(name, the exported symbol behind it); MAYBE: NULL if the driver lacks it. */
#define CUSHIM_DYNLINK_D3D_(MEMBER)                                                                \
    MEMBER(cuD3D11GetDevice, cuD3D11GetDevice)                                                     \
    MEMBER(cuD3D11GetDevices, cuD3D11GetDevices)                                                   \
    MEMBER(cuGraphicsD3D11RegisterResource, cuGraphicsD3D11RegisterResource)
#ifdef cuDeviceGetUuid /* the plain name is the second one then */
#define CUSHIM_DYNLINK_UUID_(MAYBE)
#else
#define CUSHIM_DYNLINK_UUID_(MAYBE) MAYBE(cuDeviceGetUuid_v2, cuDeviceGetUuid_v2)
#endif
#define CUSHIM_DYNLINK_(MEMBER, MAYBE)                                                             \
    MEMBER(cuInit, cuInit)                                                                         \
    MEMBER(cuDriverGetVersion, cuDriverGetVersion)                                                 \
    MEMBER(cuDeviceGetCount, cuDeviceGetCount)                                                     \
    MEMBER(cuDeviceGet, cuDeviceGet)                                                               \
    MEMBER(cuDeviceGetAttribute, cuDeviceGetAttribute)                                             \
    MEMBER(cuDeviceGetName, cuDeviceGetName)                                                       \
    MEMBER(cuDeviceGetByPCIBusId, cuDeviceGetByPCIBusId)                                           \
    MEMBER(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId)                                               \
    MEMBER(cuDeviceComputeCapability, cuDeviceComputeCapability)                                   \
    MEMBER(cuCtxCreate, cuCtxCreate_v2)                                                            \
    MEMBER(cuCtxGetCurrent, cuCtxGetCurrent)                                                       \
    MEMBER(cuCtxSetCurrent, cuCtxSetCurrent)                                                       \
    MEMBER(cuCtxSetLimit, cuCtxSetLimit)                                                           \
    MEMBER(cuCtxPushCurrent, cuCtxPushCurrent_v2)                                                  \
    MEMBER(cuCtxPopCurrent, cuCtxPopCurrent_v2)                                                    \
    MEMBER(cuCtxDestroy, cuCtxDestroy_v2)                                                          \
    MEMBER(cuCtxGetDevice, cuCtxGetDevice)                                                         \
    MEMBER(cuMemAlloc, cuMemAlloc_v2)                                                              \
    MEMBER(cuMemAllocPitch, cuMemAllocPitch_v2)                                                    \
    MEMBER(cuMemAllocManaged, cuMemAllocManaged)                                                   \
    MEMBER(cuMemHostAlloc, cuMemHostAlloc)                                                         \
    MEMBER(cuMemFreeHost, cuMemFreeHost)                                                           \
    MEMBER(cuMemsetD8Async, cuMemsetD8Async)                                                       \
    MEMBER(cuMemFree, cuMemFree_v2)                                                                \
    MEMBER(cuMemcpy, cuMemcpy)                                                                     \
    MEMBER(cuMemcpyAsync, cuMemcpyAsync)                                                           \
    MEMBER(cuMemcpy2D, cuMemcpy2D_v2)                                                              \
    MEMBER(cuMemcpy2DAsync, cuMemcpy2DAsync_v2)                                                    \
    MEMBER(cuMemcpyHtoD, cuMemcpyHtoD_v2)                                                          \
    MEMBER(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)                                                \
    MEMBER(cuMemcpyDtoH, cuMemcpyDtoH_v2)                                                          \
    MEMBER(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                                                \
    MEMBER(cuMemcpyDtoD, cuMemcpyDtoD_v2)                                                          \
    MEMBER(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)                                                \
    MEMBER(cuGetErrorName, cuGetErrorName)                                                         \
    MEMBER(cuGetErrorString, cuGetErrorString)                                                     \
    MEMBER(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                                     \
    MEMBER(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)                                   \
    MEMBER(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags)                                 \
    MEMBER(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState)                                 \
    MEMBER(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset)                                       \
    MEMBER(cuStreamCreate, cuStreamCreate)                                                         \
    MEMBER(cuStreamQuery, cuStreamQuery)                                                           \
    MEMBER(cuStreamSynchronize, cuStreamSynchronize)                                               \
    MEMBER(cuStreamDestroy, cuStreamDestroy_v2)                                                    \
    MEMBER(cuStreamAddCallback, cuStreamAddCallback)                                               \
    MEMBER(cuStreamWaitEvent, cuStreamWaitEvent)                                                   \
    MEMBER(cuEventCreate, cuEventCreate)                                                           \
    MEMBER(cuEventDestroy, cuEventDestroy_v2)                                                      \
    MEMBER(cuEventSynchronize, cuEventSynchronize)                                                 \
    MEMBER(cuEventQuery, cuEventQuery)                                                             \
    MEMBER(cuEventRecord, cuEventRecord)                                                           \
    MEMBER(cuLaunchKernel, cuLaunchKernel)                                                         \
    MEMBER(cuLinkCreate, cuLinkCreate)                                                             \
    MEMBER(cuLinkAddData, cuLinkAddData)                                                           \
    MEMBER(cuLinkComplete, cuLinkComplete)                                                         \
    MEMBER(cuLinkDestroy, cuLinkDestroy)                                                           \
    MEMBER(cuModuleLoadData, cuModuleLoadData)                                                     \
    MEMBER(cuModuleUnload, cuModuleUnload)                                                         \
    MEMBER(cuModuleGetFunction, cuModuleGetFunction)                                               \
    MEMBER(cuModuleGetGlobal, cuModuleGetGlobal_v2)                                                \
    MEMBER(cuTexObjectCreate, cuTexObjectCreate)                                                   \
    MEMBER(cuTexObjectDestroy, cuTexObjectDestroy)                                                 \
    MEMBER(cuArrayCreate, cuArrayCreate_v2)                                                        \
    MEMBER(cuArray3DCreate, cuArray3DCreate_v2)                                                    \
    MEMBER(cuArrayDestroy, cuArrayDestroy)                                                         \
    MEMBER(cuGLGetDevices, cuGLGetDevices_v2)                                                      \
    MEMBER(cuGraphicsGLRegisterImage, cuGraphicsGLRegisterImage)                                   \
    MEMBER(cuGraphicsUnregisterResource, cuGraphicsUnregisterResource)                             \
    MEMBER(cuGraphicsMapResources, cuGraphicsMapResources)                                         \
    MEMBER(cuGraphicsUnmapResources, cuGraphicsUnmapResources)                                     \
    MEMBER(cuGraphicsSubResourceGetMappedArray, cuGraphicsSubResourceGetMappedArray)               \
    MEMBER(cuGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer_v2)              \
    MAYBE(cuDeviceGetUuid, cuDeviceGetUuid)                                                        \
    CUSHIM_DYNLINK_UUID_(MAYBE)                                                                    \
    MAYBE(cuDeviceGetLuid, cuDeviceGetLuid)                                                        \
    MAYBE(cuImportExternalMemory, cuImportExternalMemory)                                          \
    MAYBE(cuDestroyExternalMemory, cuDestroyExternalMemory)                                        \
    MAYBE(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer)                        \
    MAYBE(cuExternalMemoryGetMappedMipmappedArray, cuExternalMemoryGetMappedMipmappedArray)        \
    MAYBE(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel)                                      \
    MAYBE(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy)                                        \
    MAYBE(cuImportExternalSemaphore, cuImportExternalSemaphore)                                    \
    MAYBE(cuDestroyExternalSemaphore, cuDestroyExternalSemaphore)                                  \
    MAYBE(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync)                        \
    MAYBE(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync)                            \
    MAYBE(cuEGLStreamProducerConnect, cuEGLStreamProducerConnect)                                  \
    MAYBE(cuEGLStreamProducerDisconnect, cuEGLStreamProducerDisconnect)                            \
    MAYBE(cuEGLStreamConsumerDisconnect, cuEGLStreamConsumerDisconnect)                            \
    MAYBE(cuEGLStreamProducerPresentFrame, cuEGLStreamProducerPresentFrame)                        \
    MAYBE(cuEGLStreamProducerReturnFrame, cuEGLStreamProducerReturnFrame)

/* tcuInit and so on: the type of each function. */
#ifdef __cplusplus
#define CUSHIM_DYNLINK_TYPE_(name, symbol)                                                         \
    typedef std::remove_pointer<decltype(cushim_api::symbol)>::type t##symbol;
#else
#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1939
#error "cushim/dynlink_loader.h in C needs __typeof__: Visual Studio 2022 17.9, or compile as C++"
#endif
#define CUSHIM_DYNLINK_TYPE_(name, symbol)                                                         \
    typedef __typeof__(*((struct cushim_api *)0)->symbol) t##symbol;
#endif
CUSHIM_DYNLINK_(CUSHIM_DYNLINK_TYPE_, CUSHIM_DYNLINK_TYPE_)
CUSHIM_DYNLINK_D3D_(CUSHIM_DYNLINK_TYPE_)
typedef tcuArray3DCreate_v2 tcuArray3DCreate;
typedef tcuArrayCreate_v2 tcuArrayCreate;
typedef tcuGraphicsResourceGetMappedPointer_v2 tcuGraphicsResourceGetMappedPointer;
typedef tcuModuleGetGlobal_v2 tcuModuleGetGlobal;

#define CUSHIM_DYNLINK_MEMBER_(name, symbol) t##symbol *name;
/** The functions, as members of their names without suffix. */
typedef struct CudaFunctions {
    CUSHIM_DYNLINK_(CUSHIM_DYNLINK_MEMBER_, CUSHIM_DYNLINK_MEMBER_)
#ifdef _WIN32
    CUSHIM_DYNLINK_D3D_(CUSHIM_DYNLINK_MEMBER_)
#endif
    CUSHIM_DYNLINK_HANDLE_ lib;  /**< of the driver, for FFNV_SYM_FUNC; NULL without a library */
    const struct cushim_api *cu; /**< all the others, and for cushim's own functions */
} CudaFunctions;

/** Free the functions, and write NULL. NULL for either does nothing. */
static inline void cuda_free_functions(CudaFunctions **functions)
{
    if (!functions)
        return;
#ifndef _WIN32
    if (*functions && (*functions)->lib)
        dlclose((*functions)->lib);
#endif
    free(*functions);
    *functions = NULL;
}

/**
 * Load the driver.
 *
 * @param functions  written: from malloc, or NULL on failure. What it points to before is freed
 * @param logctx     for FFNV_LOG_FUNC
 * @return 0, or -1 if there is no driver or no memory
 */
static inline int cuda_load_functions(CudaFunctions **functions, void *logctx)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CudaFunctions *made;
    (void)logctx;
    cuda_free_functions(functions);
    if (cushim_status(cu) != CUSHIM_OK) {
        FFNV_LOG_FUNC(logctx, "%s\n", cushim_message(cu));
        return -1;
    }
    FFNV_DEBUG_LOG_FUNC(logctx, "%s\n", cushim_message(cu));
    made = (CudaFunctions *)calloc(1, sizeof *made);
    if (!made)
        return -1;
#define CUSHIM_DYNLINK_SET_(name, symbol) made->name = cu->symbol;
#define CUSHIM_DYNLINK_TRY_(name, symbol) made->name = CUSHIM_HAS(cu, symbol) ? cu->symbol : NULL;
    CUSHIM_DYNLINK_(CUSHIM_DYNLINK_SET_, CUSHIM_DYNLINK_TRY_)
#ifdef _WIN32
    CUSHIM_DYNLINK_D3D_(CUSHIM_DYNLINK_SET_)
    made->lib = (void *)cushim_base(cu); /* the handle of a library is its address there */
#else
    if (cushim_path(cu)) /* it is loaded already: this loads none, whatever lies there now */
        made->lib = dlopen(cushim_path(cu), RTLD_LAZY | RTLD_NOLOAD);
#endif
    made->cu = cu;
    *functions = made;
    return 0;
}

#endif
