/* SPDX-License-Identifier: MIT */
/* The registry's entries as constant data; entries.c is generated. */
#ifndef CUSHIM_LOADER_REGISTRY_H
#define CUSHIM_LOADER_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cushim/cushim.h>

#include "loader/unpack.h"

enum {
    CUSHIM_ENTRY_SEVERAL = 1, /* the name has several ABIs */
    CUSHIM_ENTRY_TWIN = 2,    /* this legacy entry has a per-thread form */
    CUSHIM_ENTRY_LINUX = 4,   /* it exists there only */
    CUSHIM_ENTRY_WINDOWS = 8,
    CUSHIM_ENTRY_PTSZ = 16, /* it is a per-thread form */
    CUSHIM_ENTRY_PTDS = 32
};

/*
 * Offsets and indices instead of pointers: nothing to relocate when the program starts. A name is
 * packed: without "cu", and with one byte for each word that many names have.
 */
struct cushim_entry_data {
    uint16_t name;      /* offset in cushim_entry_names */
    uint8_t release;    /* index in cushim_entry_releases */
    uint8_t suffix : 4; /* index in cushim_entry_suffixes: the symbol is the name and this */
    uint8_t header : 4; /* index in cushim_entry_headers */
    uint8_t flags;
};

extern const char cushim_entry_names[], cushim_entry_words[];
extern const char cushim_entry_suffixes[][12], cushim_entry_headers[][16];
extern const uint16_t cushim_entry_word_offsets[], cushim_entry_releases[];
extern const struct cushim_entry_data cushim_entries[CUSHIM_ENTRY_COUNT];
extern const uint16_t cushim_entry_order[CUSHIM_ENTRY_COUNT]; /* of the symbols, as strcmp has it */

/* Bytes of the longest symbol, its end included, and of the word that may be copied behind it. */
#define CUSHIM_SYMBOL_SIZE (sizeof(((struct cushim_entry *)0)->symbol) + CUSHIM_WORD_MOST)

/* Index of an entry by its exported name, or by NAME_v1; CUSHIM_ENTRY_COUNT if there is none. */
size_t cushim_registry_find(const char *symbol);

/* Write the exported name of an entry, or the name without suffix; returns the buffer. */
const char *cushim_registry_symbol(size_t index, char symbol[CUSHIM_SYMBOL_SIZE]);
const char *cushim_registry_name(size_t index, char name[CUSHIM_SYMBOL_SIZE]);
bool cushim_registry_is_name(size_t index, const char *name);
/* Whether a legacy entry has a per-thread form, and which one it is. */
bool cushim_registry_has_twin(size_t index);
size_t cushim_registry_twin(size_t index);
int cushim_registry_since(size_t index);
enum cushim_stream cushim_registry_stream(size_t index);
/* Whether the entry exists on another platform only. */
bool cushim_registry_is_elsewhere(size_t index);

#endif
