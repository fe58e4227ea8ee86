/* SPDX-License-Identifier: MIT */
/* The last address of a process: Windows gives programs of 64 bits 47 bits. */
#ifndef CUSHIM_SIM_WINDOWS_AUXV_H
#define CUSHIM_SIM_WINDOWS_AUXV_H

#define AT_RANDOM 25
#define getauxval(what) UINT64_C(0x7fffffff0000)

#endif
