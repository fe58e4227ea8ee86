/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "instance.h"

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

static void explain(const struct cushim *cu, enum cushim_status status)
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

enum cushim_status cushim_init(struct cushim *cu, const char **message)
{
    enum cushim_status status = cu->status;
    if (status != CUSHIM_OK) {
        snprintf(sentence, sizeof sentence, "%s", cushim_message(cu));
    } else {
        long process = cushim_platform_process_id();
        cushim_platform_lock();
        if (!cu->init_process) {
            cu->init_result = cu->table->cuInit(0);
            cu->init_process = process;
        }
        status = cu->init_process == process ? meaning(cu->init_result) : CUSHIM_ERROR_FORKED;
        cushim_platform_unlock();
        if (status == CUSHIM_OK)
            snprintf(sentence, sizeof sentence, "%s", cushim_message(cu));
        else
            explain(cu, status);
    }
    if (status != CUSHIM_OK)
        cushim_set_last_error("%s", sentence);
    if (message)
        *message = sentence;
    return status;
}
