/* SPDX-License-Identifier: MIT */
/* Unpacks the names of entries, which gen/emit_entries.py packs. */
#ifndef CUSHIM_LOADER_UNPACK_H
#define CUSHIM_LOADER_UNPACK_H

#include <stdint.h>
#include <string.h>

/* Bytes of the longest word; the words end with as many zeros. */
#define CUSHIM_WORD_MOST 16

/*
 * Unpack a name to `end`; returns where it ends. A load does this for each entry, so it branches at
 * a name's end alone: a byte is a word, and as much is copied as the longest has. The next word
 * overwrites what was too much, and the buffer has room for it.
 */
static inline char *cushim_unpack(const char *packed, const char *words,
                                  const uint16_t *word_offsets, char *end)
{
    for (; *packed; packed++) {
        const uint16_t *offsets = word_offsets + (unsigned char)*packed;
        memcpy(end, words + offsets[0], CUSHIM_WORD_MOST);
        end += offsets[1] - offsets[0];
    }
    *end = '\0';
    return end;
}

#endif
