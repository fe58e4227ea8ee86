/* SPDX-License-Identifier: MIT */
/* NVML's entries and error codes as constant data; both sources are generated. */
#ifndef CUSHIM_NVML_ENTRIES_H
#define CUSHIM_NVML_ENTRIES_H

#include <stdint.h>

#include <cushim/nvml.h>

#include "error_names.h"

/* Bytes of the longest symbol, its end included. */
#define CUSHIM_NVML_SYMBOL_SIZE 64

/* As struct cushim_entry_data: offsets and indices, and a name is packed and without "nvml". */
struct cushim_nvml_entry_data {
    uint16_t name;   /* offset in cushim_nvml_entry_names */
    uint8_t release; /* index in cushim_nvml_entry_releases */
    uint8_t suffix;  /* index in cushim_nvml_entry_suffixes */
};

extern const char cushim_nvml_entry_names[], cushim_nvml_entry_words[];
extern const char cushim_nvml_entry_suffixes[][4];
extern const uint16_t cushim_nvml_entry_word_offsets[], cushim_nvml_entry_releases[];
extern const struct cushim_nvml_entry_data cushim_nvml_entries[CUSHIM_NVML_ENTRY_COUNT];

extern const char cushim_nvml_error_strings[];
extern const struct cushim_error_data cushim_nvml_errors[];
extern const size_t cushim_nvml_error_count;

/* Write the exported name of an entry; returns the buffer. */
const char *cushim_nvml_entry_symbol(size_t index, char symbol[CUSHIM_NVML_SYMBOL_SIZE]);

/* The release whose header declared it first; 0 for the oldest that is known, or one before. */
int cushim_nvml_entry_since(size_t index);

/* NVML's function of the same name, for when there is none. */
const char *cushim_nvml_error_string(nvmlReturn_t result);

#endif
