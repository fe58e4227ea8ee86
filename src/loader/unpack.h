/* SPDX-License-Identifier: MIT */
/* Unpacks the names of entries, which gen/emit_entries.py packs. */
#ifndef CUSHIM_LOADER_UNPACK_H
#define CUSHIM_LOADER_UNPACK_H

#include <stdint.h>
#include <string.h>

/* Bytes of the longest word, rounded up to a multiple of 8; the words end with as many zeros. */
#define CUSHIM_WORD_MOST 24

/*
 * Unpack a name to `end`; returns where it ends. Most of a load's look-ups come here, so a word is
 * copied with as many bytes as the longest has, without a branch for each: the next one overwrites
 * what was too much. The words have room for that, and the buffer must.
 */
static inline char *cushim_unpack(const char *packed, const char *words,
                                  const uint16_t *word_offsets, char *end)
{
    for (; *packed; packed++) {
        unsigned char byte = (unsigned char)*packed;
        if (byte < 128) {
            *end++ = (char)byte;
            continue;
        }
        const uint16_t *offsets = word_offsets + (byte - 128);
        uint64_t word[CUSHIM_WORD_MOST / sizeof(uint64_t)];
        memcpy(&word[0], words + offsets[0], sizeof word[0]);
        memcpy(&word[1], words + offsets[0] + 8, sizeof word[1]);
        memcpy(&word[2], words + offsets[0] + 16, sizeof word[2]);
        memcpy(end, &word[0], sizeof word[0]);
        memcpy(end + 8, &word[1], sizeof word[1]);
        memcpy(end + 16, &word[2], sizeof word[2]);
        end += offsets[1] - offsets[0] - 1;
    }
    *end = '\0';
    return end;
}

#endif
