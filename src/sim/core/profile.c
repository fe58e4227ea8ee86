/* SPDX-License-Identifier: MIT */
/* The simulated devices. One is a file of profiles/, a PROFILE line here and its place in the list:
 * the compiler refuses a file that lacks an attribute, has one twice, or is in no list. */
#include "core/config.h"

#include <string.h>

#include "sim.h"

/* Whether memory and events can be shared with other processes: core/shared_windows.c has nothing
 * for it. */
#ifdef _WIN32
#define SHARES 0
#else
#define SHARES 1
#endif

/* The place of each attribute that differs between devices. */
enum each {
#define SAME(name, since, value)
#define EACH(name, since) EACH_##name,
#define NONE(name, since)
#include "core/profile.def"
#undef NONE
#undef SAME
#undef EACH
    EACH_COUNT
};
_Static_assert(EACH_COUNT <= SIM_PROFILE_VALUES, "SIM_PROFILE_VALUES is too small");

static const struct attribute { /* by their numbers */
    int since;                  /* 0: there is none */
    int each;                   /* EACH_COUNT: it is `value` on all devices */
    int value;
} attributes[] = {
#define SAME(name, since, value) [CU_DEVICE_ATTRIBUTE_##name] = {since, EACH_COUNT, value},
#define EACH(name, since) [CU_DEVICE_ATTRIBUTE_##name] = {since, EACH_##name, 0},
#define NONE(name, since) SAME(name, since, 0)
#include "core/profile.def"
#undef NONE
#undef SAME
#undef EACH
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
    *value = found->each == EACH_COUNT ? found->value : profile->values[found->each];
    return true;
}
