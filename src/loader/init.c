/* SPDX-License-Identifier: MIT */
/* Calls cuInit. No lock is held meanwhile: drivers let several threads in, and it takes a second
 * on some machines. */
#include "loader/init.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "loader/fault_rule.h"
#include "loader/instance.h"
#include "loader/last_error.h"
#include "loader/status.h"

/* The last process in which cuInit succeeded; 0: none. */
static _Atomic long init_process;

bool cushim_init_is_forked(void)
{
    long process = atomic_load(&init_process);
    return process && process != cushim_platform_process();
}

/* A child that was forked while another thread of its parent was in cuInit would wait there for
 * that thread, for ever. */
CUSHIM_COLD static CUresult init_call(const struct cushim_api *cu)
{
    struct cushim_instance *instance = cu->instance;
    long process = cushim_platform_process();
    if (atomic_load(&instance->init_inside) && atomic_load(&instance->init_process) != process)
        return CUDA_ERROR_NOT_INITIALIZED;
    atomic_store(&instance->init_process, process);
    atomic_fetch_add(&instance->init_inside, 1);
    CUresult result = cu->cuInit(0);
    atomic_fetch_sub(&instance->init_inside, 1);
    return result;
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

CUSHIM_COLD static char *init_explain(const struct cushim_api *cu, enum cushim_status status,
                                      CUresult result)
{
    const char *path = cushim_path(cu), *text = cushim_error_string(result);
    const char *advice = cushim_status_advice(status);
    char rule[CUSHIM_FAULT_RULE];
    const char *by = cushim_fault_rule_words(rule);
    path = path ? path : "the CUDA driver";
    if (*by) /* the machine has nothing to do with it */
        advice = by;
    return status == CUSHIM_ERROR_FORKED && !*by
               ? cushim_text_format("%s: cuInit ran in the parent of this process, and CUDA does "
                                    "not survive a fork%s",
                                    path, advice)
               : cushim_text_format("%s: cuInit returned %d, %s%s", path, (int)result,
                                    text ? text : "a code this build does not know", advice);
}

/* Whether the caller put a cuInit into a copy of the table. */
static bool init_is_callers(const struct cushim_api *cu)
{
    return cu->cuInit != cu->instance->resolution.table.cuInit;
}

/* For cushim_message, one sentence for each status. A copy of the table with a cuInit of its own
 * has no message of its own. */
CUSHIM_COLD static void init_note(const struct cushim_api *cu, enum cushim_status status,
                                  char *sentence)
{
    struct cushim_instance *instance = cu->instance;
    if (init_is_callers(cu)) {
        free(sentence);
        return;
    }
    if (status != CUSHIM_OK)
        cushim_instance_keep(&instance->init_messages[status - CUSHIM_ERROR_NO_DEVICE], sentence);
    atomic_store(&instance->init_status, (int)status);
}

CUSHIM_COLD static enum cushim_status init_run(const struct cushim_api *cu, CUresult *result)
{
    *result = CUDA_ERROR_NO_DEVICE;
    enum cushim_status status = cushim_status(cu);
    if (!cu)
        return status;
    if (status != CUSHIM_OK && !init_is_callers(cu)) {
        cushim_last_error_set("%s", cushim_message(cu));
        return status;
    }
    *result = init_call(cu);
    status = init_status(*result);
    if (status == CUSHIM_OK) {
        atomic_store(&init_process, cushim_platform_process());
        init_note(cu, status, NULL);
        return status;
    }
    char *sentence = init_explain(cu, status, *result);
    cushim_last_error_set("%s", sentence ? sentence : cushim_status_name(status));
    init_note(cu, status, sentence);
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
