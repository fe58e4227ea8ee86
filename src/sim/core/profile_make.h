/* SPDX-License-Identifier: MIT */
/* One simulated device from its file profiles/PROFILE.def; included by profile.c for each. A value
 * for each attribute has one line there: fewer do not compile, and one that is there twice in the
 * place of another is a warning. */
/* clang-format off */
#define MAKE_TEXT(text) #text
#define MAKE_FILE(name) MAKE_TEXT(core/profiles/name.def)

static const struct sim_profile PROFILE = {
#define DEVICE(text, device, release) .name = (text), .device_name = (device), .since = (release),
#define MEMORY(bytes, heap) .memory = (bytes), .heap_max = (heap),
#define VALUE(attribute, number) .values[EACH_##attribute] = (number),
#include MAKE_FILE(PROFILE)
#undef DEVICE
#undef MEMORY
#undef VALUE
};
_Static_assert(
#define DEVICE(text, device, release)
#define MEMORY(bytes, heap)
#define VALUE(attribute, number) +1
#include MAKE_FILE(PROFILE)
#undef DEVICE
#undef MEMORY
#undef VALUE
        == EACH_COUNT,
    "a profile has a value for each attribute, once");

/* clang-format on */
_Static_assert(__COUNTER__ > PROFILES_FROM, "one more, for the list in profile.c");
#undef MAKE_FILE
#undef MAKE_TEXT
#undef PROFILE
