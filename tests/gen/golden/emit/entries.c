/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#include "loader/registry.h"

const char cushim_entry_names[] =
    "Driver\376Version\0"
    "Init\0"
    "\375Alloc\0"
    "D3D9CtxCreate\0"
    "\377Name\0"
    "\377String\0"
    "\375cpy\0"
    "LaunchHostFunc\0"
    "\376ProcAddress\0"
    "NodeSet\0"
    "Pass\0"
    ;

const char cushim_entry_words[] =
    "3"
    "9"
    "A"
    "C"
    "D"
    "E"
    "F"
    "G"
    "H"
    "I"
    "L"
    "M"
    "N"
    "P"
    "S"
    "V"
    "a"
    "c"
    "d"
    "e"
    "g"
    "h"
    "i"
    "l"
    "m"
    "n"
    "o"
    "p"
    "r"
    "s"
    "t"
    "u"
    "v"
    "x"
    "y"
    "Mem"
    "Get"
    "GetError"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    ;
const uint16_t cushim_entry_word_offsets[] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
    2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 11, 12, 13, 13, 14, 14, 14, 15, 15, 15, 16, 16, 16,
    16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 18, 19, 20, 20, 21, 22, 23, 23, 23, 24, 25, 26, 27, 28,
    28, 29, 30, 31, 32, 33, 33, 34, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35,
    35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35,
    35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35,
    35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35,
    35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35,
    35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 35, 38, 41, 49,
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
    {15, 0, 0, 0, 0},
    {20, 0, 0, 0, CUSHIM_ENTRY_SEVERAL},
    {20, 1, 1, 0, CUSHIM_ENTRY_SEVERAL},
    {27, 2, 0, 1, CUSHIM_ENTRY_WINDOWS},
    {41, 3, 0, 0, 0},
    {47, 3, 0, 0, 0},
    {55, 4, 0, 0, CUSHIM_ENTRY_TWIN},
    {55, 5, 2, 0, CUSHIM_ENTRY_PTDS},
    {60, 6, 0, 0, CUSHIM_ENTRY_TWIN},
    {60, 6, 3, 0, CUSHIM_ENTRY_PTSZ},
    {75, 7, 0, 0, CUSHIM_ENTRY_SEVERAL},
    {75, 8, 1, 0, CUSHIM_ENTRY_SEVERAL},
    {88, 9, 0, 0, 0},
    {96, 8, 0, 0, 0},
};

/* The entries in the order of their symbols. */
const uint16_t cushim_entry_order[CUSHIM_ENTRY_COUNT] = {
    4, 0, 5, 6, 11, 12, 1, 9, 10, 2, 3, 7, 8, 13, 14,
};
