/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/errors.jsonl by gen/emit.py. Do not edit. */

#include "error_names.h"

const char cushim_error_strings[] =
    "CUDA_SUCCESS" "\0"
    "it went well" "\0"
    "CUDA_ERROR_INVALID_VALUE" "\0"
    "a \"quoted\" back\\slash" "\0"
    ;

const struct cushim_error_data cushim_errors[] = {
    {0, 0, 13},
    {1, 26, 51},
};

const size_t cushim_error_count = 2;
