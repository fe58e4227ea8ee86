/* SPDX-License-Identifier: MIT */
/* The simulated devices. One is a line here and a value in each EACH line of profile.def: the
 * compiler refuses a line that has fewer. */
#include "core/config.h"

#include "sim.h"

/* Whether memory and events can be shared with other processes: windows/machine.c has nothing. */
#ifdef _WIN32
#define SHARES 0
#else
#define SHARES 1
#endif

const struct sim_profile sim_profile_all[] = {
    {"maxwell", "NVIDIA GeForce GTX 980", 4294967296, 4294967296 / 8, 6050},
    {"pascal", "Tesla P100-SXM2-16GB", 17179869184, 17179869184 / 8, 8000},
    {"volta", "Tesla V100-SXM2-16GB", 17179869184, 17179869184 / 8, 9000},
    {"turing", "Tesla T4", 15843721216, 15843721216 / 8, 10000},
    {"ampere", "NVIDIA A100-SXM4-40GB", 42505273344, 42505273344 / 8, 11000},
    {"ampere86", "NVIDIA GeForce RTX 3090", 25769803776, 25769803776 / 8, 11010},
    {"ada", "NVIDIA GeForce RTX 4090", 25393692672, 25393692672 / 8, 11080},
    {"hopper", "NVIDIA H200", 150109880320, 17681179680, 11080},
    {"blackwell", "NVIDIA B200", 193273528320, 193273528320 / 8, 12080},
    {"blackwell120", "NVIDIA GeForce RTX 5090", 34359738368, 34359738368 / 8, 12080},
    /* For CI: what fills a device is done soon. No such device is sold: it is an ampere. */
    {"small", "Simulated device of 2 multiprocessors", 42505273344, 42505273344 / 8, 11000},
    {NULL, NULL, 0, 0, 0},
};

static const struct attribute {    /* by their numbers */
    int since;                     /* 0: there is none */
    int capability, before, value; /* the latter from this capability on */
    const int *each;               /* of each profile; NULL: all that is above */
    int like;                      /* the number of another; 0: none */
} attributes[] = {
#define OF(name) [CU_DEVICE_ATTRIBUTE_##name]
#define FROM(name, since, capability, before, value)                                               \
    OF(name) = {since, capability, before, value, NULL, 0},
#define SAME(name, since, value) FROM(name, since, 0, value, value)
#define NONE(name, since) SAME(name, since, 0)
#define LIKE(name, since, other) OF(name) = {since, 0, 0, 0, NULL, CU_DEVICE_ATTRIBUTE_##other},
#define EACH(name, since, a, b, c, d, e, f, g, h, i, j, k)                                         \
    OF(name) = {since, 0, 0, 0, (const int[]){a, b, c, d, e, f, g, h, i, j, k}, 0},
#include "core/profile.def"
};
_Static_assert(sizeof sim_profile_all / sizeof *sim_profile_all == 11 + 1, "each is in EACH");

const struct sim_profile *sim_profile_find(const char *name)
{
    const struct sim_profile *profile = sim_profile_all;
    while (profile->name && strcmp(profile->name, name) != 0)
        profile++;
    return profile->name ? profile : NULL;
}

const struct sim_profile *sim_profile_default(int cuda)
{
    static const char *const order[] = {"ampere", "turing", "volta", "pascal"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (sim_profile_find(order[i])->since <= cuda)
            return sim_profile_find(order[i]);
    return sim_profile_find("maxwell");
}

int sim_profile_capability(const struct sim_profile *profile)
{
    size_t place = (size_t)(profile - sim_profile_all);
    return 10 * attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR].each[place] +
           attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR].each[place];
}

bool sim_profile_attribute(const struct sim_profile *profile, int number, int cuda, int *value)
{
    if (number < 0 || (size_t)number >= sizeof attributes / sizeof *attributes)
        return false;
    const struct attribute *found = &attributes[number];
    if (!found->since || found->since > cuda)
        return false;
    if (found->like)
        found = &attributes[found->like];
    if (found->each)
        *value = found->each[profile - sim_profile_all];
    else
        *value = sim_profile_capability(profile) < found->capability ? found->before : found->value;
    return true;
}
