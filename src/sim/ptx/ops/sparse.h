/* SPDX-License-Identifier: MIT */
/* Sparse matrices: of each four units along k, a has two, and metadata says which. A unit has two
 * bytes, or one where elements have 8 or 4 bits; a tf32 element is two units.
 *
 * Metadata has two bits for each unit of a. A lane's word is of one row, or where units have two
 * bytes its halves are of rows that are 8 apart. Those of the other lanes do not count. Bits that
 * the ISA does not define do the same on an H100: tests/sim/mma has them. */
#ifndef CUSHIM_SIM_PTX_OPS_SPARSE_H
#define CUSHIM_SIM_PTX_OPS_SPARSE_H

#include <stdint.h>
#include <string.h>

#include "ptx/ops/fragment.h"
#include "ptx/ops/lanes.h"

static inline unsigned sparse_unit(unsigned type)
{
    return fragment_bits(type) < 16 ? 1 : 2;
}

/* How many selectors there are, if rows of a have that many bytes. */
static inline unsigned sparse_selectors(unsigned type, unsigned bytes)
{
    return 32 * sparse_unit(type) / bytes;
}

/* The metadata of a row of a. */
static inline uint64_t sparse_row(const lane_u32 *words, unsigned type, unsigned bytes,
                                  unsigned selector, unsigned row)
{
    const unsigned lanes = 4 / sparse_selectors(type, bytes); /* of each four */
    const unsigned first = row % 8 * 4 + selector * lanes;
    uint64_t metadata = 0;
    if (sparse_unit(type) == 2)
        for (unsigned i = 0; i < lanes; i++)
            metadata |= (uint64_t)(words[first + i] >> row / 8 * 16 & 0xffff) << i * 16;
    else
        for (unsigned i = 0; i < lanes / 2; i++)
            metadata |= (uint64_t)words[first + i * 2 + row / 8] << i * 32;
    return metadata;
}

/* Of a column of b, what the elements of that row are multiplied with. */
static inline void sparse_pick(uint64_t metadata, unsigned type, unsigned bytes, const uint8_t *b,
                               uint8_t *to)
{
    const unsigned unit = sparse_unit(type);
    for (unsigned i = 0; i < bytes / unit; i++, metadata >>= 2)
        memcpy(to + i * unit, b + (i / 2 * 4 + (metadata & 3)) * unit, unit);
}

#endif
