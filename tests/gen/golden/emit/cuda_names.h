/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */

/* What names without a version mean. */
#ifndef CUSHIM_CUDA_NAMES_H
#define CUSHIM_CUDA_NAMES_H

#define cuMemAlloc cuMemAlloc_v2
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuMemcpy cuMemcpy_ptds
#endif
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuLaunchHostFunc cuLaunchHostFunc_ptsz
#endif
#if CUSHIM_CUDA_VERSION >= 12010
#define cuGetProcAddress cuGetProcAddress_v2
#endif

#endif
