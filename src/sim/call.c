/* SPDX-License-Identifier: MIT */
/* What surrounds every call: the lock, the rules that hold for all entries, faults and the log. */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "queue.h"
#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct sim_call *current;
static _Thread_local bool in_callback;
static uint64_t calls;
static uint64_t calls_of[SIM_ENTRY_COUNT];

void sim_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

pthread_mutex_t *sim_mutex(void)
{
    return &lock;
}

uint64_t sim_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

bool sim_per_thread(void)
{
    return current && current->entry->stream != 'l';
}

uint64_t sim_entry_calls(size_t entry)
{
    return calls_of[entry];
}

bool sim_in_callback(void)
{
    return in_callback;
}

void sim_set_in_callback(bool in)
{
    in_callback = in;
}

/* Entries that answer before cuInit, as real drivers' do. */
static bool needs_init(const struct sim_entry *entry)
{
    static const char *const before[] = {"cuInit",           "cuDriverGetVersion",
                                         "cuGetProcAddress", "cuGetErrorName",
                                         "cuGetErrorString", "cuGetExportTable"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strcmp(entry->name, before[i]) == 0)
            return false;
    return true;
}

bool sim_begin(struct sim_call *call, size_t entry, const void *const *arguments)
{
    sim_queue_prepare();
    sim_lock();
    sim_config_read();
    *call = (struct sim_call){.entry = &sim_entries[entry],
                              .arguments = arguments,
                              .number = ++calls,
                              .start_ns = sim_now_ns(),
                              .result = CUDA_ERROR_NOT_SUPPORTED,
                              .outer = current};
    current = call;
    calls_of[entry]++;
    if (sim_control_before(call))
        return false;
    if (needs_init(call->entry) && in_callback) {
        call->result = CUDA_ERROR_NOT_PERMITTED;
        return false;
    }
    if (needs_init(call->entry)) {
        CUresult state = sim_init_state();
        if (state != CUDA_SUCCESS) {
            call->result = state;
            return false;
        }
    }
    return call->entry->behaviour;
}

CUresult sim_end(struct sim_call *call)
{
    sim_control_after(call);
    current = call->outer;
    sim_unlock();
    return call->result;
}
