/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/drivers.jsonl by gen/emit.py. Do not edit. */

#include "helpers/compat_data.h"

const char cushim_driver_strings[] =
    "\0"
    "525.60.13\0"
    "527.41\0"
    "525.85.12\0"
    ;

const struct cushim_toolkit_data cushim_toolkits[] = {
    {12000, 0, 1, 11},
    {12000, 1, 18, 0},
};
const size_t cushim_toolkits_count = 2;

const struct cushim_family_data cushim_families[] = {
    {12, 1, 0},
};
const size_t cushim_families_count = 1;

const struct cushim_ptx_data cushim_ptx[] = {
    {12000, 80, 525},
};
const size_t cushim_ptx_count = 1;

const struct cushim_target_data cushim_targets[] = {
    {50, 12000},
    {90, 12000},
};
const size_t cushim_targets_count = 2;

const int cushim_forward_since = 10000;
