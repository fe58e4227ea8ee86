/* SPDX-License-Identifier: MIT */
/* The features of the registry as constant data; features.c is generated. */
#ifndef CUSHIM_HELPERS_FEATURE_DATA_H
#define CUSHIM_HELPERS_FEATURE_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Offsets instead of pointers: nothing to relocate when the program starts. */
struct cushim_feature_data {
    uint32_t value;                             /* the attribute's least value, or its bits */
    uint16_t name, text, group, attribute_name; /* in cushim_feature_strings */
    uint16_t since;
    uint16_t entries;   /* the first, in cushim_feature_entries */
    uint16_t attribute; /* 0: none */
    uint8_t entry_count;
    uint8_t is_mask;
    uint8_t capability; /* 90 is 9.0; 0: any */
    uint8_t platform;   /* 0: any, 1: Linux, 2: Windows */
};

extern const char cushim_feature_strings[];
extern const struct cushim_feature_data cushim_features[];
extern const uint16_t cushim_feature_entries[]; /* indices of the registry's entries */
extern const size_t cushim_features_count;

#endif
