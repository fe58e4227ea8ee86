/* SPDX-License-Identifier: MIT */
/* Limits of control groups, from folders that look like a machine's. */
#include "core/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/test-machine-XXXXXX";

/* A file below the root, with the folders that it needs. */
static void put(const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + sizeof root; *at; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0755);
            *at = '/';
        }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int open_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int close_root(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    int rc = system(command);
    snprintf(root, sizeof root, "/tmp/test-machine-XXXXXX");
    return rc;
}

static void test_no_groups(void **state)
{
    struct sim_machine machine = sim_machine_read(root);
    (void)state;
    assert_true(machine.memory ==
                (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_in_range(machine.processors, 1, sysconf(_SC_NPROCESSORS_CONF));
}

static void test_version_2(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a.slice/b.scope\n");
    put("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n");
    put("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a.slice/memory.max", "67108864\n");
    put("/sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n");
    struct sim_machine machine = sim_machine_read(root);
    assert_int_equal(machine.memory, 67108864);
    assert_int_equal(machine.processors, 1);
}

/* In a container the group is the root of what it sees. */
static void test_in_a_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "33554432\n");
    assert_int_equal(sim_machine_read(root).memory, 33554432);
}

static void test_version_1(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/docker/x\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "16777216\n");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
    struct sim_machine machine = sim_machine_read(root);
    unsigned all = machine.processors;
    assert_int_equal(machine.memory, 16777216);
    put("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "100000\n");
    assert_int_equal(sim_machine_read(root).processors, 1);
    assert_true(all >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_groups, open_root, close_root),
        cmocka_unit_test_setup_teardown(test_version_2, open_root, close_root),
        cmocka_unit_test_setup_teardown(test_in_a_container, open_root, close_root),
        cmocka_unit_test_setup_teardown(test_version_1, open_root, close_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
