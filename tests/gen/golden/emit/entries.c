/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#include "loader/registry.h"

const char cushim_entry_names[] =
    "DriverGetVersion\0"
    "Init\0"
    "MemAlloc\0"
    "D3D9CtxCreate\0"
    "\200Name\0"
    "\200String\0"
    "Memcpy\0"
    "LaunchHostFunc\0"
    "GetProcAddress\0"
    "NodeSet\0"
    "Pass\0"
    ;

const char cushim_entry_words[] =
    "GetError\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    ;
const uint16_t cushim_entry_word_offsets[] = {
    0, 9,
};
const char cushim_entry_suffixes[][12] = {
    "", "_v2", "_ptds", "_ptsz",
};
const char cushim_entry_headers[][16] = {
    "cuda.h", "cudaD3D9.h",
};
const uint16_t cushim_entry_releases[] = {
    2000, 3020, 3000, 6000, 4000, 7000, 10000, 11030, 12000, 12010,
};

const struct cushim_entry_data cushim_entries[CUSHIM_ENTRY_COUNT] = {
    {0, 0, 0, 0, 0},
    {17, 0, 0, 0, 0},
    {22, 0, 0, 0, CUSHIM_ENTRY_SEVERAL},
    {22, 1, 1, 0, CUSHIM_ENTRY_SEVERAL},
    {31, 2, 0, 1, CUSHIM_ENTRY_WINDOWS},
    {45, 3, 0, 0, 0},
    {51, 3, 0, 0, 0},
    {59, 4, 0, 0, CUSHIM_ENTRY_TWIN},
    {59, 5, 2, 0, CUSHIM_ENTRY_PTDS},
    {66, 6, 0, 0, CUSHIM_ENTRY_TWIN},
    {66, 6, 3, 0, CUSHIM_ENTRY_PTSZ},
    {81, 7, 0, 0, CUSHIM_ENTRY_SEVERAL},
    {81, 8, 1, 0, CUSHIM_ENTRY_SEVERAL},
    {96, 9, 0, 0, 0},
    {104, 8, 0, 0, 0},
};

/* The entries in the order of their symbols. */
const uint16_t cushim_entry_order[CUSHIM_ENTRY_COUNT] = {
    4, 0, 5, 6, 11, 12, 1, 9, 10, 2, 3, 7, 8, 13, 14,
};
