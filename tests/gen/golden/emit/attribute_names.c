/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/types.jsonl by gen/emit.py. Do not edit. */

#include "helpers/attribute_names.h"

const struct cushim_attribute cushim_attributes[] = {
    {"CU_DEVICE_ATTRIBUTE_OLD", 1, 0},
    {"CU_DEVICE_ATTRIBUTE_NEW", 2, 12010},
};

const size_t cushim_attributes_count = 2;
