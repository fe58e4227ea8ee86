/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_GLTYPEDEFS_H
#define TOY_GLTYPEDEFS_H

#include <cudaGL.h>

typedef CUresult(CUDAAPI *PFN_cuGLRegister_v3000)(CUgraphicsResource *pResource, GLuint image,
                                                  GLenum target);
typedef CUresult(CUDAAPI *PFN_cuGLMap_v3020)(CUdeviceptr *dptr, size_t *size, GLuint buffer);
typedef CUresult(CUDAAPI *PFN_cuGLMap_v2000)(CUdeviceptr *dptr, unsigned int *size, GLuint buffer);
#ifdef _WIN32
typedef CUresult(CUDAAPI *PFN_cuWGLGetDevice_v2020)(CUdevice *pDevice, HGPUNV hGpu);
#endif

#endif
