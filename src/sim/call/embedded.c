/* SPDX-License-Identifier: MIT */
/* cushim/sim.h. */
#include "call/call.h"

#include <errno.h>
#include <limits.h>
#include <cushim/sim.h>

#include "helpers/error.h"
#include "loader/fault_rule.h"
#include "loader/stubs.h"

__attribute__((destructor)) static void end(void)
{
    sim_start_unload();
}

void *cushim_sim_symbol(void *user, const char *symbol)
{
    const struct sim_entry *entry = NULL;
    (void)user;
    sim_lock_enter();
    sim_start();
    while ((entry = sim_entry_next(symbol, entry)))
        if (entry->since <= sim_config.cuda && strcmp(entry->symbol, symbol) == 0 &&
            !sim_fault_missing(entry))
            break;
    void *found = entry ? sim_entry_address(entry) : NULL;
    sim_lock_leave();
    return found;
}

/* False after writing which field cannot be used, and what it may be. */
static bool is_usable(const struct cushim_sim_options *options, char *error, size_t size)
{
    char list[320];
    if (options->size != sizeof *options)
        snprintf(error, size, "size: %zu is not %zu; set it to sizeof(struct cushim_sim_options)",
                 options->size, sizeof *options);
    else if (options->cuda && !sim_config_is_release(options->cuda))
        snprintf(error, size,
                 "cuda: %d is no release that is simulated; it is 1000 times the major and 10 "
                 "times the minor number, 12040 for 12.4, or 0; %s",
                 options->cuda, sim_config_list(list, sizeof list, sim_config_releases));
    else if (options->devices < -1 || options->devices > SIM_MAX_DEVICES)
        snprintf(error, size, "devices: %d is not from -1 to %d", options->devices,
                 SIM_MAX_DEVICES);
    else if (options->profile && !sim_profile_find(options->profile))
        snprintf(error, size, "profile: there is no '%.60s'; %s", options->profile,
                 sim_config_list(list, sizeof list, NULL));
    else if (options->check && sim_config_checks(options->check) == 0)
        snprintf(error, size, "check: '%.60s' is no check; %s", options->check,
                 sim_config_check_words);
    else if (options->workers > SIM_MAX_WORKERS)
        snprintf(error, size, "workers: %u is not from 0 to %d", options->workers, SIM_MAX_WORKERS);
    else if (options->grain > SIM_MAX_GRAIN)
        snprintf(error, size, "grain: %u is not from 0 to %d", options->grain, SIM_MAX_GRAIN);
    else
        return true;
    return false;
}

/* The environment's settings, and over them those of the options that are not zero. */
static struct sim_config config_of(const struct cushim_sim_options *options)
{
    sim_config_read();
    struct sim_config config = sim_config;
    const bool chosen = config.profile != sim_profile_default(config.cuda);
    if (options->cuda)
        config.cuda = options->cuda;
    if (!chosen)
        config.profile = sim_profile_default(config.cuda);
    if (options->profile)
        config.profile = sim_profile_find(options->profile);
    if (options->devices)
        config.devices = options->devices < 0 ? 0 : options->devices;
    if (options->memory)
        config.memory = options->memory;
    if (options->workers)
        config.workers = options->workers;
    if (options->grain)
        config.grain = options->grain;
    if (options->check)
        config.checks = sim_config_checks(options->check);
    if (options->time_limit_ms)
        config.time_limit_ns = (uint64_t)options->time_limit_ms * 1000000U;
    return config;
}

/* False after writing in what the open driver is another one than the options ask for. */
static bool is_the_open_one(const struct cushim_sim_options *options, char *error, size_t size)
{
    const int devices = options->devices < 0 ? 0 : options->devices;
    const char *other = NULL;
    if (options->cuda && options->cuda != sim_config.cuda)
        other = "cuda";
    else if (options->devices && devices != sim_config.devices)
        other = "devices";
    else if (options->profile && sim_profile_find(options->profile) != sim_config.profile)
        other = "profile";
    else if (options->memory && options->memory != sim_config.memory)
        other = "memory";
    if (other)
        snprintf(error, size,
                 "%s: the process has a driver of CUDA %d.%d with %d device%s already; "
                 "cushim_sim_reset ends it",
                 other, sim_config.cuda / 1000, sim_config.cuda % 1000 / 10, sim_config.devices,
                 sim_config.devices == 1 ? "" : "s");
    return !other;
}

/* With the lock. False after writing what is wrong. */
static bool open_driver(const struct cushim_sim_options *options, char *error, size_t size)
{
    if (options && !is_usable(options, error, size))
        return false;
    if (options && options->faults) {
        const size_t length = (size_t)snprintf(error, size, "faults: ");
        if (!sim_fault_check(options->faults, error + length, size - length))
            return false;
    }
    if (!options) {
        sim_start();
        return true;
    }
    if (sim_start_done) {
        if (!is_the_open_one(options, error, size))
            return false;
    } else {
        const struct sim_config config = config_of(options);
        if (config.profile->since > config.cuda) {
            char why[120];
            sim_config_too_new(why, sizeof why, config.profile, config.cuda);
            snprintf(error, size, "profile: no '%s'; %s", config.profile->name, why);
            return false;
        }
        if (options->log && !sim_report_open(options->log)) {
            snprintf(error, size, "log %s: %s", options->log, strerror(errno));
            return false;
        }
        sim_start_with(&config, options->faults, options->log);
    }
    return !options->faults || sim_fault_add(options->faults, error, size);
}

const struct cushim_api *cushim_sim_open(const struct cushim_sim_options *options)
{
    struct cushim_options open = {.size = sizeof open, .resolver = cushim_sim_symbol};
    char error[SIM_RULE_SENTENCE];
    sim_lock_enter();
    bool good = open_driver(options, error, sizeof error);
    sim_lock_leave();
    if (!good) {
        cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, "cushim_sim_open", "%s", error);
        return NULL;
    }
    atomic_store(&cushim_fault_rule_ask, sim_fault_last);
    atomic_store(&cushim_stubs_told, sim_call_missed);
    return cushim_open(&open);
}

bool cushim_sim_fault(const char *rules)
{
    char error[SIM_RULE_SENTENCE];
    if (!rules) {
        cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, "cushim_sim_fault", "%s", "rules is NULL");
        return false;
    }
    sim_lock_enter();
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

#define END_EACH(kind, end)                                                                        \
    for (object = sim_object_first(kind); object; object = next) {                                 \
        next = object->next;                                                                       \
        (void)(end);                                                                               \
    }

/* Empty this thread's stack; destroy what no context takes with it, then the contexts. */
static void end_all(void)
{
    struct sim_object *object, *next;
    CUcontext now = NULL;
    while (sim_cuCtxGetCurrent(&now) == CUDA_SUCCESS && now &&
           sim_cuCtxPopCurrent_v2(&now) == CUDA_SUCCESS)
        ;
    END_EACH(SIM_GRAPH_EXEC, sim_cuGraphExecDestroy((CUgraphExec)object));
    END_EACH(SIM_GRAPH, sim_cuGraphDestroy((CUgraph)object));
    END_EACH(SIM_LIBRARY, sim_cuLibraryUnload((CUlibrary)object));
    for (int i = 0; i < sim_device_count(); i++) {
        sim_device_all[i].primary_count = 0;
        (void)sim_cuDevicePrimaryCtxReset_v2(i);
    }
    /* Each waits for its work, without the lock: the list may be another one then. */
    while ((object = sim_object_first(SIM_CONTEXT)) &&
           sim_cuCtxDestroy_v2((CUcontext)object) == CUDA_SUCCESS)
        ;
    END_EACH(SIM_POOL, sim_cuMemPoolDestroy((CUmemoryPool)object)); /* refuses those of devices */
}

/* "1 context, 2 memory (8192 bytes)", of counts that are not all zero. */
static void write_counts(const struct sim_count *count, char *text, size_t size)
{
    const char *comma = "";
    size_t length = 0;
    for (int i = 0; i <= SIM_KIND_COUNT && length < size; i++) {
        if (!count->objects[i])
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%zu %s", comma,
                                   count->objects[i], sim_kinds_name((enum sim_kind)i));
        comma = ", ";
    }
    if (count->objects[SIM_KIND_COUNT] && length < size) /* memory is the last kind */
        snprintf(text + length, size - length, " (%zu byte%s)", count->bytes,
                 count->bytes == 1 ? "" : "s");
}

/* False after writing what is still there. */
static bool nothing_is_left(char *error, size_t size)
{
    const struct sim_count left = sim_live_count(false);
    if (sim_live_is_empty(&left))
        return true;
    size_t length = (size_t)snprintf(error, size, "not destroyed: ");
    write_counts(&left, error + length, size - length);
    return false;
}

static unsigned long long forgotten; /* what checks found before the last reset */

unsigned long long cushim_sim_found(void)
{
    return sim_launch_prepare_findings().notes - __atomic_load_n(&forgotten, __ATOMIC_RELAXED);
}

bool cushim_sim_reset(void)
{
    char error[SIM_RULE_SENTENCE];
    bool good = true;
    ptx_stop(sim_clock_ns(), true);
    sim_lock_enter();
    sim_fault_clear();
    if (sim_start_done && sim_device_initialized()) {
        end_all();
        good = nothing_is_left(error, sizeof error);
    }
    cushim_sim_stop(); /* kernels of the next driver run */
    if (good) {
        sim_live_taken = (struct sim_count){.bytes = 0};
        sim_start_done = false;
        sim_device_forget();
        memset(sim_call_counts, 0, sizeof sim_call_counts);
        __atomic_store_n(&forgotten, sim_launch_prepare_findings().notes, __ATOMIC_RELAXED);
    }
    sim_lock_leave();
    if (!good)
        cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, "cushim_sim_reset", "%s", error);
    return good;
}

const char *cushim_sim_unfired(void)
{
    static _Thread_local char text[256];
    const struct rule *rule;
    size_t i = 0;
    sim_lock_enter();
    while ((rule = sim_fault_at(i)) && (!sim_fault_can_be_seen(rule) || rule->fired))
        i++;
    if (rule)
        snprintf(text, sizeof text, "%s", rule->text);
    sim_lock_leave();
    return rule ? text : NULL;
}

void cushim_sim_stop(void)
{
    ptx_stop(sim_clock_ns(), false);
}

/* The name that is least different, of a list; it ends with the list, where `at` returns NULL. */
static const char *nearest(const char *name, const char *(*at)(size_t i))
{
    const char *found = NULL, *each;
    unsigned least = 4; /* beyond three letters it is another name */
    for (size_t i = 0; (each = at(i)); i++) {
        unsigned far = *each ? sim_rule_distance(name, each) : least;
        if (far < least) {
            least = far;
            found = each;
        }
    }
    return found;
}

static void refuse_name(const char *function, const char *what, const char *name,
                        const char *(*at)(size_t i))
{
    const char *near = nearest(name, at);
    cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, function, "'%.60s' is no %s%s%s%s", name, what,
                        near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Of objects that are counted; "memory" is behind the kinds, and "" stands for one that is not. */
static const char *kind_at(size_t i)
{
    if (i > SIM_KIND_COUNT)
        return NULL;
    return sim_live_counts((enum sim_kind)i) ? sim_kinds_name((enum sim_kind)i) : "";
}

static struct sim_count count_all(bool with_ended)
{
    sim_lock_enter();
    const struct sim_count found = sim_live_count(with_ended);
    sim_lock_leave();
    return found;
}

/* All objects and blocks, or those of a kind. */
static size_t count_of(const char *function, const char *kind, bool with_ended)
{
    const struct sim_count count = count_all(with_ended);
    size_t sum = 0;
    bool found = false;
    for (size_t i = 0; i <= SIM_KIND_COUNT; i++)
        if (!kind || (*kind && strcmp(kind_at(i), kind) == 0)) {
            found = true;
            sum += count.objects[i];
        }
    if (found)
        return sum;
    refuse_name(function, "kind of object", kind, kind_at);
    return SIZE_MAX;
}

size_t cushim_sim_live(const char *kind)
{
    return count_of("cushim_sim_live", kind, false);
}

size_t cushim_sim_leaked(const char *kind)
{
    return count_of("cushim_sim_leaked", kind, true);
}

const char *cushim_sim_leaks(void)
{
    static _Thread_local char text[512];
    const struct sim_count all = count_all(true);
    if (sim_live_is_empty(&all))
        return NULL;
    write_counts(&all, text, sizeof text);
    return text;
}

static const char *entry_at(size_t i)
{
    return i < sim_entry_count ? sim_entries[i].name : NULL;
}

unsigned long long cushim_sim_calls(const char *name)
{
    unsigned long long calls = 0;
    bool found = false;
    sim_lock_enter();
    for (size_t i = 0; i < sim_entry_count; i++)
        if (!name || strcmp(sim_entries[i].name, name) == 0 ||
            strcmp(sim_entries[i].symbol, name) == 0) {
            found = true;
            calls += sim_call_counts[i];
        }
    sim_lock_leave();
    if (!found) {
        refuse_name("cushim_sim_calls", "entry of the driver", name, entry_at);
        return ULLONG_MAX;
    }
    return calls;
}
