/* SPDX-License-Identifier: MIT */
/* Settings for dumps of a device's memory: kept, though a simulated device writes none. */
#include "core/core.h"

struct settings {
    bool flags[4]; /* on an exception, of the host too, without memory, when the user asks */
    unsigned generation;
    char file[1024], pipe[1024];
};

static struct settings settings = {.flags = {false, true, false, false}};

/* Where a setting is, and how large. */
static void *place(CUcoredumpSettings attribute, size_t *size)
{
    switch ((int)attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
    case CU_COREDUMP_TRIGGER_HOST:
    case CU_COREDUMP_LIGHTWEIGHT:
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
        *size = sizeof(bool);
        return &settings.flags[attribute - CU_COREDUMP_ENABLE_ON_EXCEPTION];
    case CU_COREDUMP_FILE:
        *size = sizeof settings.file;
        return settings.file;
    case CU_COREDUMP_PIPE:
        *size = sizeof settings.pipe;
        return settings.pipe;
    case CU_COREDUMP_GENERATION_FLAGS:
        *size = sizeof settings.generation;
        return &settings.generation;
    default:
        return NULL;
    }
}

static bool is_text(CUcoredumpSettings attribute)
{
    return attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE;
}

CUresult sim_cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)
{
    size_t whole;
    const void *from = place(attrib, &whole);
    SIM_REFUSE(!from || !size);
    if (is_text(attrib))
        whole = strlen(from) + 1;
    SIM_REFUSE(value && *size < whole);
    if (value)
        memcpy(value, from, whole);
    *size = whole;
    return CUDA_SUCCESS;
}

CUresult sim_cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)
{
    size_t whole;
    void *to = place(attrib, &whole);
    SIM_REFUSE(!to || !value || !size || (is_text(attrib) ? *size > whole : *size != whole));
    memset(to, 0, whole);
    memcpy(to, value, *size);
    if (is_text(attrib))
        ((char *)to)[whole - 1] = 0;
    return CUDA_SUCCESS;
}

/* A context's are the process's. */
SIM_WITH(cuCoredumpGetAttribute, struct sim_context *, context, sim_current(&context),
         sim_cuCoredumpGetAttributeGlobal(get, value, size))
SIM_WITH(cuCoredumpSetAttribute, struct sim_context *, context, sim_current(&context),
         sim_cuCoredumpSetAttributeGlobal(set, value, size))

/* --- Who is to be told of a dump: kept, as none begins here --- */

SIM_ENTRY(cuCoredumpRegisterStartCallback,
          sim_registration_make(SIM_REGISTERED_DUMP_START, (sim_any_function *)callback, userData,
                                0, (void **)callbackOut))
SIM_ENTRY(cuCoredumpRegisterCompleteCallback,
          sim_registration_make(SIM_REGISTERED_DUMP_COMPLETE, (sim_any_function *)callback,
                                userData, 0, (void **)callbackOut))
SIM_ENTRY(cuCoredumpDeregisterStartCallback,
          sim_registration_end(SIM_REGISTERED_DUMP_START, 0, callback))
SIM_ENTRY(cuCoredumpDeregisterCompleteCallback,
          sim_registration_end(SIM_REGISTERED_DUMP_COMPLETE, 0, callback))
