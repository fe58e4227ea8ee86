/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_GL_H
#define SHIM_GL_H
typedef unsigned int GLenum;
typedef unsigned int GLuint;
typedef int GLint;
#endif
