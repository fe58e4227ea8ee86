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
#define CHECK_CHUNK 512                       /* bytes */
#define CHECK_PAGE ((uintptr_t)CHECK_LINE * CHECK_LINES)
#define CHECK_BUCKETS 65536
#define CHECK_RECENT 64
#define CHECK_MEETINGS 65536
#define CHECK_REPORTS 16 /* of a launch */

struct check_seen {  /* the last access of a kind: to a cell, or to all of a line */
    uint32_t serial; /* of the access; 0: none */
    uint32_t block;
    uint16_t thread; /* of a line: to its first cell */
    uint8_t bytes;   /* of each cell, a bit each */
    bool atomic : 1;
    uint8_t spread : 2; /* how many threads used a cell, as a power of two */
    uint8_t shift : 4;  /* of a line: how many cells are a thread's, as a power of two */
    const struct ptx_step *step;
};

struct check_cell {
    struct check_seen write, reads[2]; /* the reads of two threads */
};

struct check_line {
    struct check_cell whole;
    struct check_cell *cells; /* NULL: none so far */
    bool split;               /* the cells count, not the whole */
    bool fine;                /* of which each is one byte */
    bool large;               /* there is room for that */
};

/* A line or a chunk that the same threads used in one way only, each its own part of all of it. */
struct check_quick {
    uint32_t serial; /* of the newest access */
    uint32_t block;
    uint64_t what; /* CHECK_WHAT, or CHECK_LINE_COUNTS: the page's line counts, or the chunk's */
};
/* Step, thread of the first byte, bytes of each as a power of two. */
#define CHECK_WHAT(step, thread, shift, write)                                                     \
    ((uint64_t)(uintptr_t)(step) << 16 | (uint64_t)(thread) << 6 | (uint64_t)(shift) << 2 |        \
     (uint64_t)(write) << 1)
#define CHECK_LINE_COUNTS 1
#define CHECK_WHAT_WRITE 2

struct check_page {
    uintptr_t number;
    struct check_page *next;
    struct check_line *lines;  /* NULL: none so far */
    struct check_quick *older; /* as lines: if both are reads, the one before */
    struct check_quick *quick; /* as chunks; NULL: none so far */
    struct check_quick chunks[CHECK_PAGE / CHECK_CHUNK];
};

/* A line of a block's shared memory: what its accesses since the last barrier of all were. */
struct check_near {
    uint64_t written; /* since the block began: bytes, a bit each */
    uint64_t stored;  /* by those whom the key names */
    uint64_t others;  /* only read, by whomever; all other bytes only those used */
    uint32_t touched; /* newest access, or one before it since the barrier */
    uint32_t key;     /* which thread has which byte; 0: nobody has any */
};
#define CHECK_NEAR_ATOMIC UINT32_C(0x3FFFFFFF) /* as a key: all accesses are atomic */
#define CHECK_NEAR_EXACT UINT32_C(0x80000000)  /* check_race.c knows of all accesses */

#define CHECK_ARRIVES UINT32_C(0x80000000)

struct check_lanes { /* an atomic access of a warp to shared memory */
    uint32_t mask, at[PTX_LANES];
};

/* Accesses of all lanes of neighbouring warps: lane i of warp w is at base + (i % 16) * lane +
 * (i / 16) * half + (w - first) * warp. */
struct check_rows {
    const struct ptx_step *step;
    uintptr_t base;
    int64_t lane, half, warp;
    uint32_t first, count; /* warps; a count of 0: one warp, at the lanes' own places */
    uint32_t lanes;        /* then: which of the block's lists, or CHECK_ARRIVES and the barrier */
    uint32_t serial;
    uint32_t mask; /* lanes: all of several warps */
    uint8_t size;
    bool write;
};

struct check_meeting { /* what atomic operations in one cell of a block told */
    uintptr_t cell;
    uint64_t block;
    uint32_t launch; /* its first access */
    struct check_meeting *next;
    uint32_t known[CHECK_WARPS];
};

struct check_bits { /* of a block of memory: which bytes are written */
    uintptr_t first;
    uint64_t size;
    uint64_t *bits;
};

struct check {
    unsigned which;
    unsigned generation; /* of what `memory` has */
    struct check_bits memory[CHECK_RECENT];
    struct check_page *buckets[CHECK_BUCKETS], *recent[CHECK_RECENT];
    struct check_meeting *meetings[CHECK_MEETINGS];
    uint32_t pages, shared, lined, splits; /* pages with older, with lines; lines with cells */
    uint32_t met;                          /* meetings */
    uint32_t serial;       /* of the last access; it goes on from launch to launch */
    uint32_t first;        /* of the launch: what is older is of another one */
    uint32_t swept;        /* the last launch that gave up what older ones had */
    struct check *next;    /* that no launch has */
    uint32_t *last_atomic; /* access of each block; NULL: too many blocks */
    uint32_t reports;
    struct {
        const struct step_source *one, *other;
    } reported[CHECK_REPORTS];
};

/* Of CHECK_RECENT; buffers that are powers of two apart have different ones. */
static inline unsigned check_slot(uintptr_t page)
{
    return (unsigned)(page * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

struct check_block {
    uint32_t began;                           /* the serial at its begin */
    uint32_t since;                           /* and at the last barrier of all, who know it */
    uint32_t known[CHECK_WARPS][CHECK_WARPS]; /* the newest access of each that a warp knows */
    uint32_t barriers[BARRIERS + 1][CHECK_WARPS];
    uint32_t told;                 /* of these, those that know anything, a bit each */
    uint32_t atomics[CHECK_WARPS]; /* of mbarriers, all together */
    uint64_t *locals[CHECK_WARPS]; /* of each warp's local memory; NULL: none so far */
    bool quiet;                    /* since then there were only reads, all in the log alone */
    uint32_t full;                 /* lines of which all is written, from the first on */
    struct check_rows *log;        /* what lines stand for */
    uint32_t logged, log_size;
    struct check_lanes *lists; /* of atomic accesses in the log */
    uint32_t listed, list_size;
    struct check_near lines[];
};

struct check_doing { /* an access of a warp */
    const struct ptx_step *step;
    const struct access *access;
    uint32_t mask, size, serial;
    bool read, write, atomic, store;
    bool replay; /* nothing is compared */
    bool shared; /* the block's own, else global memory */
};

/* Those of the next bytes: all but the thread is the same. */
static inline struct check_quick check_quick_next(struct check_quick quick, uint32_t bytes)
{
    quick.what += (uint64_t)(bytes >> (quick.what >> 2 & 15)) << 6;
    return quick;
}
static inline bool check_quick_alike(const struct check_quick *one, const struct check_quick *other)
{
    return !((one->what ^ other->what) & 0xFFFF) && one->block == other->block;
}

static inline void check_join(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < CHECK_WARPS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}
/* Tell what the warp has done so far. */
static inline void check_tell(struct ptx_block *block, unsigned warp, uint32_t *to)
{
    block->check->known[warp][warp] = block->launch->check->serial;
    check_join(to, block->check->known[warp]);
}

/* The bits of a word, or of a line, that belong to bytes from `at` to `end`. */
static inline uint64_t check_bits_of(uint64_t at, uint64_t end)
{
    const uint64_t skipped = at % CHECK_LINE, left = end - at;
    const uint64_t here = left < CHECK_LINE - skipped ? left : CHECK_LINE - skipped;

    return UINT64_MAX >> (CHECK_LINE - here) << skipped;
}

/* A sentence about `lane`, and that it was said about the two steps. */
void check_note(struct ptx_warp *warp, unsigned lane, const struct ptx_step *step,
                const struct ptx_step *other, const char *kind, const char *what);
/* "thread (1,0,0), line 26, ld" */
void check_note_place(const struct launch *launch, uint64_t block, uint32_t thread,
                      const struct ptx_step *step, bool with_block, char *text, size_t size);

/* --- check_race.c --- */
void check_race(struct ptx_warp *warp, const struct check_doing *now);
/* It gets to know of all that is logged. */
void check_race_replay(struct ptx_block *block);
/* What atomic accesses told is known from now on. */
void check_race_order(struct ptx_block *block);

/* --- check_line.c --- */
static inline bool check_seen_alike(const struct check_seen *one, const struct check_seen *other)
{
    return one->thread == other->thread && one->block == other->block &&
           one->shift == other->shift && one->spread == other->spread;
}
void check_line_free(struct check *check);
/* What was in global memory is over. */
void check_line_forget(struct check *check, uintptr_t at, uint64_t size);
/* The page of an address; NULL: no memory for it. */
struct check_page *check_line_page(struct check *check, uintptr_t at);
/* The entry for the line of an address alone; NULL: no memory for it. */
struct check_quick *check_line_quick(struct check *check, struct check_page *page, uintptr_t at);
/* Its line, where what is older than `since` is forgotten; NULL: no memory for it. */
struct check_line *check_line_of(struct check *check, uintptr_t at, uint32_t since);
/* Its cell in a line that is split from now on; NULL: no memory. */
struct check_cell *check_line_cell(struct check *check, struct check_line *line, uintptr_t at);
/* Each byte is a cell from now on, if there is memory. */
void check_line_refine(struct check *check, struct check_line *line);
void check_line_keep(const struct check *check, struct check_cell *cell,
                     const struct check_seen *seen, bool write);
/* All of a line of global memory is read; false: it was written, or used irregularly. */
bool check_line_read(struct check *check, struct check_page *page, uintptr_t at,
                     struct check_quick *quick, const struct check_quick *now);

/* --- check_segment.c --- */
/* Can the access be in no one's way? Then the line knows of it. The key: which thread has which
 * byte, 0 if they share them. */
static inline bool check_segment_line(struct check_near *line, uint32_t since, uint32_t serial,
                                      uint32_t key, uint64_t bits, bool write)
{
    if (line->touched < since) {
        line->stored = line->others = 0;
        line->key = 0;
    }
    if (!line->key)
        line->key = key;
    if (line->key == key && key) {
        if (write && line->others & bits)
            return false;
        line->stored |= write ? bits : 0;
    } else {
        if (write || line->key & CHECK_NEAR_EXACT || line->stored & bits)
            return false;
        line->others |= bits;
    }
    line->touched = serial;
    return true;
}
/* Bytes without gaps. */
struct check_segments {
    uint32_t count;
    uint32_t step; /* half warps from one to the next */
    uint32_t lane; /* of the first byte */
    uint64_t size;
    uintptr_t first[2 * CHECK_WARPS];
    bool own; /* each lane has bytes of its own */
};
/* False: lanes are neither neighbours nor at one place. */
bool check_segment_of(const struct check_rows *rows, struct check_segments *segments);
/* The thread of the first byte of a segment. */
uint32_t check_segment_thread(const struct check_rows *rows, const struct check_segments *segments,
                              uint32_t segment);
/* Were all of these bytes of shared memory written? Now they are, if it is a write. */
bool check_segment_written(struct ptx_block *block, uintptr_t first, uint64_t size, bool write);
/* The access, in the lines of its segments; false: it may be in someone's way. */
bool check_segment_pass(struct ptx_block *block, const struct check_rows *rows,
                        const struct check_segments *segments);
/* Lines know of all in the log from now on. */
void check_segment_settle(struct ptx_block *block);

/* --- check_rows.c --- */
/* Which of the checks are left to be made lane by lane. */
unsigned check_rows(struct ptx_block *block, const struct check_rows *rows, bool shared,
                    unsigned which);
/* The same of an atomic access to shared memory. */
unsigned check_rows_atomic(struct ptx_warp *warp, const struct check_doing *now, unsigned which);
/* A warp comes to a barrier: for the log, if atomic accesses are in it. False: now. */
bool check_rows_arrive(struct ptx_block *block, unsigned warp, unsigned barrier);

/* --- check.c --- */
/* All of the rows, whatever they are. */
void check_each(struct ptx_block *block, const struct check_rows *rows);

/* --- check_init.c --- */
void check_init_start(bool on);
/* While a launch is between the two, what is known of memory stays, be it freed. */
void check_init_hold(void);
void check_init_release(void);
/* Was all of it written? Memory that ptx_memory_begin does not know was. */
bool check_init_read(struct check *check, uintptr_t host, uint64_t size);
void check_init_write(struct check *check, uintptr_t host, uint64_t size);

/* Was any of these bytes of a lane's local memory written? Now all are, if it is a write. What is
 * no local memory was. */
bool check_init_local(struct ptx_warp *warp, uintptr_t host, uint64_t size, bool write);

#endif
