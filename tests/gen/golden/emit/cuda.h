/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl, types.jsonl, levels.jsonl by gen/emit.py. Do not edit. */

#ifndef CUSHIM_CUDA_H
#define CUSHIM_CUDA_H

/* Functions before names, which are macros. */
#include <cushim/cuda_types.h>
#ifdef CUSHIM_CUDA_TYPES_H /* else there was an error */
#include <cushim/cuda_functions.h>
#include <cushim/cuda_names.h>
#endif

#endif
