/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */

#ifndef CUDAGL_H
#define CUDAGL_H

#include <cushim/cuda.h>


#ifdef __cplusplus
extern "C" {
#endif


#ifndef CUSHIM_CALLS_ONLY_NAMES_H
#else
#endif


#ifdef __cplusplus
}
#endif

#endif
