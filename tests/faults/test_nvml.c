/* SPDX-License-Identifier: MIT */
/* Everything that a load of NVML asks the system for fails in turn, each time in a process of its
 * own: the table is sound, the status is a failure, and there is a sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/nvml.h>

#include "common.h"
#include "inject.h"

struct run {
    enum inject_kind kind;
    unsigned first;
    bool on;
    char path[PATH_SIZE];
};

static void load(void *argument)
{
    const struct run *run = argument;
    struct cushim_nvml_options options = CUSHIM_NVML_OPTIONS_INIT;
    options.path = run->path;
    inject_begin(run->kind, run->first, run->on);
    const struct cushim_nvml *nvml = cushim_nvml_load(&options);
    unsigned calls = inject_end();
    if (calls < run->first)
        printf("no more");
    assert_non_null(nvml);
    int code = (int)nvml->nvmlInit();
    if (cushim_nvml_status(nvml) == CUSHIM_OK) {
        /* A symbol that dlsym does not find is no entry. */
        assert_int_equal(code, CUSHIM_NVML_HAS(nvml, nvmlInit) ? NVML_SUCCESS
                                                               : NVML_ERROR_FUNCTION_NOT_FOUND);
    } else {
        assert_true(calls >= run->first);
        assert_int_equal(code, NVML_ERROR_LIBRARY_NOT_FOUND);
        assert_true(strlen(cushim_nvml_message(nvml)) > 0);
        assert_contains(cushim_last_error(), "nvmlInit_v2 is not available");
    }
    if (run->kind == INJECT_ALLOCATE && calls >= run->first && !run->on && run->first == 1)
        assert_int_equal(cushim_nvml_status(nvml), CUSHIM_ERROR_OUT_OF_MEMORY);
}

static void test_load(void **state)
{
    (void)state;
    unsigned runs = 0;
    struct run run = {.kind = 0};
    snprintf(run.path, sizeof run.path, "%s", fake_path("nvml"));
    for (run.kind = 0; run.kind < INJECT_KINDS; run.kind++)
        for (int on = 0; on < 2; on++) {
            char output[TEXT_SIZE] = "";
            run.on = on;
            /* More than this are look-ups of entries, all alike. */
            for (run.first = 1; run.first < 40 && !strstr(output, "no more"); run.first++, runs++)
                run_in_child(load, &run, output);
        }
    print_message("# nvml: %u runs with a fault\n", runs);
    assert_true(runs > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
