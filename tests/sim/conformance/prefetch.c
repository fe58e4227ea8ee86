/* SPDX-License-Identifier: MIT */
/* Lists of ranges of managed memory: moved, given up, or both. */
#include "conform.h"

enum { PIECE = 2 << 20, COUNT = 3 };

enum which { MOVE, MOVE_DISCARDED, DISCARD };

static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};

struct list {
    CUstream stream;
    CUdeviceptr addresses[COUNT];
    size_t sizes[COUNT], count;
    CUmemLocation places[COUNT];
    size_t indices[COUNT], place_count;
    unsigned long long flags;
};

static struct list list_of(void)
{
    struct list l = {.stream = conform_stream(),
                     .count = COUNT,
                     .places = {here, host, here},
                     .indices = {0, 2, 3},
                     .place_count = 2};
    for (int i = 0; i < COUNT; i++) {
        MUST(cu->cuMemAllocManaged(&l.addresses[i], PIECE, CU_MEM_ATTACH_GLOBAL));
        MUST(cu->cuMemsetD8(l.addresses[i], 1, PIECE));
        l.sizes[i] = PIECE;
    }
    MUST(cu->cuCtxSynchronize());
    return l;
}

static CUresult submit(enum which which, struct list *l)
{
    if (which == DISCARD)
        return cu->cuMemDiscardBatchAsync(l->addresses, l->sizes, l->count, l->flags, l->stream);
    return which == MOVE
               ? cu->cuMemPrefetchBatchAsync(l->addresses, l->sizes, l->count, l->places,
                                             l->indices, l->place_count, l->flags, l->stream)
               : cu->cuMemDiscardAndPrefetchBatchAsync(l->addresses, l->sizes, l->count, l->places,
                                                       l->indices, l->place_count, l->flags,
                                                       l->stream);
}

/* Where each range was told to go to last. */
static void tell(struct list *l)
{
    EACH(cu->cuStreamSynchronize(l->stream), "wait");
    for (int i = 0; i < COUNT; i++) {
        int place = 77;
        MUST(cu->cuMemRangeGetAttribute(&place, sizeof place,
                                        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                        l->addresses[i], PIECE));
        VALUE("%d", place);
    }
}

static void good(enum which which)
{
    struct list l = list_of();
    EACH(submit(which, &l), "two places");
    tell(&l);
    l.place_count = 1;
    l.count = 2;
    EACH(submit(which, &l), "one place, two ranges");
    tell(&l);
    l.count = 3;
    l.place_count = 3;
    l.indices[1] = 1;
    l.indices[2] = 2;
    EACH(submit(which, &l), "three places");
    tell(&l);
    struct list parts = l;
    parts.addresses[0] += 65536;
    parts.sizes[0] = 65536;
    parts.sizes[1] = 4096;
    parts.sizes[2] = 1;
    EACH(submit(which, &parts), "parts");
    tell(&l);
}

static void places(enum which which)
{
    static const CUmemLocation tried[] = {
        {.type = CU_MEM_LOCATION_TYPE_INVALID},
        {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 7},
        {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = -1},
        {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 5},
        {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 0},
        {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 99},
        {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = -1},
        {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, .id = 0},
        {.type = (CUmemLocationType)9},
    };
    struct list l = list_of();
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        l.places[0] = here;
        l.places[1] = tried[i];
        EACH(submit(which, &l), "place %d,%d", (int)tried[i].type, tried[i].id);
        tell(&l);
    }
}

/* One thing wrong at a time; nothing is done for the ranges before it. */
static void misuse(enum which which)
{
    struct list l = list_of(), bad = l;
#define WRONG(what, change)                                                                        \
    do {                                                                                           \
        bad = l;                                                                                   \
        change;                                                                                    \
        EACH(submit(which, &bad), what);                                                           \
    } while (0)
    WRONG("count 0", bad.count = 0);
    WRONG("flags", bad.flags = 1);
    WRONG("size 0", bad.sizes[1] = 0);
    WRONG("no address", bad.addresses[1] = 0);
    WRONG("foreign address", bad.addresses[1] = 4096);
    WRONG("beyond the end", bad.sizes[1] = 1 << 30);
    WRONG("device memory", bad.addresses[1] = conform_memory(PIECE));
    if (which != DISCARD) {
        WRONG("no places", bad.place_count = 0);
        WRONG("more places than ranges", bad.place_count = 4);
        WRONG("first index 1", bad.indices[0] = 1);
        WRONG("equal indices", bad.indices[1] = 0);
        WRONG("index beyond", bad.indices[1] = 3);
        WRONG("falling indices", (bad.place_count = 3, bad.indices[1] = 2, bad.indices[2] = 1));
    }
    tell(&l);
}

static void streams(enum which which)
{
    struct list l = list_of();
    CUgraph graph = NULL;
    CUstream own = l.stream;
    l.stream = NULL;
    EACH(submit(which, &l), "default stream");
    l.stream = CU_STREAM_LEGACY;
    EACH(submit(which, &l), "legacy stream");
    l.stream = CU_STREAM_PER_THREAD;
    EACH(submit(which, &l), "stream of the thread");
    l.stream = own;
    MUST(cu->cuStreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_RELAXED));
    EACH(submit(which, &l), "captured");
    EACH(cu->cuStreamEndCapture(own, &graph), "end of capture");
    tell(&l);
    MUST(cu->cuCtxSetCurrent(NULL));
    EACH(submit(which, &l), "no context");
    l.stream = NULL;
    EACH(submit(which, &l), "no context, default stream");
}

static void contents(void)
{
    struct list l = list_of();
    EACH(submit(MOVE, &l), "move");
    CALL(cu->cuStreamSynchronize(l.stream));
    VALUE("kept=%d", conform_read(l.addresses[2]) == 0x01010101);
}

#define EACH_KIND(name)                                                                            \
    static void move_##name(void)                                                                  \
    {                                                                                              \
        name(MOVE);                                                                                \
    }                                                                                              \
    static void give_up_and_move_##name(void)                                                      \
    {                                                                                              \
        name(MOVE_DISCARDED);                                                                      \
    }
EACH_KIND(good)
EACH_KIND(places)
EACH_KIND(misuse)
EACH_KIND(streams)

static void give_up_good(void)
{
    good(DISCARD);
}

static void give_up_misuse(void)
{
    misuse(DISCARD);
}

static void give_up_streams(void)
{
    streams(DISCARD);
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
#define ALONE(name, addresses, sizes, places, indices)                                             \
    static void name(void)                                                                         \
    {                                                                                              \
        struct list l = list_of();                                                                 \
        EACH(cu->cuMemPrefetchBatchAsync(addresses, sizes, 3, places, indices, 2, 0, l.stream),    \
             #name);                                                                               \
    }                                                                                              \
    static void both_##name(void)                                                                  \
    {                                                                                              \
        struct list l = list_of();                                                                 \
        EACH(cu->cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, 3, places, indices, 2, 0,     \
                                                   l.stream),                                      \
             #name);                                                                               \
    }
ALONE(no_addresses, NULL, l.sizes, l.places, l.indices)
ALONE(no_sizes, l.addresses, NULL, l.places, l.indices)
ALONE(no_places, l.addresses, l.sizes, NULL, l.indices)
ALONE(no_indices, l.addresses, l.sizes, l.places, NULL)

static void give_up_no_addresses(void)
{
    struct list l = list_of();
    CALL(cu->cuMemDiscardBatchAsync(NULL, l.sizes, 3, 0, l.stream));
}

static void give_up_no_sizes(void)
{
    struct list l = list_of();
    CALL(cu->cuMemDiscardBatchAsync(l.addresses, NULL, 3, 0, l.stream));
}

static const struct sequence sequences[] = {S(move_good, PRIMARY),
                                            S(give_up_and_move_good, PRIMARY),
                                            S(give_up_good, PRIMARY),
                                            S(move_places, PRIMARY),
                                            S(give_up_and_move_places, PRIMARY),
                                            S(move_misuse, PRIMARY),
                                            S(give_up_and_move_misuse, PRIMARY),
                                            S(give_up_misuse, PRIMARY),
                                            S(move_streams, PRIMARY),
                                            S(give_up_and_move_streams, PRIMARY),
                                            S(give_up_streams, PRIMARY),
                                            S(contents, PRIMARY),
                                            S(no_addresses, PRIMARY),
                                            S(both_no_addresses, PRIMARY),
                                            S(no_sizes, PRIMARY),
                                            S(both_no_sizes, PRIMARY),
                                            S(no_places, PRIMARY),
                                            S(both_no_places, PRIMARY),
                                            S(no_indices, PRIMARY),
                                            S(both_no_indices, PRIMARY),
                                            S(give_up_no_addresses, PRIMARY),
                                            S(give_up_no_sizes, PRIMARY),
                                            {0}};
const struct family prefetch_family = {"prefetch", sequences};
