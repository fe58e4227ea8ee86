/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static int faults_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Returns whether the call was reached. */
static bool faults_run_one(const struct faults_scenario *scenario, enum inject_kind kind,
                           unsigned first, bool on)
{
    char text[2048] = "";
    int descriptors = faults_descriptors();
    inject_begin(kind, first, on);
    int code = scenario->run(text, sizeof text);
    unsigned calls = inject_end();
    const char *where = on ? "and all after it" : "alone";
    if (code && (first == 0 || calls < first || !scenario->names(kind, code, text)))
        fail_msg("%s, %s %u %s: code %d: %s", scenario->name, inject_names[kind], first, where,
                 code, text);
    if (inject_blocks())
        fail_msg("%s, %s %u %s: %d blocks leak", scenario->name, inject_names[kind], first, where,
                 inject_blocks());
    if (faults_descriptors() != descriptors)
        fail_msg("%s, %s %u %s: a descriptor leaks", scenario->name, inject_names[kind], first,
                 where);
    return calls >= first;
}

void faults_run(const struct faults_scenario *scenario)
{
    unsigned runs = 0;
    for (enum inject_kind kind = 0; kind < INJECT_KINDS; kind++) {
        faults_run_one(scenario, kind, 0, false);
        for (int on = 0; on < 2; on++)
            for (unsigned first = 1; faults_run_one(scenario, kind, first, on); first++)
                runs++;
    }
    print_message("# %s: %u runs with a fault\n", scenario->name, runs);
    assert_true(runs > 0);
}
