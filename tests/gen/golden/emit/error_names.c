/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/errors.jsonl by gen/emit.py. Do not edit. */

#include "error_names.h"

const struct cushim_error_data cushim_errors[] = {
    {0, "CUDA_SUCCESS", "it went well"},
    {1, "CUDA_ERROR_INVALID_VALUE", "a \"quoted\" back\\slash"},
};

const size_t cushim_error_count = 2;
