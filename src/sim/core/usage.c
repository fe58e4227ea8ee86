/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <fcntl.h>
#include <sys/mman.h>

struct shared {
    struct sim_usage_board boards[SIM_MAX_DEVICES];
    struct sim_usage places[SIM_USAGE_PROCESSES];
};
#define SIZE sizeof(struct shared)

static struct shared *shared;
static struct sim_usage *own; /* the place of process `process` */
static int32_t process;

struct sim_usage *sim_usage_all(void)
{
    static bool asked;
    if (asked)
        return shared ? shared->places : NULL;
    asked = true;
    const char *path = secure_getenv("CUSHIM_SIM_USAGE");
    int file = path && *path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    /* With room on the disk for all of it: a page without would end the program. */
    if (lseek(file, 0, SEEK_END) >= (off_t)SIZE || posix_fallocate(file, 0, SIZE) == 0) {
        void *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        shared = bytes == MAP_FAILED ? NULL : bytes;
    }
    close(file);
    return shared ? shared->places : NULL;
}

struct sim_usage_board *sim_usage_board(int physical)
{
    static struct sim_usage_board alone[SIM_MAX_DEVICES];
    return sim_usage_all() ? &shared->boards[physical] : &alone[physical];
}

bool sim_usage_alive(struct sim_usage *place)
{
    int32_t of = atomic_load(&place->process);
    return of > 0 && sim_shared_process_start(of) == atomic_load(&place->start);
}

/* This process's place; NULL where there is none. A child of a fork takes one of its own. */
static struct sim_usage *find_own(void)
{
    if (!sim_usage_all() || process == (int32_t)getpid())
        return own;
    process = (int32_t)getpid();
    own = NULL;
    for (int i = 0; i < SIM_USAGE_PROCESSES && !own; i++) {
        struct sim_usage *place = &shared->places[i];
        int32_t before = atomic_load(&place->process);
        if ((before == 0 || !sim_usage_alive(place)) &&
            atomic_compare_exchange_strong(&place->process, &before, process))
            own = place;
    }
    if (!own)
        return NULL;
    memset(own->devices, 0, sizeof own->devices); /* nobody believes it before `start` is new */
    atomic_store(&own->start, sim_shared_process_start(process));
    return own;
}

void sim_usage_note(int physical, uint64_t bytes, bool contexts)
{
    struct sim_usage *place = find_own();
    if (!place)
        return;
    struct sim_usage_device *device = &place->devices[physical];
    atomic_store_explicit(&device->bytes, bytes, memory_order_relaxed);
    if (bytes > atomic_load_explicit(&device->most_bytes, memory_order_relaxed))
        atomic_store_explicit(&device->most_bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&device->contexts, contexts, memory_order_relaxed);
}

static uint64_t later(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static void add_to_window(struct sim_usage_device *device, uint64_t number, uint64_t ns)
{
    _Atomic uint64_t *window = &device->windows[number % 2];
    uint64_t before = atomic_load(window), now;
    do
        now = (before >> 32 == number ? before : number << 32) + ns / 1000;
    while (!atomic_compare_exchange_weak(window, &before, now));
}

/* What of [since, now] lies in the window of now, and in the one before. */
static void split(uint64_t since, uint64_t now, uint64_t parts[2])
{
    uint64_t begin = now / SIM_USAGE_WINDOW_NS * SIM_USAGE_WINDOW_NS;
    parts[0] = now - later(since, begin);
    parts[1] = since < begin ? begin - later(since, sim_usage_since(now)) : 0;
}

static void note_busy(struct sim_usage_device *device, uint64_t since, uint64_t now)
{
    uint64_t parts[2], number = now / SIM_USAGE_WINDOW_NS;
    split(since, now, parts);
    add_to_window(device, number, parts[0]);
    if (parts[1])
        add_to_window(device, number - 1, parts[1]);
}

uint64_t sim_usage_since(uint64_t now)
{
    uint64_t number = now / SIM_USAGE_WINDOW_NS;
    return number ? (number - 1) * SIM_USAGE_WINDOW_NS : 0;
}

uint64_t sim_usage_recent(struct sim_usage_device *device, uint64_t now)
{
    uint64_t parts[2], busy = 0, number = now / SIM_USAGE_WINDOW_NS;
    uint64_t since = atomic_load(&device->running_since);
    for (uint64_t i = number ? number - 1 : 0; i <= number; i++) {
        uint64_t window = atomic_load(&device->windows[i % 2]);
        if (window >> 32 == i)
            busy += (window & 0xffffffff) * 1000;
    }
    if (!atomic_load(&device->running) || now <= since)
        return busy;
    split(since, now, parts);
    return busy + parts[0] + parts[1];
}

void sim_usage_kernel_begin(int physical)
{
    struct sim_usage *place = find_own();
    if (place && atomic_fetch_add(&place->devices[physical].running, 1) == 0)
        atomic_store(&place->devices[physical].running_since, sim_clock_ns());
}

void sim_usage_kernel_end(int physical)
{
    struct sim_usage *place = find_own();
    if (!place)
        return;
    struct sim_usage_device *device = &place->devices[physical];
    uint64_t since = atomic_load(&device->running_since), now = sim_clock_ns();
    if (atomic_fetch_sub(&device->running, 1) != 1)
        return;
    atomic_fetch_add(&device->busy_ns, now - since);
    atomic_fetch_add(&sim_usage_board(physical)->busy_ns, now - since);
    note_busy(device, since, now);
}
