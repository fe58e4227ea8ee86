/* SPDX-License-Identifier: MIT */
#include "sim_library.h"

#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call/fault.h"
#include "core/config.h"
#include "elf_hide.h"
#include "nvml/nvml_rule.h"

#define PREFIX "libcuda-sim-"
#define SUFFIX ".so"

/* Where the libraries are: a folder of one's own, the build's, the installed one. */
static bool find_folder(char *folder, size_t size)
{
    const char *asked = secure_getenv("CUSHIM_SIM_DIR");
    static const char *const beside[] = {"../src/sim", "../" SIM_LIBRARY_FOLDER};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (asked && *asked != '\0') {
        snprintf(folder, size, "%s", asked);
        return access(folder, R_OK | X_OK) == 0;
    }
    if (length < 0)
        return false;
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        int written = snprintf(folder, size, "%s/%s", self, beside[i]);
        if (written > 0 && (size_t)written < size && access(folder, R_OK | X_OK) == 0)
            return true;
    }
    return false;
}

/* 12.4 of libcuda-sim-12.4.so, as 12040; 0 for any other file. */
static int version_of(const char *file)
{
    int major, minor, end = 0;

    if (sscanf(file, PREFIX "%d.%d" SUFFIX "%n", &major, &minor, &end) != 2 || end == 0 ||
        file[end] != '\0')
        return 0;
    return 1000 * major + 10 * minor;
}

int sim_library_version(const char *path)
{
    const char *slash = strrchr(path, '/');

    return version_of(slash ? slash + 1 : path);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Versions in the folder, ascending. */
static int list_versions(const char *folder, int *versions, int most)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int count = 0;

    while (directory && (entry = readdir(directory)) && count < most) {
        int version = version_of(entry->d_name);
        if (version != 0)
            versions[count++] = version;
    }
    if (directory)
        closedir(directory);
    qsort(versions, (size_t)count, sizeof *versions, compare);
    return count;
}

static void print_versions(FILE *stream, const int *versions, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(stream, " %d.%d", versions[i] / 1000, versions[i] % 1000 / 10);
    fputc('\n', stream);
}

int sim_versions(int *versions, int most)
{
    char folder[PATH_MAX];

    return find_folder(folder, sizeof folder) ? list_versions(folder, versions, most) : 0;
}

int sim_list(void)
{
    int versions[256], count = sim_versions(versions, 256);

    fputs("CUDA versions:", stdout);
    print_versions(stdout, versions, count);
    puts("profiles:");
    for (size_t i = 0; sim_profile_all[i].name; i++) {
        const struct sim_profile *profile = &sim_profile_all[i];
        int capability = sim_profile_capability(profile);

        printf("  %-12s  %2d.%d  from CUDA %d.%d on  %s\n", profile->name, capability / 10,
               capability % 10, profile->since / 1000, profile->since % 1000 / 10,
               profile->device_name);
    }
    return COMMAND_OK;
}

static bool whole(const char *command, const char *option, const char *text, long low, long high)
{
    char *end;
    long value;

    if (!text)
        return true;
    errno = 0;
    value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= low && value <= high)
        return true;
    fprintf(stderr, "cushim %s: --%s: '%s' is no number from %ld to %ld\n", command, option, text,
            low, high);
    return false;
}

/* A device that the CUDA version knows. */
static bool profile_good(const char *command, const char *cuda, const char *name)
{
    const struct sim_profile *profile = name ? sim_profile_find(name) : NULL;
    char list[320];
    int major, minor;

    if (name && !profile) {
        fprintf(stderr, "cushim %s: --profile: there is no '%s'; %s\n", command, name,
                sim_config_list(list, sizeof list, NULL));
        return false;
    }
    if (!profile || !cuda || sscanf(cuda, "%d.%d", &major, &minor) != 2 ||
        1000 * major + 10 * minor >= profile->since)
        return true;
    fprintf(stderr,
            "cushim %s: --profile: CUDA %s does not know '%s' (%s), which came with %d.%d\n",
            command, cuda, name, profile->device_name, profile->since / 1000,
            profile->since % 1000 / 10);
    return false;
}

const char *sim_setting(const char *option, const char *variable)
{
    if (option)
        return option;
    const char *text = secure_getenv(variable);
    return text && *text != '\0' ? text : NULL;
}

bool sim_settings_good(const char *command, const char *cuda, const char *devices,
                       const char *profile, const char *memory, const char *workers,
                       const char *time_limit, const char *grain, const char *checks)
{
    size_t bytes;

    if (!profile_good(command, cuda, profile))
        return false;
    if (checks && sim_config_checks(checks) == 0) {
        fprintf(stderr, "cushim %s: --check: '%s' is no check; %s\n", command, checks,
                sim_config_check_words);
        return false;
    }
    if (memory && (!sim_config_bytes(memory, &bytes) || bytes == 0)) {
        fprintf(stderr, "cushim %s: --memory: '%s' is no size such as 512M or 8G\n", command,
                memory);
        return false;
    }
    return whole(command, "devices", devices, 0, SIM_MAX_DEVICES) &&
           whole(command, "workers", workers, 1, SIM_MAX_WORKERS) &&
           whole(command, "time-limit", time_limit, 1, 1000000000) &&
           whole(command, "grain", grain, 1, SIM_MAX_GRAIN);
}

bool sim_faults_good(const char *command, bool survived, const char *faults)
{
    char error[SIM_RULE_SENTENCE], *rules = strdup(faults), *rest = NULL;
    bool good = rules;

    /* In this process, where nothing is called: all are tried together, as in the program. */
    for (char *rule = good ? strtok_r(rules, ";", &rest) : NULL; good && rule;
         rule = strtok_r(NULL, ";", &rest))
        good = sim_nvml_rule_is(rule) ? sim_nvml_rule_check(rule, error, sizeof error)
               : survived             ? sim_fault_entry(rule, error, sizeof error)
                                      : sim_fault_add(rule, error, sizeof error);
    const char *words = rules ? error : "no memory";
    if (!good && survived)
        fprintf(stderr, "cushim %s: --survives: %s\n", command, words);
    else if (!good)
        fprintf(stderr, "cushim %s: --fault: %s\n", command, words);
    free(rules);
    return good;
}

int sim_library_find(const char *cuda, char *path, size_t size)
{
    int versions[256], count, asked = 0, major, minor, end = 0, found = 0;
    char folder[PATH_MAX];

    if (!find_folder(folder, sizeof folder) ||
        (count = list_versions(folder, versions, 256)) == 0) {
        fprintf(stderr, "cushim sim: no simulated driver is installed beside this command; "
                        "CUSHIM_SIM_DIR may name the folder with " PREFIX "X.Y" SUFFIX "\n");
        return COMMAND_NO_DRIVER;
    }
    if (cuda && (sscanf(cuda, "%d.%d%n", &major, &minor, &end) != 2 || cuda[end] != '\0'))
        major = minor = -1;
    else if (cuda)
        asked = 1000 * major + 10 * minor;
    for (int i = 0; i < count; i++)
        if (!cuda || versions[i] == asked)
            found = versions[i];
    if (found == 0) {
        fprintf(stderr, "cushim sim: --cuda: '%s' is none of", cuda);
        print_versions(stderr, versions, count);
        return COMMAND_USAGE;
    }
    if (snprintf(path, size, "%s/" PREFIX "%d.%d" SUFFIX, folder, found / 1000, found % 1000 / 10) <
        (int)size)
        return COMMAND_OK;
    fputs("cushim sim: the path of the simulated driver is too long\n", stderr);
    return COMMAND_SYSTEM;
}
