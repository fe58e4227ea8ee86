/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_EGLEXT_H
#define SHIM_EGLEXT_H
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef void *EGLSyncKHR;
#endif
