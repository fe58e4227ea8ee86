/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#include <stddef.h>
