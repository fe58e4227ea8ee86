/* SPDX-License-Identifier: MIT */
/* Run functions that touch memory, by what they load or store. */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_H

#include "ptx/ops/affine.h"
#include "ptx/ops/ops.h"

struct ptx_builtin;

/* Races between threads of a kernel are the kernel's own: ThreadSanitizer looks at the engine. */
#if defined(__SANITIZE_THREAD__)
#define DEVICE_ACCESS __attribute__((no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DEVICE_ACCESS __attribute__((no_sanitize("thread")))
#endif
#endif
#ifndef DEVICE_ACCESS
#define DEVICE_ACCESS
#endif

enum memory_space {
    MEMORY_GLOBAL,
    MEMORY_GENERIC,
    MEMORY_SHARED,
    MEMORY_LOCAL,
    MEMORY_PARAM,
    MEMORY_SPACES
};

/* Size in memory and what becomes of it in a register: LOAD(kind, memory, cast, shape) */
#define LOAD_KINDS(LOAD)                                                                           \
    LOAD(8_32, uint8_t, (uint8_t), reg32)                                                          \
    LOAD(S8_32, uint8_t, (int8_t), reg32)                                                          \
    LOAD(S8_16, uint8_t, (uint16_t)(int8_t), reg32)                                                \
    LOAD(16_32, uint16_t, (uint16_t), reg32)                                                       \
    LOAD(S16_32, uint16_t, (int16_t), reg32)                                                       \
    LOAD(32_32, uint32_t, (uint32_t), reg32)                                                       \
    LOAD(8_64, uint8_t, (uint8_t), reg64)                                                          \
    LOAD(S8_64, uint8_t, (int8_t), reg64)                                                          \
    LOAD(16_64, uint16_t, (uint16_t), reg64)                                                       \
    LOAD(S16_64, uint16_t, (int16_t), reg64)                                                       \
    LOAD(32_64, uint32_t, (uint32_t), reg64)                                                       \
    LOAD(S32_64, uint32_t, (int32_t), reg64)                                                       \
    LOAD(64_64, uint64_t, (uint64_t), reg64)
/* STORE(kind, memory, shape) */
#define STORE_KINDS(STORE)                                                                         \
    STORE(8_32, uint8_t, reg32)                                                                    \
    STORE(16_32, uint16_t, reg32)                                                                  \
    STORE(32_32, uint32_t, reg32)                                                                  \
    STORE(8_64, uint8_t, reg64)                                                                    \
    STORE(16_64, uint16_t, reg64)                                                                  \
    STORE(32_64, uint32_t, reg64)                                                                  \
    STORE(64_64, uint64_t, reg64)

enum load_kind {
#define LOAD_NAME(kind, memory, cast, shape) LOAD_##kind,
    LOAD_KINDS(LOAD_NAME) LOAD_128,
    LOAD_KIND_COUNT
};
enum store_kind {
#define STORE_NAME(kind, memory, shape) STORE_##kind,
    STORE_KINDS(STORE_NAME) STORE_128,
    STORE_KIND_COUNT
};

/* The slot of a step's own, as long as there are some. */
static inline uint8_t memory_slot(uint32_t step)
{
    return step & (RANGE_CACHE - 1);
}

/* Where each lane's bytes are: at base + offsets[lane] for the lanes of the mask. */
struct access {
    enum { ACCESS_FAILED, ACCESS_HALVES, ACCESS_GATHER } pattern;
    char *base;            /* HALVES: lane 0's; GATHER: what offsets count from */
    char *second;          /* HALVES: lane 16's */
    uint64_t stride;       /* HALVES: between lanes, 0 or the size */
    const reg64 *offsets;  /* GATHER */
    uint64_t pointers[32]; /* where the lanes' memory is in several ranges */
};
static inline uintptr_t access_lane(const struct access *access, unsigned lane)
{
    if (access->pattern == ACCESS_GATHER)
        return (uintptr_t)access->base + access->offsets[lane];
    return lane < 16 ? (uintptr_t)access->base + lane * access->stride
                     : (uintptr_t)access->second + (lane - 16) * access->stride;
}

/* Each lane's memory on its own. */
static inline void access_gather(struct access *access)
{
    access->pattern = ACCESS_GATHER;
    access->base = NULL;
    access->offsets = access->pointers;
}

/* The same as the pattern GATHER. */
static inline void access_some(struct access *access, uint32_t mask)
{
    if (access->pattern == ACCESS_GATHER)
        return;
    EACH_LANE(mask, lane, access->pointers[lane] = access_lane(access, lane));
    access_gather(access);
}

/* Each lane's bytes are so far behind those of the lane before. */
static inline void access_fixed(struct access *access, const char *first, size_t stride,
                                uint32_t mask)
{
    access->pattern = ACCESS_HALVES;
    access->stride = stride;
    access->base = (char *)(uintptr_t)first;
    access->second = access->base + 16 * stride;
    if (mask != PTX_FULL)
        access_some(access, mask);
}

/* Bytes as they are, which other threads may write. */
DEVICE_ACCESS static inline void access_copy(void *to, const void *from, unsigned bytes)
{
    memcpy(to, from, bytes);
}

/* At most 8 bytes of one lane, in a way that other threads of the CPU may use them at the same
 * time. */
static inline void access_move_word(void *to, const void *from, unsigned size)
{
#define MOVE(T)                                                                                    \
    __atomic_store_n(                                                                              \
        (T __attribute__((may_alias)) *)to,                                                        \
        __atomic_load_n((const T __attribute__((may_alias)) *)from, __ATOMIC_ACQUIRE),             \
        __ATOMIC_RELEASE)
    switch (size) {
    case 1:
        MOVE(uint8_t);
        break;
    case 2:
        MOVE(uint16_t);
        break;
    case 4:
        MOVE(uint32_t);
        break;
    default:
        MOVE(uint64_t);
    }
#undef MOVE
}

/* The same of 16, in two halves. */
static inline void access_move(void *to, const void *from, unsigned size)
{
    access_move_word(to, from, size);
    if (size == 16)
        access_move_word((char *)to + 8, (const char *)from + 8, 8);
}

/* Check `size` bytes of each lane of `mask` at its address plus the step's offset. */
void memory_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                   enum memory_space space, const reg64 *addresses, uint32_t size, bool write,
                   struct access *access);

char *memory_resolve(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                     enum ptx_space space, uint64_t address, uint32_t size, bool write);
/* The shared address in the block of a rank in the cluster that `address` is in another one. */
uint64_t memory_in_block(uint64_t address, unsigned rank);
bool memory_find(struct worker *worker, unsigned slot, uint64_t address, uint64_t size,
                 uint32_t flags, struct ptx_range **range);

static inline bool memory_holds(const struct ptx_range *range, uint64_t address, uint64_t size)
{
    const uint64_t at = address - range->base;

    return at < range->size && range->size - at >= size;
}

/* The memory that the step found before; false: it is not known, or has parts that are not there.
 */
OPS_INLINE bool memory_near(const struct ptx_warp *warp, const struct ptx_step *step,
                            enum memory_space space, uint64_t address, bool write,
                            struct ptx_range *span)
{
    const struct ptx_block *block = warp->block;

    if (space == MEMORY_SHARED || (space == MEMORY_GENERIC && address >= PTX_SHARED_WINDOW)) {
        *span = (struct ptx_range){.base = space == MEMORY_SHARED ? 0 : PTX_SHARED_WINDOW,
                                   .size = block->shared_size,
                                   .host = block->shared,
                                   .flags = PTX_RANGE_READ | PTX_RANGE_WRITE};
        return true;
    }
    *span = warp->state->worker->cache[step->how.memory.slot & (RANGE_CACHE - 1)];
    return !span->live && (span->flags & (write ? PTX_RANGE_WRITE : PTX_RANGE_READ));
}

/* What all lanes of a team are inside of, aligned; false: there is no such memory, or nobody
 * knows. */
OPS_INLINE bool memory_of_team(const struct ptx_team *team, const struct ptx_step *step,
                               enum memory_space space, const struct affine *at, uint64_t size,
                               bool write, struct ptx_range *span)
{
    const uint64_t offset = step->how.memory.offset;
    uint64_t first = at->base + offset;
    const struct ptx_warp *warp = &team->warps->warp;
    int64_t least = 0, greatest = 0;
    struct ptx_range *range;

    if (team->active != PTX_FULL || !affine_is_small(at) ||
        ((first | at->lane | at->half | at->warp) & (size - 1)) != 0)
        return false;
    if (team->masks) {
        affine_extremes_some(team, at, &least, &greatest);
        first = (uint64_t)least + offset;
    }
    if (!memory_near(warp, step, space, first, write, span) || !memory_holds(span, first, size)) {
        if (space == MEMORY_SHARED || (space == MEMORY_GENERIC && first >= PTX_SHARED_WINDOW) ||
            !memory_find(team->warps->worker, step->how.memory.slot, first, size,
                         write ? PTX_RANGE_WRITE : PTX_RANGE_READ, &range) ||
            range->live)
            return false;
        *span = *range;
    }
    if (!team->masks)
        affine_extremes(team, at, &least, &greatest);
    return memory_holds(span, (uint64_t)least + offset, (uint64_t)(greatest - least) + size);
}

/* --- atomic.c --- */
/* Atomics: operand or list: result, address, b, c. Sets the kind in *how. NULL: there is none of
 * this type. */
ptx_run *atomic_select(const struct ir_insn *insn, struct how_memory *how);
struct atomic_operation;
/* NULL: the type has no such operation. */
const struct atomic_operation *atomic_reduction(unsigned type, unsigned operation);
/* Combine the element at `from` into that at `at`, atomically; both are aligned. What was there. */
uint64_t atomic_apply(const struct atomic_operation *operation, void *at, const void *from,
                      bool global);
/* Write `wanted` if the place has *old still; else that is what it has, and false. */
bool atomic_replace(void *at, unsigned size, uint64_t *old, uint64_t wanted);

/* --- builtin.c --- */
/* What runs a built-in function: of a call's step. */
ptx_run *builtin_run(const struct ptx_builtin *builtin);

/* --- builtin_value.c --- */
/* Up to 8 bytes of an argument of a built-in function's call, which is in
 * the caller's frame, and its result. */
uint64_t builtin_value_argument(const struct ptx_warp *warp, const struct ptx_step *step,
                                unsigned index, unsigned lane);
void builtin_value_result(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                          uint64_t bits);

/* --- check.c --- What is wrong with a kernel and goes unnoticed otherwise: races, reads of what
 * nothing wrote, instructions for several lanes that name the wrong ones. Only in launches that are
 * checked. */
unsigned check_wanted(void); /* as ptx_checks has it */

/* False: no memory. */
bool check_begin(struct launch *launch);
void check_end(struct launch *launch);
bool check_block_begin(struct ptx_block *block);
void check_block_end(struct ptx_block *block);

/* Each lane of `mask` reads or writes `size` bytes, before it does so. */
void check_access(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                  enum memory_space space, uint32_t size, bool write, const struct access *access);
/* As check_access, of all lanes of a team at affine addresses. */
void check_team(struct ptx_team *team, const struct ptx_step *step, enum memory_space space,
                const struct affine *at, uint32_t size, bool write);
/* As check_access, of one lane, where nobody else is compared with. */
void check_touch(struct ptx_warp *warp, const struct ptx_step *step, const char *host,
                 uint64_t size, bool write);
/* A lane gets memory of the heap: what others did there is over. */
void check_allocated(struct ptx_warp *warp, uint64_t address, uint64_t size);
/* Lanes begin a function: nothing has written its local variables. */
void check_init_frame(struct ptx_warp_state *state, const struct ptx_frame *frame, uint32_t lanes);
/* What a warp did is before what those do that leave the barrier after it. */
void check_arrive(struct ptx_warp_state *state, unsigned barrier);
void check_leave(struct ptx_warp_state *state, unsigned barrier);
void check_open(struct ptx_block *block, unsigned barrier); /* all have left */
void check_meet(struct ptx_block *block); /* a barrier of all threads, which are one team */
/* A lane came to a barrier of the whole block by another instruction than others. */
void check_apart(struct ptx_warp *warp, unsigned lane, const struct ptx_step *step,
                 const char *why);
/* An instruction for the lanes that `members` names, one set for each lane. */
void check_sync(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                const reg32 *members);

/* --- heap.c --- The device's heap, for the engine: blocks, and which of its bytes kernels may
 * touch. */
#define HEAP_GRAIN 16 /* one count of live bytes each; no block shares one with another */

/* The address of a block, a multiple of `align`; 0: no room, or no power of two. */
uint64_t heap_allocate(struct ptx_heap *heap, uint64_t size, uint64_t align);
enum heap_answer { HEAP_FREED, HEAP_NO_BLOCK, HEAP_TWICE };
enum heap_answer heap_free(struct ptx_heap *heap, uint64_t address);
/* All of the heap as one range, if it contains the address. */
bool heap_range(const struct ptx_heap *heap, uint64_t address, struct ptx_range *range);

/* Are the bytes live? They are inside the heap, `at` bytes from its beginning. Without the heap's
 * lock: a kernel that frees what another thread uses has a race of its own. */
static inline bool heap_holds(const unsigned char *live, uint64_t at, uint64_t size)
{
    for (;;) {
        uint64_t inside = at % HEAP_GRAIN;
        unsigned have = __atomic_load_n(&live[at / HEAP_GRAIN], __ATOMIC_RELAXED);

        if (inside + size <= have)
            return true;
        if (have < HEAP_GRAIN)
            return false;
        at += HEAP_GRAIN - inside;
        size -= HEAP_GRAIN - inside;
    }
}

/* --- memory_async.c --- */
/* The bytes of a copy have come, and the mbarrier at the address counts them; false: a fault. */
bool memory_async_signal(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                         enum ptx_space space, uint64_t barrier, uint32_t bytes);
/* Is the launch one of clusters, which such an instruction needs? False: a fault. */
bool memory_async_clustered(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
ptx_run memory_async_copy, memory_async_mbarrier, memory_async_store, memory_async_store_bulk;

/* --- memory_bulk.c --- */
ptx_run memory_bulk_run;

/* --- memory_load.c --- */
unsigned memory_load_size(enum load_kind kind);
/* Of an entry's parameters at a fixed place, and of variables in the frame; operand: destination.
 */
ptx_run memory_load_param, memory_load_frame;
/* operand: destination, address; or of vectors, whose list is that, and in order. */
ptx_run memory_load_any;

/* --- memory_row.c --- Loads and stores of the usual sizes, of whole warps: compiled at several ISA
 * levels. */
struct row_runs {
    ptx_run *run;        /* in place of memory_load_any and memory_store_any; NULL: they serve it */
    affine_run *team;    /* at affine addresses; NULL: vectors of them are needed */
    affine_run *checked; /* the same in launches that are checked */
};
typedef struct row_runs memory_row_load_of(enum memory_space space, enum load_kind kind);
typedef struct row_runs memory_row_store_of(enum memory_space space, enum store_kind kind);
memory_row_load_of memory_row_load_base, memory_row_load_v3, memory_row_load_v4;
memory_row_store_of memory_row_store_base, memory_row_store_v3, memory_row_store_v4;

/* --- memory_store.c --- */
unsigned memory_store_size(enum store_kind kind);
ptx_run memory_store_frame; /* operand: value */
/* operand: address, value; otherwise as the loads. */
ptx_run memory_store_any;

/* --- memory_wgmma.c --- The products of a warpgroup: compiled at several ISA levels. */
ptx_run memory_wgmma_base, memory_wgmma_v3, memory_wgmma_v4;

/* --- memory_wmma.c --- */
/* Operands: of a load the registers, then the address; of a store the address first; at the end the
 * stride, where the step has one. */
ptx_run memory_wmma_load, memory_wmma_store;
/* Operands: of a load the registers, then the addresses; of a store the addresses first. */
ptx_run memory_wmma_matrix_load, memory_wmma_matrix_store;

/* --- printf.c --- */
/* The built-in functions vprintf and __assertfail. */
ptx_run printf_run, printf_assertfail;

/* --- tensor.c --- */
enum tensor_way { TENSOR_LOAD, TENSOR_STORE, TENSOR_REDUCE, TENSOR_PREFETCH };
/* What is at the front of a step's list; coordinates and offsets follow. */
enum tensor_operand {
    TENSOR_MAP,
    TENSOR_TILE,    /* in shared memory */
    TENSOR_BARRIER, /* of a load */
    TENSOR_BLOCKS,  /* of a multicast: a bit for each block of the cluster */
    TENSOR_COORDINATES
};

enum tensor_way tensor_way_of(const struct ir_insn *insn);
ptx_run tensor_copy;

/* --- tensor_map.c --- The 128 bytes of a map, as kernels reach them. ptx.h has the rest. */
/* The bytes at an address; NULL after a fault. */
char *tensor_map_at(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                    enum ptx_space space, uint64_t address, bool write);

ptx_run tensor_map_replace, tensor_map_copy; /* tensormap.replace, .cp_fenceproxy */

/* --- tensor_walk.c --- The rows of a tile: neighbours along a tensor's innermost dimension, which
 * are neighbours in memory. A tile of im2col has a row of channels for each pixel.
 *
 * An interleaved tensor is walked as one of a dimension more. The innermost one is a pixel's slice,
 * of 16 or 32 bytes; the map's own follow, first the pixels that are neighbours in memory. The last
 * but one is of slices, of which a tile has one. */
enum { TENSOR_WALK_RANKS = PTX_TENSOR_RANKS + 1 };

struct tensor_walk {
    const struct ptx_tensor *tensor;
    unsigned rank;
    uint32_t rows, elements; /* in the tile, and in a row */
    int64_t count;           /* of elements in the tensor's innermost dimension */
    struct tensor_dimension {
        int64_t size;        /* in the tensor */
        uint64_t stride;     /* in bytes, of all but the innermost */
        int64_t at;          /* of the row: the coordinates of its first element */
        int64_t first, last; /* where the dimension begins again, and behind which it does */
        int64_t step;
        int64_t shift; /* im2col: from a pixel to the one that is read */
    } dimensions[TENSOR_WALK_RANKS];
};

struct tensor_row {
    uint64_t address;    /* of the elements that are in the tensor */
    uint32_t begin, end; /* which these are; equal: none */
};

void tensor_walk_begin(struct tensor_walk *walk, const struct ptx_tensor *tensor,
                       const int32_t *coordinates, const uint16_t *offsets);
/* Of the first `limit` elements of the innermost dimension. */
struct tensor_row tensor_walk_row(const struct tensor_walk *walk, int64_t limit);
bool tensor_walk_negative(const struct tensor_walk *walk); /* is a coordinate of the row? */
/* im2col: whether the first pixel is in the box of pixels, and whether that is in the tensor. */
bool tensor_walk_begins_inside(const struct tensor_walk *walk);
bool tensor_walk_stays_inside(const struct tensor_walk *walk);
void tensor_walk_next(struct tensor_walk *walk);

#endif
