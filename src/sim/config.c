/* SPDX-License-Identifier: MIT */
/* Settings from the environment, read once, unless cushim/sim.h gave others before. A program that
 * runs with more rights than its user has reads none: the log could be written where the user may
 * not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "fault_rule.h"
#include "log.h"
#include "memory.h"
#include "profile.h"
#include "sim.h"
#include "summary.h"

struct sim_config sim_config = {.devices = 1};
static bool read_already;

static void complain(const char *name, const char *value)
{
    fprintf(stderr, "cushim: simulated driver: %s: cannot use \"%s\"; the default stays\n", name,
            value);
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
        complain(name, text);
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

static void read_profile(const char *text)
{
    const struct sim_profile *profile = sim_profile_find(text);
    if (profile)
        sim_config.profile = profile;
    else
        complain("CUSHIM_SIM_PROFILE", text);
}

static void read_settings(void)
{
    const char *text;
    long long value;
    if ((text = secure_getenv("CUSHIM_SIM_CUDA")) && *text) {
        int asked = version(text);
        if (asked >= SIM_OLDEST && asked <= sim_built_version)
            sim_config.cuda = asked;
        else
            complain("CUSHIM_SIM_CUDA", text);
    }
    if (number("CUSHIM_SIM_DEVICES", 0, SIM_MAX_DEVICES, &value))
        sim_config.devices = (int)value;
    if (number("CUSHIM_SIM_WORKERS", 1, SIM_MAX_WORKERS, &value))
        sim_config.workers = (unsigned)value;
    if (number("CUSHIM_SIM_TIME_LIMIT_MS", 1, 1000000000, &value))
        sim_config.time_limit_ns = (uint64_t)value * 1000000U;
    if (number("CUSHIM_SIM_GRAIN", 1, SIM_GRAIN_MOST, &value))
        sim_config.grain = (size_t)value;
    if ((text = secure_getenv("CUSHIM_SIM_PROFILE")) && *text)
        read_profile(text);
    if ((text = secure_getenv("CUSHIM_SIM_MEMORY")) && *text) {
        sim_config.memory = sim_parse_size(text);
        if (!sim_config.memory)
            complain("CUSHIM_SIM_MEMORY", text);
    }
}

static void read_control(void)
{
    const char *text;
    if ((text = secure_getenv("CUSHIM_SIM_FAULT")) && *text) {
        char error[320];
        if (!sim_fault_add(text, error, sizeof error))
            fprintf(stderr, "cushim: simulated driver: CUSHIM_SIM_FAULT: %s\n", error);
    }
    text = secure_getenv("CUSHIM_SIM_LOG");
    if (!sim_log_open(text))
        fprintf(stderr, "cushim: simulated driver: CUSHIM_SIM_LOG: %s: %s\n", text,
                strerror(errno));
    const char *summary = secure_getenv("CUSHIM_SIM_SUMMARY");
    bool quiet = summary && strcmp(summary, "0") == 0;
    if (quiet)
        sim_log_quiet();
    sim_summary_at_end(summary && !quiet, secure_getenv("CUSHIM_SIM_REPORT"));
}

bool sim_config_use(const struct sim_config *config)
{
    if (read_already)
        return false;
    read_already = true;
    sim_config = *config;
    sim_devices_make();
    return true;
}

void sim_config_read(void)
{
    if (read_already)
        return;
    read_already = true;
    sim_config.cuda = sim_built_version;
    sim_config.profile = sim_profile_find(NULL);
    read_settings();
    sim_devices_make();
    read_control();
}
