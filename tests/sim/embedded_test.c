/* SPDX-License-Identifier: MIT */
#include "embedded_test.h"

int embedded_end_of(pid_t child)
{
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int embedded_in_child(void (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(0);
    }
    return embedded_end_of(child);
}

const struct cushim_api *embedded_open(struct cushim_sim_options options)
{
    options.size = sizeof options;
    const struct cushim_api *cu = cushim_sim_open(&options);
    EXPECT(cu && cushim_status(cu) == CUSHIM_OK);
    return cu;
}

const struct cushim_api *embedded_start(const struct cushim_api *cu)
{
    const struct cushim_api *api = cu;
    CUcontext context;
    GOOD(api->cuInit(0));
    GOOD(api->cuCtxCreate_v2(&context, 0, 0));
    return api;
}
