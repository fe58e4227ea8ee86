/* SPDX-License-Identifier: MIT */
/* What surrounds each call, and the rules of faults. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <cushim/compat.h>

#include "nvml/nvml.h"

#include "call/call.h"
#include "nvml/entries.h"
#include "nvml/nvml_rule.h"

/* --- Rules --- */

#define MOST 64

static struct rule rules[MOST];
static size_t count;
static uint64_t calls;

/* device-lost, whose code is one of CUDA's. */
static const size_t none = 0;
static const struct sim_rule_family of_both = {
    .count = &none,
    .errors = cushim_errors,
    .error_count = &cushim_error_count,
    .error_strings = cushim_error_strings,
    .error_prefix = "CUDA_ERROR_",
    .all = "",
};

/* Those of `cushim sim --fault` whose name is one of NVML's, and device-lost. */
static void read_rules(const char *text)
{
    char *copy = text ? strdup(text) : NULL, *rest = NULL, error[8];
    for (char *rule = copy ? strtok_r(copy, ";", &rest) : NULL; rule && count < MOST;
         rule = strtok_r(NULL, ";", &rest)) {
        const struct sim_rule_family *family =
            sim_nvml_rule_is(rule) ? &sim_nvml_rule_family : &of_both;
        if (sim_rule_parse(family, rule, &rules[count], error, sizeof error))
            count++;
    }
    free(copy);
}

static bool names(const struct rule *rule, unsigned entry)
{
    char symbol[CUSHIM_NVML_SYMBOL_SIZE];
    size_t suffix = strlen(cushim_nvml_entry_suffixes[cushim_nvml_entries[entry].suffix]);
    cushim_nvml_entry_symbol(entry, symbol);
    return strcmp(rule->name, sim_nvml_rule_family.all) == 0 ||
           sim_rule_names(rule, symbol, strlen(symbol) - suffix);
}

static bool hits(struct rule *rule, unsigned entry, int device)
{
    if (rule->kind != RULE_CALL || !names(rule, entry) ||
        (rule->device >= 0 && rule->device != device))
        return false;
    return sim_rule_count(rule);
}

/* What the rules answer in place of a call about a device, -1 for none of them; and what they have
 * it return after it happened, and how long it waits before. */
static nvmlReturn_t fault(unsigned entry, int device, nvmlReturn_t *after, unsigned *milliseconds)
{
    nvmlReturn_t result = NVML_SUCCESS;
    calls++;
    for (size_t i = 0; i < count; i++) { /* all of them: each counts its calls */
        struct rule *rule = &rules[i];
        if (rule->kind == RULE_LOST) {
            if (calls >= rule->call && rule->device == device && result == NVML_SUCCESS)
                result = NVML_ERROR_GPU_IS_LOST;
            continue;
        }
        if (!hits(rule, entry, device))
            continue;
        *milliseconds += (unsigned)rule->slow;
        if (rule->after)
            *after = (nvmlReturn_t)rule->error;
        else if (result == NVML_SUCCESS)
            result = (nvmlReturn_t)rule->error;
    }
    return result;
}

/* Whether the release lacks the entry, or a rule says so. */
static bool lacks(unsigned entry)
{
    if (cushim_nvml_entry_since(entry) > sim_config.cuda)
        return true;
    for (size_t i = 0; i < count; i++)
        if (rules[i].kind == RULE_MISSING) {
            char symbol[CUSHIM_NVML_SYMBOL_SIZE];
            if (strcmp(rules[i].name, cushim_nvml_entry_symbol(entry, symbol)) == 0)
                return true;
        }
    return false;
}

/* --- Calls --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialised; /* how often; each wants its nvmlShutdown */
static struct nvmlDevice_st devices[SIM_MAX_DEVICES];
static _Thread_local nvmlReturn_t forced; /* by a rule, after the call happens */

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* With the lock. */
static void read_settings(void)
{
    static bool read;
    const char *text = secure_getenv("CUSHIM_SIM_NVML_CUDA");
    int major = 0, minor = 0;
    if (read)
        return;
    read = true;
    /* A child of a fork must not find the lock taken by a thread that it does not have. */
    pthread_atfork(take_lock, give_lock, give_lock);
    sim_config_read();
    if (text && sscanf(text, "%d.%d", &major, &minor) == 2)
        sim_config.cuda = 1000 * major + 10 * minor;
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        devices[i] = (struct nvmlDevice_st){.number = i};
    read_rules(secure_getenv("CUSHIM_SIM_NVML_FAULT"));
}

nvmlReturn_t sim_nvml_begin_early(unsigned entry, nvmlDevice_t device)
{
    unsigned milliseconds = 0;
    take_lock();
    read_settings();
    forced = NVML_SUCCESS;
    int number = sim_nvml_known(device) ? device->number : -1;
    nvmlReturn_t result = fault(entry, number, &forced, &milliseconds);
    if (milliseconds)
        sim_nvml_sleep(milliseconds);
    return result;
}

nvmlReturn_t sim_nvml_begin(unsigned entry, nvmlDevice_t device)
{
    nvmlReturn_t result = sim_nvml_begin_early(entry, device);
    if (result == NVML_SUCCESS && initialised == 0)
        result = NVML_ERROR_UNINITIALIZED;
    if (result == NVML_SUCCESS && lacks(entry))
        result = NVML_ERROR_FUNCTION_NOT_FOUND;
    return result;
}

nvmlReturn_t sim_nvml_end(nvmlReturn_t result)
{
    give_lock();
    return forced != NVML_SUCCESS ? forced : result;
}

void sim_nvml_sleep(unsigned milliseconds)
{
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    give_lock();
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
    take_lock();
}

nvmlReturn_t sim_nvml_initialise(int times)
{
    initialised += times; /* sim_nvml_begin refuses a shutdown before it is 1 */
    return NVML_SUCCESS;
}

bool sim_nvml_known(nvmlDevice_t device)
{
    return device >= devices && device < devices + sim_config.devices;
}

nvmlDevice_t sim_nvml_device(int number)
{
    return number >= 0 && number < sim_config.devices ? &devices[number] : NULL;
}

bool sim_nvml_version(unsigned given, unsigned version, int since)
{
    return given == version && since <= sim_config.cuda;
}

int sim_nvml_attribute(int number)
{
    int value = 0;
    /* What a device has does not depend on the driver's age. */
    return sim_profile_attribute(sim_config.profile, number, sim_config_built, &value) ? value : 0;
}

uint32_t sim_nvml_get(nvmlDevice_t device, enum sim_nvml_setting setting)
{
    return atomic_load(&sim_usage_board(device->number)->settings[setting]);
}

nvmlReturn_t sim_nvml_set(nvmlDevice_t device, enum sim_nvml_setting setting, uint32_t value)
{
    atomic_store(&sim_usage_board(device->number)->settings[setting], value);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvml_text(const char *text, char *buffer, unsigned length)
{
    SIM_NVML_FAIL(INSUFFICIENT_SIZE, strlen(text) >= length);
    strcpy(buffer, text);
    return NVML_SUCCESS;
}

unsigned long long sim_nvml_time_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}
