/* SPDX-License-Identifier: MIT */
/* Settings, and those of the environment. A program that runs with more rights than its user has
 * reads none. */

#include <errno.h>
#include <stdio.h>

#include "core/core.h"
#include "ptx/ptx.h"
#include "sim_releases.h"

const int sim_config_releases[] = {SIM_RELEASES, 0};

struct sim_config sim_config = {.devices = 1};

bool sim_config_bytes(const char *text, size_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno)
        return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if ((*end && (!unit || end[1])) || value > (SIZE_MAX >> shift))
        return false;
    *bytes = (size_t)value << shift;
    return true;
}

static void complain(const char *name, const char *value, const char *wanted)
{
    fprintf(stderr, "cushim: simulated driver: %s: cannot use \"%s\"; %s; the default stays\n",
            name, value, wanted);
}

const char *sim_config_list(char *text, size_t size, const int *releases)
{
    size_t length = (size_t)snprintf(text, size, "%s", "it takes one of");
    for (; releases && *releases && *releases <= sim_config_built && length < size; releases++)
        length += (size_t)snprintf(text + length, size - length, " %d.%d", *releases / 1000,
                                   *releases % 1000 / 10);
    for (size_t i = 0; !releases && sim_profile_all[i].name && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, " %s", sim_profile_all[i].name);
    return text;
}

/* A whole number in [low, high]. */
static bool number(const char *name, long long low, long long high, long long *value)
{
    const char *text = secure_getenv(name);
    char *end;
    if (!text || !*text)
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (*end || errno || *value < low || *value > high) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "it takes a whole number from %lld to %lld", low, high);
        complain(name, text, wanted);
        return false;
    }
    return true;
}

/* "12.4" -> 12040; 0: not a version. */
static int version(const char *text)
{
    int major, minor, end = 0;
    if (sscanf(text, "%d.%d%n", &major, &minor, &end) != 2 || text[end] || major < 1 || minor < 0 ||
        minor > 9)
        return 0;
    return major * 1000 + minor * 10;
}

void sim_config_too_new(char *text, size_t size, const struct sim_profile *profile, int cuda)
{
    snprintf(text, size, "it came with CUDA %d.%d, and the driver is of CUDA %d.%d",
             profile->since / 1000, profile->since % 1000 / 10, cuda / 1000, cuda % 1000 / 10);
}

bool sim_config_is_release(int cuda)
{
    for (const int *release = sim_config_releases; *release; release++)
        if (*release == cuda)
            return cuda <= sim_config_built;
    return false;
}

static void read_release(const char *text)
{
    char wanted[320];
    const int asked = version(text);
    if (sim_config_is_release(asked))
        sim_config.cuda = asked;
    else
        complain("CUSHIM_SIM_CUDA", text,
                 sim_config_list(wanted, sizeof wanted, sim_config_releases));
}

static void read_profile(const char *text)
{
    char wanted[320];
    const struct sim_profile *profile = sim_profile_find(text);
    if (profile && profile->since <= sim_config.cuda) {
        sim_config.profile = profile;
        return;
    }
    if (profile)
        sim_config_too_new(wanted, sizeof wanted, profile, sim_config.cuda);
    else
        sim_config_list(wanted, sizeof wanted, NULL);
    complain("CUSHIM_SIM_PROFILE", text, wanted);
}

const char sim_config_check_words[] =
    "it takes race, init or sync, or several of them with commas between";

unsigned sim_config_checks(const char *text)
{
    static const struct {
        const char *name;
        unsigned check;
    } names[] = {{"race", PTX_CHECK_RACE}, {"init", PTX_CHECK_INIT}, {"sync", PTX_CHECK_SYNC}};
    unsigned checks = 0;
    for (size_t length; *text; text += length + (text[length] == ',')) {
        unsigned found = 0;
        length = strcspn(text, ",");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strlen(names[i].name) == length && strncmp(text, names[i].name, length) == 0)
                found = names[i].check;
        if (!found)
            return 0;
        checks |= found;
    }
    return checks;
}

void sim_config_read(void)
{
    const char *text;
    long long value;
    sim_config = (struct sim_config){.cuda = sim_config_built, .devices = 1};
    if ((text = secure_getenv("CUSHIM_SIM_CUDA")) && *text)
        read_release(text);
    sim_config.profile = sim_profile_default(sim_config.cuda);
    if (number("CUSHIM_SIM_DEVICES", 0, SIM_MAX_DEVICES, &value))
        sim_config.devices = (int)value;
    if (number("CUSHIM_SIM_WORKERS", 1, SIM_MAX_WORKERS, &value))
        sim_config.workers = (unsigned)value;
    if (number("CUSHIM_SIM_TIME_LIMIT_MS", 1, 1000000000, &value))
        sim_config.time_limit_ns = (uint64_t)value * 1000000U;
    if (number("CUSHIM_SIM_GRAIN", 1, SIM_MAX_GRAIN, &value))
        sim_config.grain = (size_t)value;
    if (number("CUSHIM_SIM_INTERRUPT", 0, 1, &value))
        sim_config.interrupt = value != 0;
    if ((text = secure_getenv("CUSHIM_SIM_PROFILE")) && *text)
        read_profile(text);
    if ((text = secure_getenv("CUSHIM_SIM_CHECK")) && *text) {
        sim_config.checks = sim_config_checks(text);
        if (!sim_config.checks)
            complain("CUSHIM_SIM_CHECK", text, sim_config_check_words);
    }
    if ((text = secure_getenv("CUSHIM_SIM_MEMORY")) && *text) {
        if (!sim_config_bytes(text, &sim_config.memory) || !sim_config.memory)
            complain("CUSHIM_SIM_MEMORY", text, "it takes a size such as 512M or 8G");
    }
}

int sim_config_built = SIM_NEWEST;
