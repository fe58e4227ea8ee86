/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#include "entries.h"

const char cushim_strings[] =
    "cuDriverGetVersion\0"
    "cuda.h\0"
    "cuInit\0"
    "cuMemAlloc\0"
    "cuMemAlloc_v2\0"
    "cuD3D9CtxCreate\0"
    "cudaD3D9.h\0"
    "cuGetErrorName\0"
    "cuGetErrorString\0"
    "cuMemcpy\0"
    "cuMemcpy_ptds\0"
    "cuLaunchHostFunc\0"
    "cuLaunchHostFunc_ptsz\0"
    "cuGetProcAddress\0"
    "cuGetProcAddress_v2\0"
    "cuNodeSet\0"
    "cuPass\0"
    ;

const struct cushim_entry_data cushim_entries[CUSHIM_ENTRY_COUNT] = {
    {0, 0, 19, 2000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {26, 26, 19, 2000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {33, 33, 19, 2000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 1},
    {44, 33, 19, 3020, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 1},
    {58, 58, 74, 3000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_WINDOWS_ONLY, 0},
    {85, 85, 19, 6000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {100, 100, 19, 6000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {117, 117, 19, 4000, 8, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {126, 117, 19, 7000, CUSHIM_NO_TWIN, CUSHIM_STREAM_PTDS, CUSHIM_ANYWHERE, 0},
    {140, 140, 19, 10000, 10, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {157, 140, 19, 10000, CUSHIM_NO_TWIN, CUSHIM_STREAM_PTSZ, CUSHIM_ANYWHERE, 0},
    {179, 179, 19, 11030, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 1},
    {196, 179, 19, 12000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 1},
    {216, 216, 19, 12010, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
    {226, 226, 19, 12000, CUSHIM_NO_TWIN, CUSHIM_STREAM_LEGACY, CUSHIM_ANYWHERE, 0},
};

/* Indices in the order of the symbols. */
const uint16_t cushim_entries_by_symbol[CUSHIM_ENTRY_COUNT] = {
    4, 0, 5, 6, 11, 12, 1, 9, 10, 2, 3, 7, 8, 13, 14
};
