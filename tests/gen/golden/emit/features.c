/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/features.jsonl by gen/emit.py. Do not edit. */

#include "helpers/feature_data.h"

const char cushim_feature_strings[] =
    "memory\0"
    "device memory\0"
    "\0"
    "host-functions\0"
    "host functions\0"
    "stream\0"
    "the-new-one\0"
    "what the new attribute tells\0"
    "NEW\0"
    ;

const struct cushim_feature_data cushim_features[] = {
    {1, 0, 7, 0, 21, 4000, 0, 0, 2, 0, 0, 0},
    {1, 22, 37, 52, 21, 10000, 2, 0, 1, 0, 30, 1},
    {8, 59, 71, 52, 100, 12010, 3, 2, 0, 1, 0, 0},
};

const uint16_t cushim_feature_entries[] = {
    3, 7, 9, 0
};

const size_t cushim_features_count = 3;
