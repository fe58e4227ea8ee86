/* SPDX-License-Identifier: MIT */
/* The machine's memory and processors, and the limits of control groups, of version 2 and 1. A
 * group's limit holds for all below it, so that each level up to the root is asked. */
#include "core/core.h"

#include <sched.h>
#include <stdio.h>

#define PATH_SIZE 4096

/* The first numbers of a file: how many there are. */
static int numbers_of(const char *folder, const char *name, uint64_t *first, uint64_t *second)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    unsigned long long values[2] = {0, 0};
    int count = file ? fscanf(file, "%llu %llu", &values[0], &values[1]) : 0;
    if (file)
        fclose(file);
    *first = values[0];
    *second = values[1];
    return count;
}

static void limit_memory(struct sim_machine *machine, uint64_t bytes)
{
    if (bytes && bytes < machine->memory)
        machine->memory = bytes;
}

/* A part of a processor counts as a whole one. */
static void limit_processors(struct sim_machine *machine, uint64_t quota, uint64_t period)
{
    uint64_t whole = period ? (quota + period - 1) / period : 0;
    if (whole && whole < machine->processors)
        machine->processors = (unsigned)whole;
}

/* Files that a limit does not name a number in hold "max" or -1. */
static void read_group(struct sim_machine *machine, const char *folder)
{
    uint64_t first, second;
    if (numbers_of(folder, "memory.max", &first, &second) > 0)
        limit_memory(machine, first);
    if (numbers_of(folder, "memory.limit_in_bytes", &first, &second) > 0)
        limit_memory(machine, first);
    if (numbers_of(folder, "cpu.max", &first, &second) == 2)
        limit_processors(machine, first, second);
    uint64_t quota, period;
    if (numbers_of(folder, "cpu.cfs_quota_us", &quota, &second) > 0 && quota < UINT32_MAX &&
        numbers_of(folder, "cpu.cfs_period_us", &period, &second) > 0)
        limit_processors(machine, quota, period);
}

/* The group and all above it, below the folder where its controllers are mounted. */
static void read_groups(struct sim_machine *machine, const char *mount, const char *group)
{
    char path[PATH_SIZE];
    size_t base = (size_t)snprintf(path, sizeof path, "%s", mount);
    if (base >= sizeof path ||
        snprintf(path + base, sizeof path - base, "%s", group) >= (int)(sizeof path - base))
        return;
    for (;;) {
        read_group(machine, path);
        char *last = strrchr(path + base, '/');
        if (!last)
            return;
        *last = '\0';
    }
}

/* One line of /proc/self/cgroup: number:controllers:group. */
static void read_line(struct sim_machine *machine, const char *root, char *line)
{
    char mount[PATH_SIZE];
    char *controllers = strchr(line, ':'), *group;
    line[strcspn(line, "\n")] = '\0';
    if (!controllers || !(group = strchr(++controllers, ':')))
        return;
    *group++ = '\0';
    if (snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root, *controllers ? "/" : "",
                 controllers) < (int)sizeof mount)
        read_groups(machine, mount, group);
}

static unsigned processors_allowed(void)
{
    for (size_t most = 1024; most <= (size_t)1 << 20; most *= 4) {
        cpu_set_t *set = CPU_ALLOC(most);
        size_t size = CPU_ALLOC_SIZE(most);
        bool known = set && sched_getaffinity(0, size, set) == 0;
        int count = known ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
    }
    return 1;
}

struct sim_machine sim_machine_read(const char *root)
{
    struct sim_machine machine = {.processors = processors_allowed()};
    char path[PATH_SIZE], line[PATH_SIZE];
    machine.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *groups = fopen(path, "re");
    while (groups && fgets(line, sizeof line, groups))
        read_line(&machine, root, line);
    if (groups)
        fclose(groups);
    return machine;
}
