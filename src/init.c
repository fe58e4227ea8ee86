/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>

#include "instance.h"
#include "lock.h"

/* Process whose thread first called a cuInit through cushim; its children have no CUDA. */
static _Atomic long first_caller;
/* cuInit takes a second on some machines: nothing else waits for this lock. */
static struct cushim_lock init_lock;
static CUSHIM_THREAD_LOCAL char sentence[1024];

static enum cushim_status meaning(CUresult result)
{
    switch ((int)result) {
    case 0:
        return CUSHIM_OK;
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

static void explain(const struct cushim_instance *cu, enum cushim_status status)
{
    const char *path = cu->path ? cu->path : "the CUDA driver";
    if (status == CUSHIM_ERROR_FORKED) {
        snprintf(sentence, sizeof sentence,
                 "%s: cuInit ran in the parent of this process, and CUDA does not survive a fork%s",
                 path, cushim_advice(status));
        return;
    }
    const char *text = cushim_error_string(cu->init_result);
    snprintf(sentence, sizeof sentence, "%s: cuInit says %d, %s%s", path, (int)cu->init_result,
             text ? text : "a code this build does not know", cushim_advice(status));
}

bool cushim_is_forked(void)
{
    const long caller = atomic_load(&first_caller);
    return caller && caller != cushim_platform_process_id();
}

/* The first answer of this instance; FORKED where the process is not the one that called. */
static enum cushim_status initialize(struct cushim_instance *cu)
{
    if (cushim_is_forked())
        return CUSHIM_ERROR_FORKED;
    atomic_store(&first_caller, cushim_platform_process_id());
    cushim_lock_take(&init_lock);
    if (!cu->init_called) {
        cu->init_result = cu->own.cuInit(0);
        cu->init_called = true;
    }
    cushim_lock_release(&init_lock);
    return meaning(cu->init_result);
}

enum cushim_status cushim_init(const struct cushim_api *api, const char **message)
{
    struct cushim_instance *cu = api->instance;
    enum cushim_status status = cu->status;
    if (status != CUSHIM_OK) {
        snprintf(sentence, sizeof sentence, "%s", cushim_message(api));
    } else {
        status = initialize(cu);
        if (status == CUSHIM_OK)
            snprintf(sentence, sizeof sentence, "%s", cushim_message(api));
        else
            explain(cu, status);
    }
    if (status != CUSHIM_OK)
        cushim_set_last_error("%s", sentence);
    if (message)
        *message = sentence;
    return status;
}
