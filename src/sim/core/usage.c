/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (SIM_USAGE_PROCESSES * sizeof(struct sim_usage))

static struct sim_usage *all;
static struct sim_usage *own; /* the place of process `process` */
static int32_t process;

struct sim_usage *sim_usage_all(void)
{
    static bool asked;
    if (asked)
        return all;
    asked = true;
    const char *path = secure_getenv("CUSHIM_SIM_USAGE");
    int file = path && *path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    /* With room on the disk for all of it: a page without would end the program. */
    if (lseek(file, 0, SEEK_END) >= (off_t)SIZE || posix_fallocate(file, 0, SIZE) == 0) {
        void *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        all = bytes == MAP_FAILED ? NULL : bytes;
    }
    close(file);
    return all;
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
        int32_t before = atomic_load(&all[i].process);
        if ((before == 0 || !sim_usage_alive(&all[i])) &&
            atomic_compare_exchange_strong(&all[i].process, &before, process))
            own = &all[i];
    }
    if (!own)
        return NULL;
    for (int i = 0; i < SIM_MAX_DEVICES; i++) {
        atomic_store(&own->devices[i].bytes, 0);
        atomic_store(&own->devices[i].busy_ns, 0);
        atomic_store(&own->devices[i].running, 0);
        atomic_store(&own->devices[i].contexts, 0);
    }
    atomic_store(&own->start, sim_shared_process_start(process));
    return own;
}

void sim_usage_note(int physical, uint64_t bytes, bool contexts)
{
    struct sim_usage *place = find_own();
    if (!place)
        return;
    atomic_store_explicit(&place->devices[physical].bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&place->devices[physical].contexts, contexts, memory_order_relaxed);
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
    uint64_t since = atomic_load(&device->running_since);
    if (atomic_fetch_sub(&device->running, 1) == 1)
        atomic_fetch_add(&device->busy_ns, sim_clock_ns() - since);
}
