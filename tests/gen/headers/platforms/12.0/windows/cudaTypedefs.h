/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_TYPEDEFS_H
#define TOY_TYPEDEFS_H

#include <cuda.h>

typedef CUresult(CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags);

#endif
