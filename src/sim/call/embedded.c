/* SPDX-License-Identifier: MIT */
/* cushim/sim.h. */
#include "call/embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cushim/sim.h>

#include "call/call.h"
#include "call/entry.h"
#include "call/fault.h"
#include "call/start.h"
#include "call/unload.h"
#include "context/kinds.h"
#include "context/live.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/lock.h"
#include "core/object.h"
#include "core/profile.h"
#include "core/report.h"
#include "core/version.h"
#include "helpers/error.h"
#include "memory/range.h"
#include "ptx/ptx.h"

__attribute__((destructor)) static void end(void)
{
    sim_unload();
}

void *cushim_sim_symbol(void *user, const char *symbol)
{
    void *found = NULL;
    (void)user;
    sim_lock_enter();
    sim_start();
    for (size_t i = 0; i < sim_entry_count && !found; i++)
        if (sim_entries[i].since <= sim_config.cuda && strcmp(sim_entries[i].symbol, symbol) == 0 &&
            !sim_fault_missing(&sim_entries[i]))
            found = sim_entry_address(&sim_entries[i]);
    sim_lock_leave();
    return found;
}

static int cuda_of(const struct cushim_sim_options *options)
{
    return options->cuda ? options->cuda : sim_version_built;
}

/* NULL, or what is wrong with the options. */
static const char *wrong_with(const struct cushim_sim_options *options)
{
    if (options->size != sizeof *options)
        return "size is not that of struct cushim_sim_options";
    if (options->cuda < 0 || options->cuda > sim_version_built || options->cuda % 10 != 0 ||
        (options->cuda && options->cuda < SIM_OLDEST))
        return "cuda is no version that can be simulated";
    if (options->devices < -1 || options->devices > SIM_MAX_DEVICES)
        return "devices is out of range";
    if (options->profile && !sim_profile_find(options->profile))
        return "there is no profile of that name";
    if (options->profile && sim_profile_find(options->profile)->since > cuda_of(options))
        return "a device of that profile is newer than the CUDA version";
    if (options->workers > SIM_MAX_WORKERS)
        return "workers is out of range";
    if (options->grain > SIM_MAX_GRAIN)
        return "grain is out of range";
    return NULL;
}

static struct sim_config config_of(const struct cushim_sim_options *options)
{
    return (struct sim_config){.cuda = cuda_of(options),
                               .devices = options->devices == 0  ? 1
                                          : options->devices < 0 ? 0
                                                                 : options->devices,
                               .profile = options->profile ? sim_profile_find(options->profile)
                                                           : sim_profile_default(cuda_of(options)),
                               .memory = options->memory,
                               .workers = options->workers,
                               .grain = options->grain,
                               .time_limit_ns = (uint64_t)options->time_limit_ms * 1000000U};
}

/* With the lock. False after writing what is wrong. */
static bool open_driver(const struct cushim_sim_options *options, char *error, size_t size)
{
    struct sim_config config;
    const char *wrong = options ? wrong_with(options) : NULL;
    if (wrong) {
        snprintf(error, size, "%s", wrong);
        return false;
    }
    if (options && options->faults && !sim_fault_check(options->faults, error, size))
        return false;
    if (!options) {
        sim_start();
        return true;
    }
    config = config_of(options);
    if (sim_start_with(&config) && !sim_report_open(options->log)) {
        snprintf(error, size, "log %s: %s", options->log, strerror(errno));
        return false;
    }
    return !options->faults || sim_fault_add(options->faults, error, size);
}

const struct cushim_api *cushim_sim_open(const struct cushim_sim_options *options)
{
    struct cushim_options open = {.size = sizeof open, .resolver = cushim_sim_symbol};
    char error[320];
    sim_lock_enter();
    bool good = open_driver(options, error, sizeof error);
    sim_lock_leave();
    if (!good) {
        cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, "cushim_sim_open", "%s", error);
        return NULL;
    }
    return cushim_open(&open);
}

bool cushim_sim_fault(const char *rules)
{
    char error[320];
    if (!rules) {
        cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, "cushim_sim_fault", "%s", "rules is NULL");
        return false;
    }
    sim_lock_enter();
    sim_start();
    bool good = sim_fault_add(rules, error, sizeof error);
    sim_lock_leave();
    if (!good)
        cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, "cushim_sim_fault", "%s", error);
    return good;
}

void cushim_sim_clear_faults(void)
{
    sim_lock_enter();
    sim_fault_clear();
    sim_lock_leave();
}

void cushim_sim_stop(void)
{
    ptx_stop(sim_clock_ns());
}

size_t cushim_sim_live(const char *kind)
{
    size_t count = 0, bytes;
    sim_lock_enter();
    for (int i = 0; i < SIM_KIND_COUNT; i++)
        if (!kind || strcmp(sim_kinds_name((enum sim_kind)i), kind) == 0)
            count += sim_live((enum sim_kind)i);
    if (!kind || strcmp(kind, "memory") == 0)
        count += sim_range_live(&bytes);
    sim_lock_leave();
    return count;
}

unsigned long long cushim_sim_calls(const char *name)
{
    unsigned long long calls = 0;
    sim_lock_enter();
    for (size_t i = 0; i < sim_entry_count; i++)
        if (!name || strcmp(sim_entries[i].name, name) == 0 ||
            strcmp(sim_entries[i].symbol, name) == 0)
            calls += sim_call_count(i);
    sim_lock_leave();
    return calls;
}
