/* SPDX-License-Identifier: MIT */
/* The layout of a fatbin: a header, and entries, each with a header of its own; all numbers are
 * little-endian. It was read off what nvcc 11 to 13 write. */
#ifndef CUSHIM_SRC_FATBIN_FORMAT_H
#define CUSHIM_SRC_FATBIN_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50U
#define FATBIN_LZ4 UINT64_C(0x2000) /* flags of an entry: how it is packed */
#define FATBIN_ZSTD UINT64_C(0x8000)
#define FATBIN_ARCHITECTURE UINT64_C(0x100000) /* for sm_90a and its like */
#define FATBIN_FAMILY UINT64_C(0x200000)       /* for sm_100f and its like */

enum { FATBIN_KIND_PTX = 1, FATBIN_KIND_CUBIN = 2 };

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of what follows the header */
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t padded_size;
    uint32_t packed_size; /* 0: not packed */
    uint32_t unknown;
    uint16_t minor, major; /* of PTX its version; of machine code 1.7 or 1.8, its ELF ABI */
    uint32_t architecture;
    uint32_t name_offset, name_length;
    uint64_t flags, zero;
    uint64_t size; /* unpacked; 0: not packed */
};

/** The entry at `offset` of the bytes behind the header, and its payload; false: outside of them.
 */
static inline bool fatbin_entry_at(const char *data, uint64_t size, uint64_t offset,
                                   struct fatbin_entry *entry, const char **payload)
{
    uint64_t room = size - offset;

    if (room < sizeof *entry)
        return false;
    memcpy(entry, data + offset, sizeof *entry);
    if (entry->header_size < sizeof *entry || entry->header_size > room ||
        entry->padded_size > room - entry->header_size || entry->packed_size > entry->padded_size)
        return false;
    *payload = data + offset + entry->header_size;
    return true;
}

/** How many bytes an entry takes. */
static inline uint64_t fatbin_entry_size(const struct fatbin_entry *entry)
{
    return entry->header_size + entry->padded_size;
}

#endif
