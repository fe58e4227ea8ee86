/* SPDX-License-Identifier: MIT */
/* What the files of the checks share. Memory is looked at in lines of 64 bytes, which are what half
 * a warp mostly uses at once: then one entry is for all of the line. A line that is used otherwise
 * is split into cells. */
#ifndef CUSHIM_SIM_PTX_MEMORY_CHECK_STATE_H
#define CUSHIM_SIM_PTX_MEMORY_CHECK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/memory/memory.h"

#define CHECK_WARPS 32
#define CHECK_CELL 4                          /* bytes */
#define CHECK_LINE 64                         /* bytes */
#define CHECK_CELLS (CHECK_LINE / CHECK_CELL) /* of a line */
#define CHECK_LINES 64                        /* of a page */
#define CHECK_PAGE ((uintptr_t)CHECK_LINE * CHECK_LINES)
#define CHECK_BUCKETS 16384
#define CHECK_MEETINGS 1024
#define CHECK_REPORTS 16 /* of a launch */

struct check_seen {  /* the last access of a kind: to a cell, or to all of a line */
    uint32_t serial; /* of the access; 0: none */
    uint32_t clock;  /* the warp's own */
    uint32_t block;
    uint16_t thread; /* of a line: to its first cell */
    uint8_t bytes;   /* of each cell, a bit each */
    bool atomic : 1;
    uint8_t shift : 4; /* of a line: how many cells are a thread's, as a power of two */
    const struct ptx_step *step;
};

struct check_cell {
    struct check_seen write, reads[2]; /* the reads of two threads */
};

struct check_line {
    struct check_cell whole;
    struct check_cell *cells; /* NULL: none so far */
    uint64_t written;         /* of shared memory: bytes, a bit each */
    uint32_t written_in;      /* when the block of it began, in accesses */
    uint32_t newest;          /* access */
    bool split;               /* the cells count, not the whole */
};

struct check_page {
    uintptr_t number;
    struct check_page *next;
    struct check_line lines[CHECK_LINES];
};

struct check_meeting { /* what atomic operations in one cell of a block told */
    uintptr_t cell;
    uint64_t block;
    uint32_t launch; /* its first access */
    struct check_meeting *next;
    uint32_t clocks[CHECK_WARPS];
};

struct check {
    unsigned which;
    struct check_page *buckets[CHECK_BUCKETS], *last;
    struct check_meeting *meetings[CHECK_MEETINGS];
    uint32_t pages, splits;
    uint32_t serial;       /* of the last access; it goes on from launch to launch */
    uint32_t first;        /* of the launch: what is older is of another one */
    struct check *next;    /* that no launch has */
    uint32_t *last_atomic; /* access of each block; NULL: too many blocks */
    uint32_t reports;
    struct {
        const struct ptx_step *one, *other;
    } reported[CHECK_REPORTS];
};

struct check_block {
    uint32_t began;                            /* the serial at its begin */
    uint32_t clocks[CHECK_WARPS][CHECK_WARPS]; /* what a warp knows of each */
    uint32_t barriers[BARRIERS + 1][CHECK_WARPS];
    uint32_t atomics[CHECK_WARPS]; /* of mbarriers, all together */
};

struct check_doing { /* an access of a warp */
    const struct ptx_step *step;
    const struct access *access;
    uint32_t mask, size, serial;
    bool write, atomic, store;
    bool shared; /* the block's own, else global memory */
};

static inline void check_join(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < CHECK_WARPS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}
/* Tell what the warp has done, and begin anew. */
static inline void check_tell(struct ptx_block *block, unsigned warp, uint32_t *to)
{
    check_join(to, block->check->clocks[warp]);
    block->check->clocks[warp][warp]++;
}

/* A sentence about `lane`, and that it was said about the two steps. */
void check_note(struct ptx_warp *warp, unsigned lane, const struct ptx_step *step,
                const struct ptx_step *other, const char *kind, const char *what);
/* "thread (1,0,0), line 26, ld" */
void check_note_place(const struct launch *launch, uint64_t block, uint32_t thread,
                      const struct ptx_step *step, bool with_block, char *text, size_t size);

/* The line of an address, where what is older than `since` is forgotten; NULL: no memory for it. */
struct check_line *check_race_line(struct check *check, uintptr_t at, uint32_t since);
void check_race(struct ptx_warp *warp, const struct check_doing *now);
void check_race_free(struct check *check);

void check_init_start(bool on);
/* Was all of it written? Memory that ptx_memory_begin does not know was. */
bool check_init_is_written(uintptr_t host, uint64_t size);

#endif
