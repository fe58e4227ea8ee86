/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_EGL_H
#define SHIM_EGL_H
typedef int EGLint;
#endif
