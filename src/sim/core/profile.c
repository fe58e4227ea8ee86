/* SPDX-License-Identifier: MIT */
/* The simulated devices: what is public about one of each generation. */
#include "core/profile.h"

#include <string.h>

#include "sim.h"

#define COLUMNS 4

/* Whether memory and events can be shared with other processes: core/shared_windows.c has nothing
 * for it. */
#ifdef _WIN32
#define SHARES 0
#else
#define SHARES 1
#endif

struct attribute {
    int number, since;
    int values[COLUMNS];
};

static const struct attribute attributes[] = {
#define SAME(name, since, value) {CU_DEVICE_ATTRIBUTE_##name, since, {value, value, value, value}},
#define EACH(name, since, ...) {CU_DEVICE_ATTRIBUTE_##name, since, {__VA_ARGS__}},
#define NONE(name, since) SAME(name, since, 0)
#include "core/profile.def"
#undef NONE
#undef SAME
#undef EACH
};

static const struct sim_profile turing = {
    .name = "turing",
    .device_name = "Tesla T4",
    .memory = 15843721216,
    .heap_max = 15843721216 / 8,
    .column = 0,
};

static const struct sim_profile ampere = {
    .name = "ampere",
    .device_name = "NVIDIA A100-SXM4-40GB",
    .memory = 42505273344,
    .heap_max = 42505273344 / 8,
    .column = 1,
};

static const struct sim_profile ada = {
    .name = "ada",
    .device_name = "NVIDIA GeForce RTX 4090",
    .memory = 25393692672,
    .heap_max = 25393692672 / 8,
    .column = 2,
};

static const struct sim_profile hopper = {
    .name = "hopper",
    .device_name = "NVIDIA H200",
    .memory = 150109880320,
    .heap_max = 17681179680,
    .column = 3,
};

const struct sim_profile *const sim_profile_all[] = {&turing, &ampere, &ada, &hopper, NULL};

const struct sim_profile *sim_profile_find(const char *name)
{
    if (!name)
        return &ampere;
    for (size_t i = 0; sim_profile_all[i]; i++)
        if (strcmp(sim_profile_all[i]->name, name) == 0)
            return sim_profile_all[i];
    return NULL;
}

bool sim_profile_attribute(const struct sim_profile *profile, int number, int cuda, int *value)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].number != number || attributes[i].since > cuda)
            continue;
        *value = attributes[i].values[profile->column];
        return true;
    }
    return false;
}
