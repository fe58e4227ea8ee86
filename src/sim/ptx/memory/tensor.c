/* SPDX-License-Identifier: MIT */
/* cp.async.bulk.tensor and its reductions: tiles between shared memory and a tensor, made at once.
 */
#include "ptx/memory/memory.h"

#include <stdio.h>

enum {
    PIECE = 16,          /* bytes that stay together in shared memory */
    ALIGNMENT = 128,     /* of a tile there */
    ROW_BYTES = 256 * 8, /* at most */
    TILE_BYTES = 228 << 10
};

/* One tile of one lane. */
struct tile {
    struct ptx_warp *warp;
    const struct ptx_step *step;
    unsigned lane;
    struct ptx_tensor tensor;
    struct tensor_walk walk;
    uint64_t shared;           /* its address in shared memory */
    unsigned size;             /* of an element */
    uint32_t row_bytes, pitch; /* of a row, and from one to the next in shared memory */
};

static bool tile_fault(const struct tile *tile, enum ptx_fault_kind kind, uint64_t address,
                       const char *what)
{
    return fault_warp(tile->warp, tile->step, tile->lane, kind, address, what);
}

/* --- Shared memory --- */
/* Bytes of a row that a swizzle keeps together; 0: there is none. */
static uint32_t swizzle_span(const struct ptx_tensor *tensor)
{
    static const uint8_t spans[] = {0, 32, 64, 128};

    return spans[tensor->swizzle & 3];
}

/* Which piece of a row another one changes places with is in the address: bits 7 to 9 move bits 4
 * to 6, as many of them as the swizzle is wide. */
static uint64_t swizzled(const struct ptx_tensor *tensor, uint64_t address)
{
    static const uint8_t masks[] = {0, 1, 3, 7};

    return address ^ (address >> 7 & masks[tensor->swizzle & 3]) << 4;
}

static char *piece_at(const struct tile *tile, uint64_t address, bool write)
{
    return memory_resolve(tile->warp, tile->step, tile->lane, PTX_SPACE_SHARED, address, PIECE,
                          write);
}

/* One row between the tile and `row`. A row that fills its place lies together, so that its ends
 * say for all of it that it is there; not if it changes places with another. */
static bool row_move(const struct tile *tile, uint64_t at, char *row, bool write)
{
    uint64_t first = tile->shared + at;
    bool full = tile->row_bytes == tile->pitch && swizzle_span(&tile->tensor) <= tile->pitch;
    char *host = full ? piece_at(tile, first, write) : NULL;

    if (full && (!host || !piece_at(tile, first + tile->pitch - PIECE, write)))
        return false;
    for (uint32_t i = 0; i < tile->row_bytes; i += PIECE) {
        uint64_t address = swizzled(&tile->tensor, first + i);
        char *piece = full ? host + (address - first) : piece_at(tile, address, write);

        if (!piece)
            return false;
        memcpy(write ? piece : row + i, write ? row + i : piece, PIECE);
    }
    return true;
}

/* --- The tensor --- */
static char *tensor_find(const struct tile *tile, uint64_t address, uint64_t bytes, bool write)
{
    struct ptx_range *range;

    if (!memory_find(tile->warp->state->worker, tile->step->how.memory.slot, address, bytes,
                     write ? PTX_RANGE_WRITE : PTX_RANGE_READ, &range))
        return NULL;
    char *host = range->host + (address - range->base);
    if (tile->warp->block->launch->check)
        check_touch(tile->warp, tile->step, host, bytes, write);
    return host;
}

static size_t row_size(const struct tile *tile, const struct tensor_row *row)
{
    return (size_t)(row->end - row->begin) * tile->size;
}

/* The elements of a row that are in the tensor; NULL after a fault. */
static char *row_at(const struct tile *tile, const struct tensor_row *row, bool write)
{
    size_t bytes = row_size(tile, row);
    char *host = tensor_find(tile, row->address, bytes, write);
    char what[80];

    if (host)
        return host;
    snprintf(what, sizeof what, "%s %llu bytes of a tensor that are no live memory",
             write ? "writes" : "reads", (unsigned long long)bytes);
    tile_fault(tile, PTX_FAULT_ILLEGAL_ADDRESS, row->address, what);
    return NULL;
}

/* To the nearest of the floats that have 10 bits of fraction, of two the even one. */
static uint32_t tf32_of(uint32_t bits)
{
    if ((bits & ~F32_SIGN) > F32_INFINITY)
        return UINT32_C(0x7fffe000);
    return (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
}

/* What a load makes of elements that the tensor's type says to convert. */
static void row_convert(const struct tile *tile, char *row, uint32_t count)
{
    if (tile->tensor.type != PTX_TENSOR_TF32 && tile->tensor.type != PTX_TENSOR_TF32_FTZ)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, row + (size_t)i * sizeof bits, sizeof bits);
        bits = tf32_of(bits);
        memcpy(row + (size_t)i * sizeof bits, &bits, sizeof bits);
    }
}

static bool row_load(const struct tile *tile, uint64_t at)
{
    struct tensor_row row = tensor_walk_row(&tile->walk, tile->walk.count);
    static const unsigned char nan[] = {0xf7, 0x7f}; /* of floats of 2, 4 and 8 bytes */
    char bytes[ROW_BYTES];

    for (uint32_t i = 0; i < tile->row_bytes; i++)
        bytes[i] = tile->tensor.nan ? (char)nan[i % 2] : 0;
    if (row.begin < row.end) {
        const char *from = row_at(tile, &row, false);

        if (!from)
            return false;
        memcpy(bytes + (size_t)row.begin * tile->size, from, row_size(tile, &row));
        row_convert(tile, bytes + (size_t)row.begin * tile->size, row.end - row.begin);
    }
    return row_move(tile, at, bytes, true);
}

/* Where a row is stored. A device writes whole pieces, and so beyond the last element where the
 * dimension has no multiple of them; here only where there is memory. */
static char *row_target(const struct tile *tile, struct tensor_row *row)
{
    unsigned piece = PIECE / tile->size;
    int64_t whole = (tile->walk.count + piece - 1) / piece * piece;

    *row = tensor_walk_row(&tile->walk, whole);
    if (row->begin >= row->end)
        return NULL;
    char *to = tensor_find(tile, row->address, row_size(tile, row), true);
    if (to)
        return to;
    *row = tensor_walk_row(&tile->walk, tile->walk.count);
    return row_at(tile, row, true);
}

static enum ir_type element_type(const struct ptx_tensor *tensor)
{
    static const uint8_t types[PTX_TENSOR_TYPES] = {IR_U8,  IR_U16, IR_U32, IR_S32, IR_U64,
                                                    IR_S64, IR_F16, IR_F32, IR_F64, IR_BF16,
                                                    IR_F32, IR_F32, IR_F32};

    return (enum ir_type)types[tensor->type];
}

/* How the elements are combined; NULL: there is no such operation. Signed numbers of 64 bits have
 * the smaller and the larger one alone. */
static const struct atomic_operation *tensor_reduction(const struct tile *tile)
{
    enum ir_atomic operation = (enum ir_atomic)ptx_insn(tile->step)->atomic;

    if (tile->tensor.type == PTX_TENSOR_S64 && operation != IR_ATOM_MIN && operation != IR_ATOM_MAX)
        return NULL;
    return atomic_reduction(element_type(&tile->tensor), operation);
}

static bool row_store(const struct tile *tile, uint64_t at, const struct atomic_operation *reduce)
{
    _Alignas(PIECE) char bytes[ROW_BYTES];
    struct tensor_row row;

    if (tensor_walk_negative(&tile->walk))
        return tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                          "a coordinate of what is stored is negative");
    char *to = row_target(tile, &row);
    if (!to)
        return row.begin >= row.end;
    if (!row_move(tile, at, bytes, false))
        return false;
    if (!reduce) {
        memcpy(to, bytes + (size_t)row.begin * tile->size, row_size(tile, &row));
        return true;
    }
    for (uint32_t i = row.begin; i < row.end; i++)
        atomic_apply(reduce, to + (size_t)(i - row.begin) * tile->size,
                     bytes + (size_t)i * tile->size, true);
    return true;
}

/* --- Tiles --- */
/* The entries make no other maps, but kernels may. */
static bool tensor_is_aligned(const struct ptx_tensor *tensor)
{
    uint64_t all = tensor->address;

    for (unsigned i = 0; i + 1 < tensor->rank; i++)
        all |= tensor->strides[i];
    return all % (tensor->interleave ? ptx_tensor_slice(tensor) : PIECE) == 0;
}

/* The same of layouts: slices need the dimensions that they lie along. */
static bool tensor_has_layout(const struct ptx_tensor *tensor)
{
    return tensor->interleave <= 2 && (!tensor->interleave || tensor->rank >= 3);
}

/* Pixels begin in their box, and those that are stored have theirs in the tensor. */
static bool pixels_check(const struct tile *tile)
{
    const char *what = NULL;

    if (!tile->tensor.im2col)
        return true;
    if (!tensor_walk_begins_inside(&tile->walk))
        what = "the first pixel is not in the box of the tensor map's corners";
    else if (tensor_way_of(ptx_insn(tile->step)) != TENSOR_LOAD &&
             !tensor_walk_stays_inside(&tile->walk))
        what = "pixels are stored, and the box of the tensor map's corners is not in the tensor";
    if (what)
        tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, 0, what);
    return !what;
}

/* What a copy must have, whatever its tile. */
static bool tile_check(const struct tile *tile)
{
    uint32_t span = tile->tensor.interleave ? 0 : swizzle_span(&tile->tensor);

    if (tile->shared % ALIGNMENT)
        return tile_fault(tile, PTX_FAULT_MISALIGNED, tile->shared,
                          "the address of a tile is no multiple of 128");
    if (tile->walk.dimensions[0].at * (int64_t)tile->size % PIECE)
        return tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                          "the innermost coordinate is no multiple of 16 bytes");
    if (tile->row_bytes % PIECE || tile->row_bytes > (span ? span : ROW_BYTES) ||
        (uint64_t)tile->walk.rows * tile->pitch > TILE_BYTES || !tensor_has_layout(&tile->tensor))
        return tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                          "the tensor map has tiles that cannot be copied");
    if (!pixels_check(tile))
        return false;
    if (!tensor_is_aligned(&tile->tensor))
        return tile_fault(
            tile, PTX_FAULT_MISALIGNED, tile->tensor.address,
            "the tensor's address or a stride is no multiple of 16, or of its slices");
    if (!tensor_find(tile, tile->tensor.address, 1, false))
        return tile_fault(tile, PTX_FAULT_ILLEGAL_ADDRESS, tile->tensor.address,
                          "the tensor is in no live memory");
    return true;
}

static bool tile_run(struct tile *tile, const int32_t *coordinates, const uint16_t *offsets)
{
    const enum tensor_way way = tensor_way_of(ptx_insn(tile->step));
    const struct atomic_operation *reduce = NULL;

    if (way == TENSOR_REDUCE) {
        reduce = tensor_reduction(tile);
        if (!reduce)
            return tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                              "the tensor's type has no such reduction");
    }
    tensor_walk_begin(&tile->walk, &tile->tensor, coordinates, offsets);
    tile->row_bytes = tile->walk.elements * tile->size;
    tile->pitch = tile->tensor.interleave ? 0 : swizzle_span(&tile->tensor);
    if (!tile->pitch)
        tile->pitch = tile->row_bytes;
    if (!tile_check(tile))
        return false;
    for (uint32_t i = 0; i < tile->walk.rows; i++, tensor_walk_next(&tile->walk)) {
        uint64_t at = (uint64_t)i * tile->pitch;

        if (way == TENSOR_LOAD ? !row_load(tile, at) : !row_store(tile, at, reduce))
            return false;
    }
    return true;
}

/* A load into one block, whose own mbarrier counts the bytes. */
static bool tile_arrive(struct tile *tile, const int32_t *coordinates, const uint16_t *offsets,
                        uint64_t barrier)
{
    return tile_run(tile, coordinates, offsets) &&
           memory_async_signal(tile->warp, tile->step, tile->lane, PTX_SPACE_SHARED, barrier,
                               tile->walk.rows * tile->row_bytes);
}

static const void *listed(const struct tile *tile, unsigned index)
{
    return ptx_in(tile->warp, tile->step->list[index]);
}

static bool tile_load(struct tile *tile, const int32_t *coordinates, const uint16_t *offsets)
{
    uint64_t barrier = ((const reg64 *)listed(tile, TENSOR_BARRIER))[tile->lane];
    uint64_t first = tile->shared;

    if (tile->step->list[TENSOR_BLOCKS] == PTX_ABSENT)
        return tile_arrive(tile, coordinates, offsets, barrier);
    uint32_t blocks = ((const reg32 *)listed(tile, TENSOR_BLOCKS))[tile->lane];
    for (unsigned rank = 0; rank < 16; rank++) {
        if (!(blocks >> rank & 1))
            continue;
        tile->shared = memory_in_block(first, rank);
        if (!tile_arrive(tile, coordinates, offsets, memory_in_block(barrier, rank)))
            return false;
    }
    return true;
}

/* The map of a lane, and whether it suits the instruction. */
static bool tile_map(struct tile *tile)
{
    const struct ir_insn *insn = ptx_insn(tile->step);
    uint64_t address = ((const reg64 *)listed(tile, TENSOR_MAP))[tile->lane];

    if (address - PTX_SHARED_WINDOW < PTX_WINDOW_SIZE ||
        address - PTX_LOCAL_WINDOW < PTX_WINDOW_SIZE)
        return tile_fault(tile, PTX_FAULT_ILLEGAL_ADDRESS, address,
                          "the tensor map is neither a parameter nor in global memory");
    const char *map =
        tensor_map_at(tile->warp, tile->step, tile->lane, PTX_SPACE_GENERIC, address, false);

    if (!map)
        return false;
    if (!ptx_tensor_decode(map, &tile->tensor))
        return tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, address,
                          "the tensor map is damaged");
    if (tile->tensor.rank != opcodes_rank(insn->geometry) ||
        tile->tensor.im2col != (insn->im2col ? PTX_TENSOR_IM2COL : PTX_TENSOR_BOX))
        return tile_fault(tile, PTX_FAULT_ILLEGAL_INSTRUCTION, address,
                          "the tensor map is for another kind of copy");
    tile->size = ptx_tensor_type_size((enum ptx_tensor_type)tile->tensor.type);
    return true;
}

static bool lane_copy(struct tile *tile)
{
    const struct ir_insn *insn = ptx_insn(tile->step);
    bool load = tensor_way_of(insn) == TENSOR_LOAD;
    unsigned rank = opcodes_rank(insn->geometry);
    int32_t coordinates[PTX_TENSOR_RANKS];
    uint16_t offsets[PTX_TENSOR_RANKS] = {0};
    unsigned more = load && insn->im2col ? rank - 2 : 0;

    if (!tile_map(tile))
        return false;
    for (unsigned i = 0; i < rank; i++)
        coordinates[i] = (int32_t)((const reg32 *)listed(tile, TENSOR_COORDINATES + i))[tile->lane];
    for (unsigned i = 0; i < more; i++)
        offsets[i] =
            (uint16_t)((const reg32 *)listed(tile, TENSOR_COORDINATES + rank + i))[tile->lane];
    tile->shared = ((const reg64 *)listed(tile, TENSOR_TILE))[tile->lane];
    return load ? tile_load(tile, coordinates, offsets) : tile_run(tile, coordinates, offsets);
}

enum tensor_way tensor_way_of(const struct ir_insn *insn)
{
    if (insn->mode == IR_CP_PREFETCH)
        return TENSOR_PREFETCH;
    if (insn->space == PTX_SPACE_SHARED)
        return TENSOR_LOAD;
    return insn->atomic == IR_ATOM_NONE ? TENSOR_STORE : TENSOR_REDUCE;
}

void tensor_copy(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask) {
        struct tile tile = {.warp = warp, .step = step, .lane = lane};

        if (ptx_insn(step)->mode == IR_CP_PREFETCH ? !tile_map(&tile) : !lane_copy(&tile))
            return;
    }
}
