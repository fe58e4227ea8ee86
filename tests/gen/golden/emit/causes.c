/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/causes.jsonl, errors.jsonl by gen/emit.py. Do not edit. */

#include "causes.h"

const struct causes_row causes_rows[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue",
     "a \"quoted\" back\\slash",
     "the program",
     {"bad value"},
     {
        {"a | b",
         "cu_x"},
     }},
    {35, "cudaErrorInsufficientDriver", "cudaErrorInsufficientDriver",
     "too old",
     "the driver",
     {NULL},
     {
        {"old",
         "update"},
     }},
};
const size_t causes_count = 2;
