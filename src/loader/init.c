/* SPDX-License-Identifier: MIT */
/* Calls cuInit. No lock is held meanwhile: drivers let several threads in, and it takes a second
 * on some machines. */
#include "loader/init.h"

#include <stdatomic.h>
#include <stdio.h>

#include "loader/instance.h"
#include "loader/last_error.h"
#include "loader/status.h"

/* The process that last called cuInit through cushim_init, and how far it came. A child has no
 * CUDA if its parent's cuInit had succeeded, or had not returned yet. */
static struct cushim_mark init_process;
static _Atomic int init_running, init_succeeded;

bool cushim_init_is_forked(void)
{
    return cushim_platform_is_child(&init_process) &&
           (atomic_load(&init_running) || atomic_load(&init_succeeded));
}

CUSHIM_COLD static enum cushim_status init_status(CUresult result)
{
    switch ((int)result) {
    case 0:
        return CUSHIM_OK;
    case 3: /* a driver that was initialised in the parent: drivers return it from nothing else */
        return CUSHIM_ERROR_FORKED;
    case 100:
        return CUSHIM_ERROR_NO_DEVICE;
    case 802:
        return CUSHIM_ERROR_NOT_READY;
    case 803:
        return CUSHIM_ERROR_DRIVER_MISMATCH;
    case 804:
        return CUSHIM_ERROR_COMPAT_UNSUPPORTED;
    case 999:
        return CUSHIM_ERROR_INIT_UNKNOWN;
    default:
        return CUSHIM_ERROR_INIT_FAILED;
    }
}

CUSHIM_COLD static const char *init_explain(struct cushim_instance *instance,
                                            enum cushim_status status, CUresult result)
{
    const char *path = cushim_path(&instance->resolution.table),
               *text = cushim_error_string(result);
    const char *advice = cushim_status_advice(status);
    path = path ? path : "the CUDA driver";
    char *sentence =
        status == CUSHIM_ERROR_FORKED
            ? cushim_find_format("%s: cuInit ran in the parent of this process, and CUDA does not "
                                 "survive a fork%s",
                                 path, advice)
            : cushim_find_format("%s: cuInit returned %d, %s%s", path, (int)result,
                                 text ? text : "a code this build does not know", advice);
    const char *kept = cushim_instance_keep(&instance->init_message, sentence);
    return kept ? kept : cushim_status_name(status);
}

/* The first result of this instance's cuInit. */
CUSHIM_COLD static CUresult init_call(struct cushim_instance *instance)
{
    int result = atomic_load(&instance->init_result);
    if (result != CUSHIM_INIT_NOT_CALLED)
        return (CUresult)result;
    cushim_platform_mark(&init_process);
    atomic_fetch_add(&init_running, 1);
    int returned = (int)instance->resolution.table.cuInit(0);
    if (returned == CUDA_SUCCESS)
        atomic_store(&init_succeeded, 1);
    atomic_fetch_sub(&init_running, 1);
    return (CUresult)(atomic_compare_exchange_strong(&instance->init_result, &result, returned)
                          ? returned
                          : result);
}

CUSHIM_COLD static enum cushim_status init_run(const struct cushim_api *cu, CUresult *result)
{
    *result = CUDA_ERROR_NO_DEVICE;
    enum cushim_status status = cushim_status(cu);
    if (status != CUSHIM_OK) {
        cushim_last_error_set("%s", cushim_message(cu));
        return status;
    }
    /* A result other than success stays what it was, in a child too. */
    int before = atomic_load(&cu->instance->init_result);
    bool forked =
        (before == CUSHIM_INIT_NOT_CALLED || before == CUDA_SUCCESS) && cushim_init_is_forked();
    *result = forked ? CUDA_ERROR_NOT_INITIALIZED : init_call(cu->instance);
    status = forked ? CUSHIM_ERROR_FORKED : init_status(*result);
    if (status != CUSHIM_OK)
        cushim_last_error_set("%s", init_explain(cu->instance, status, *result));
    return status;
}

enum cushim_status cushim_init(const struct cushim_api *cu)
{
    CUresult ignored;
    return init_run(cu, &ignored);
}

CUresult cushim_init_code(const struct cushim_api *cu)
{
    CUresult result;
    init_run(cu, &result);
    return result;
}
