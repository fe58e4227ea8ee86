/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_GL_H
#define TOY_GL_H

#include <cuda.h>
#include <GL/gl.h>

#define cuGLMap cuGLMap_v2

typedef enum CUGLmap_flags_enum {
    CU_GL_MAP_NONE = 0,
    CU_GL_MAP_READ_ONLY = 1
} CUGLmap_flags;

CUresult CUDAAPI cuGLRegister(CUgraphicsResource *pResource, GLuint image, GLenum target);
CUresult CUDAAPI cuGLMap(CUdeviceptr *dptr, size_t *size, GLuint buffer);
#ifdef _WIN32
#if !defined(WGL_NV_gpu_affinity)
typedef void *HGPUNV;
#endif
CUresult CUDAAPI cuWGLGetDevice(CUdevice *pDevice, HGPUNV hGpu);
#endif

#ifdef __CUDA_API_VERSION_INTERNAL
#undef cuGLMap
CUresult CUDAAPI cuGLMap(CUdeviceptr *dptr, unsigned int *size, GLuint buffer);
#endif

#endif
