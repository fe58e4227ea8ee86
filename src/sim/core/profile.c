/* SPDX-License-Identifier: MIT */
/* The simulated devices. One is a file of profiles/, a PROFILE line here and its place in the list:
 * the compiler refuses a file that lacks an attribute, has one twice, or is in no list. */
#include "core/config.h"

#include "sim.h"

/* Whether memory and events can be shared with other processes: core/shared_windows.c has nothing
 * for it. */
#ifdef _WIN32
#define SHARES 0
#else
#define SHARES 1
#endif

#define SAME(name, since, value) FROM(name, since, 0, value, value)
#define NONE(name, since) SAME(name, since, 0)

/* The place of each attribute that files of profiles/ have. */
enum each {
#define FROM(name, since, capability, before, value)
#define EACH(name, since) EACH_##name,
#define LIKE(name, since, other)
#include "core/profile.def"
#undef LIKE
#undef FROM
#undef EACH
    EACH_COUNT
};
_Static_assert(EACH_COUNT <= SIM_PROFILE_VALUES, "SIM_PROFILE_VALUES is too small");

static const struct attribute { /* by their numbers */
    int since;                  /* 0: there is none */
    int each; /* EACH_COUNT: `value` from this capability on, before it `before` */
    int capability, before, value;
} attributes[] = {
#define FROM(name, since, capability, before, value)                                               \
    [CU_DEVICE_ATTRIBUTE_##name] = {since, EACH_COUNT, capability, before, value},
#define EACH(name, since) LIKE(name, since, name)
#define LIKE(name, since, other) [CU_DEVICE_ATTRIBUTE_##name] = {since, EACH_##other, 0, 0, 0},
#include "core/profile.def"
};

enum { PROFILES_FROM = __COUNTER__ };
#define PROFILE maxwell
#include "core/profile_make.h"
#define PROFILE pascal
#include "core/profile_make.h"
#define PROFILE volta
#include "core/profile_make.h"
#define PROFILE turing
#include "core/profile_make.h"
#define PROFILE ampere
#include "core/profile_make.h"
#define PROFILE ampere86
#include "core/profile_make.h"
#define PROFILE ada
#include "core/profile_make.h"
#define PROFILE hopper
#include "core/profile_make.h"
#define PROFILE blackwell
#include "core/profile_make.h"
#define PROFILE blackwell120
#include "core/profile_make.h"
#define PROFILE small
#include "core/profile_make.h"

const struct sim_profile *const sim_profile_all[] = {
    &maxwell, &pascal, &volta,     &turing,       &ampere, &ampere86,
    &ada,     &hopper, &blackwell, &blackwell120, &small,  NULL,
};
_Static_assert(sizeof sim_profile_all / sizeof *sim_profile_all == __COUNTER__ - PROFILES_FROM,
               "each profile is in the list");

const struct sim_profile *sim_profile_default(int cuda)
{
    static const struct sim_profile *const order[] = {&ampere, &turing, &volta, &pascal, &maxwell};
    size_t i = 0;
    while (order[i] != &maxwell && order[i]->since > cuda)
        i++;
    return order[i];
}

const struct sim_profile *sim_profile_find(const char *name)
{
    for (size_t i = 0; sim_profile_all[i]; i++)
        if (strcmp(sim_profile_all[i]->name, name) == 0)
            return sim_profile_all[i];
    return NULL;
}

int sim_profile_capability(const struct sim_profile *profile)
{
    return 10 * profile->values[EACH_COMPUTE_CAPABILITY_MAJOR] +
           profile->values[EACH_COMPUTE_CAPABILITY_MINOR];
}

bool sim_profile_attribute(const struct sim_profile *profile, int number, int cuda, int *value)
{
    const struct attribute *found;
    if (number < 0 || (size_t)number >= sizeof attributes / sizeof *attributes)
        return false;
    found = &attributes[number];
    if (!found->since || found->since > cuda)
        return false;
    if (found->each != EACH_COUNT)
        *value = profile->values[found->each];
    else
        *value = sim_profile_capability(profile) < found->capability ? found->before : found->value;
    return true;
}
