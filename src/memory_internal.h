/* SPDX-License-Identifier: MIT */
/* What cushim knows of memory, and the checks made of it; internal to the library. */
#ifndef CUSHIM_SRC_MEMORY_INTERNAL_H
#define CUSHIM_SRC_MEMORY_INTERNAL_H

#include <cushim/memory.h>

#include "helper.h"

/* By which helper memory came; bits, to say which kinds a helper frees. */
enum cushim_memory_kind {
    CUSHIM_MEMORY_PLAIN = 1 << 0,
    CUSHIM_MEMORY_MANAGED = 1 << 1,
    CUSHIM_MEMORY_POOLED = 1 << 2,
    CUSHIM_MEMORY_GROWING = 1 << 3,
    CUSHIM_MEMORY_HOST = 1 << 4,
    CUSHIM_MEMORY_REGISTERED = 1 << 5,
    CUSHIM_MEMORY_ARRAY = 1 << 6,
};
#define CUSHIM_MEMORY_DEVICE (CUSHIM_MEMORY_PLAIN | CUSHIM_MEMORY_MANAGED | CUSHIM_MEMORY_POOLED)

/* One allocation. */
struct cushim_range {
    uintptr_t base; /* of an array: its handle */
    size_t size;    /* of an array: 1 */
    enum cushim_memory_kind kind;
    unsigned long long id; /* the driver's, for this allocation; 0: not known. Of an array: bytes */
};

enum cushim_known { CUSHIM_RANGE_UNKNOWN, CUSHIM_RANGE_LIVE, CUSHIM_RANGE_FREED };

/* ---- memory_track.c: the allocations of all instances */

/* Remember an allocation; forgets what overlaps it, which must be gone. Want of memory is no
 * error: what is not remembered is not checked. */
void cushim_track_add(const struct cushim_api *cu, const struct cushim_range *range);

/* The allocation that an address lies in. Costs about 15 ns, 50 among a thousand; waits only for a
 * writer that lost its processor. */
enum cushim_known cushim_track_find(const struct cushim_api *cu, uintptr_t address,
                                    struct cushim_range *range);

/* Mark a live allocation as freed; false where it is not live (any more). The last few that were
 * freed are remembered. */
bool cushim_track_free(const struct cushim_api *cu, uintptr_t base);

/* Undo cushim_track_free. */
void cushim_track_restore(const struct cushim_api *cu, uintptr_t base);

/* Change the size of a live allocation. */
void cushim_track_resize(const struct cushim_api *cu, uintptr_t base, size_t size);

/* Forget an allocation, live or freed. */
void cushim_track_drop(const struct cushim_api *cu, uintptr_t base);

/* Forget all that an instance had: it is being closed, and its address may serve another. */
void cushim_track_forget(const struct cushim_api *cu);

/* ---- memory_array.c */

/* What an array has: bytes in a row, rows, planes. */
struct cushim_extent {
    size_t row, rows, planes, bytes;
    bool known; /* false: a format in blocks or planes, and row and bytes are 0 */
};

/* Measure an array; false where its size overflows. */
bool cushim_array_measure(const CUDA_ARRAY3D_DESCRIPTOR *shape, struct cushim_extent *extent);

/* ---- memory_check.c */

/* Refuse a pointer that is NULL. */
CUresult cushim_require(const void *pointer, const char *helper, const char *argument);

/* a * b, a + b; false where that overflows. */
bool cushim_multiply(size_t a, size_t b, size_t *product);
bool cushim_add(size_t a, size_t b, size_t *sum);

/* Refuse what is 0, wraps around, passes the end of an allocation or lies in a freed one. */
CUresult cushim_check_range(const struct cushim_api *cu, const char *helper, const char *argument,
                            uintptr_t address, size_t bytes);

/* A box in an array: bytes along x, rows along y, planes along z. */
struct cushim_box {
    size_t x, y, z, width, height, depth;
};

/* Refuse an array that is NULL or was destroyed, and a box that passes its end. */
CUresult cushim_check_array(const struct cushim_api *cu, const char *helper, const char *argument,
                            CUarray array, const struct cushim_box *box);

/* Remember memory that a driver's call just gave. */
void cushim_note_memory(const struct cushim_api *cu, uintptr_t address, size_t bytes,
                        enum cushim_memory_kind kind);

/* A failed allocation: adds to the last error how much was asked for and how much is free. */
CUresult cushim_not_allocated(const struct cushim_api *cu, CUresult code, size_t bytes);

/*
 * Before a driver's call that frees: refuse what was freed before, lies within an allocation or is
 * none of `kinds`; else mark it as freed.
 *
 * @param taken  written on success; its kind is 0 where cushim does not know the address
 */
CUresult cushim_take(const struct cushim_api *cu, const char *helper, const char *argument,
                     uintptr_t address, unsigned int kinds, struct cushim_range *taken);

/* After it: puts back the mark where the driver refused and has the memory still. */
CUresult cushim_taken(const struct cushim_api *cu, const struct cushim_range *taken, CUresult code);

#endif
