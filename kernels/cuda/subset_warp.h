/* SPDX-License-Identifier: MIT */
/* What the threads of a warp or of a block do together. cushim-embed raises the PTX's .version and
 * .target to what these instructions need. */
#ifndef CUSHIM_SUBSET_WARP_H
#define CUSHIM_SUBSET_WARP_H

#define CUSHIM_SHUFFLE(name, instruction, least)                                                   \
    namespace cushim_                                                                              \
    {                                                                                              \
    CUSHIM_INNER u32 shuffle_##name(unsigned mask, u32 value, int lane, int width)                 \
    {                                                                                              \
        u32 got;                                                                                   \
        asm volatile("shfl.sync." instruction ".b32 %0, %1, %2, %3, %4;"                           \
                     : "=r"(got)                                                                   \
                     : "r"(value), "r"(lane), "r"(((32 - width) << 8) | (least)), "r"(mask));      \
        return got;                                                                                \
    }                                                                                              \
    }                                                                                              \
    template <class T>                                                                             \
    static inline __device__ T __shfl_##name##sync(unsigned mask, T value, int lane,               \
                                                   int width = 32)                                 \
    {                                                                                              \
        static_assert(__is_arithmetic(T) && (sizeof(T) == 4 || sizeof(T) == 8),                    \
                      "a shuffle takes a number of 32 or 64 bits");                                \
        unsigned words[sizeof(T) / 4];                                                             \
        __builtin_memcpy(words, &value, sizeof value);                                             \
        for (unsigned i = 0; i < sizeof(T) / 4; i++)                                               \
            words[i] = cushim_::shuffle_##name(mask, words[i], lane, width);                       \
        __builtin_memcpy(&value, words, sizeof value);                                             \
        return value;                                                                              \
    }
CUSHIM_SHUFFLE(, "idx", 31)
CUSHIM_SHUFFLE(up_, "up", 0)
CUSHIM_SHUFFLE(down_, "down", 31)
CUSHIM_SHUFFLE(xor_, "bfly", 31)

static inline __device__ unsigned __ballot_sync(unsigned mask, int predicate)
{
    unsigned votes;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(votes)
                 : "r"(predicate), "r"(mask));
    return votes;
}

#define CUSHIM_VOTE(name, instruction)                                                             \
    static inline __device__ int name(unsigned mask, int predicate)                                \
    {                                                                                              \
        int result;                                                                                \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync." instruction             \
                     ".pred q, p, %2; selp.s32 %0, 1, 0, q; }"                                     \
                     : "=r"(result)                                                                \
                     : "r"(predicate), "r"(mask));                                                 \
        return result;                                                                             \
    }
CUSHIM_VOTE(__any_sync, "any")
CUSHIM_VOTE(__all_sync, "all")
CUSHIM_VOTE(__uni_sync, "uni")

static inline __device__ unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

static inline __device__ void __syncwarp(unsigned mask = 0xffffffff)
{
    asm volatile("bar.warp.sync %0;" : : "r"(mask) : "memory");
}

static inline __device__ unsigned __match_any_sync(unsigned mask, unsigned value)
{
    unsigned same;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(value), "r"(mask));
    return same;
}

#define CUSHIM_REDUCE(T, name, instruction)                                                        \
    static inline __device__ T name(unsigned mask, T value)                                        \
    {                                                                                              \
        T result;                                                                                  \
        asm volatile("redux.sync." instruction " %0, %1, %2;"                                      \
                     : "=r"(result)                                                                \
                     : "r"(value), "r"(mask));                                                     \
        return result;                                                                             \
    }
CUSHIM_REDUCE(int, __reduce_add_sync, "add.s32")
CUSHIM_REDUCE(unsigned, __reduce_add_sync, "add.u32")
CUSHIM_REDUCE(int, __reduce_min_sync, "min.s32")
CUSHIM_REDUCE(unsigned, __reduce_min_sync, "min.u32")
CUSHIM_REDUCE(int, __reduce_max_sync, "max.s32")
CUSHIM_REDUCE(unsigned, __reduce_max_sync, "max.u32")
CUSHIM_REDUCE(unsigned, __reduce_and_sync, "and.b32")
CUSHIM_REDUCE(unsigned, __reduce_or_sync, "or.b32")
CUSHIM_REDUCE(unsigned, __reduce_xor_sync, "xor.b32")

/* Barriers and fences are assembler: of clang 14's own it holds that they change no shared variable
 * whose address nobody takes, and so it reads one before them. */
static inline __device__ void cushim_syncthreads()
{
    asm volatile("bar.sync 0;" : : : "memory");
}
#define __syncthreads cushim_syncthreads

static inline __device__ int __syncthreads_count(int predicate)
{
    int count;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %1, 0;\nbar.red.popc.u32 %0, 0, p;\n}"
                 : "=r"(count)
                 : "r"(predicate)
                 : "memory");
    return count;
}

#define CUSHIM_BARRIER(name, operation)                                                            \
    static inline __device__ int name(int predicate)                                               \
    {                                                                                              \
        int result;                                                                                \
        asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %1, 0;\n"                                \
                     "bar.red." operation ".pred q, 0, p;\nselp.s32 %0, 1, 0, q;\n}"               \
                     : "=r"(result)                                                                \
                     : "r"(predicate)                                                              \
                     : "memory");                                                                  \
        return result;                                                                             \
    }
CUSHIM_BARRIER(__syncthreads_and, "and")
CUSHIM_BARRIER(__syncthreads_or, "or")

#endif
