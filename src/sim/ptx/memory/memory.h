/* SPDX-License-Identifier: MIT */
/* Run functions that touch memory, by what they load or store. */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_H

#include "ptx/ops/lanes.h"
#include "ptx/ops/worker_state.h"
#include "ptx/ptx.h"

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
#define LOAD(kind, memory, cast, shape) LOAD_##kind,
    LOAD_KINDS(LOAD)
#undef LOAD
        LOAD_128,
    LOAD_KIND_COUNT
};
enum store_kind {
#define STORE(kind, memory, shape) STORE_##kind,
    STORE_KINDS(STORE)
#undef STORE
        STORE_128,
    STORE_KIND_COUNT
};

/* The slot of a step's own, as long as there are some. */
static inline uint8_t memory_slot(uint32_t step)
{
    return step & (RANGE_CACHE - 1);
}

/* What a step that accesses memory carries, but its kind. */
static inline struct how_memory memory_how(uint32_t step, enum memory_space space, int64_t offset)
{
    return (struct how_memory){
        .slot = memory_slot(step), .space = (uint8_t)space, .offset = (uint64_t)offset};
}

/* The same of copies, which have two addresses. */
static inline struct how_memory memory_how_copy(uint32_t step, int64_t to_offset,
                                                int64_t from_offset)
{
    struct how_memory how = memory_how(step, MEMORY_GLOBAL, 0);

    how.to_offset = (int32_t)to_offset;
    how.from_offset = (int32_t)from_offset;
    return how;
}

/* Where each lane's bytes are: at base + offsets[lane] for the lanes of the mask. */
struct access {
    enum { ACCESS_FAILED, ACCESS_ROW, ACCESS_HALVES, ACCESS_GATHER } pattern;
    char *base;            /* ROW: lane 0's; GATHER: what offsets count from */
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

/* The same as the pattern GATHER. */
static inline void access_gather(struct access *access)
{
    if (access->pattern == ACCESS_GATHER)
        return;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        access->pointers[lane] = access_lane(access, lane);
    access->pattern = ACCESS_GATHER;
    access->base = NULL;
    access->offsets = access->pointers;
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

#endif
