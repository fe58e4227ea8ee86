/* SPDX-License-Identifier: MIT */
/* Settings for dumps of a device's memory: kept, though a simulated device writes none. */
#include "context/context.h"

static bool on_exception, of_host_too = true, without_memory, when_asked;
static unsigned generation;
static char file[1024], pipe_name[1024];

static const struct setting {
    void *place;
    size_t size;
    bool is_text;
} settings[] = {
    [CU_COREDUMP_ENABLE_ON_EXCEPTION] = {&on_exception, sizeof on_exception, false},
    [CU_COREDUMP_TRIGGER_HOST] = {&of_host_too, sizeof of_host_too, false},
    [CU_COREDUMP_LIGHTWEIGHT] = {&without_memory, sizeof without_memory, false},
    [CU_COREDUMP_ENABLE_USER_TRIGGER] = {&when_asked, sizeof when_asked, false},
    [CU_COREDUMP_FILE] = {file, sizeof file, true},
    [CU_COREDUMP_PIPE] = {pipe_name, sizeof pipe_name, true},
    [CU_COREDUMP_GENERATION_FLAGS] = {&generation, sizeof generation, false},
};

static const struct setting *find(CUcoredumpSettings attribute)
{
    bool known = (size_t)attribute < sizeof settings / sizeof *settings;
    return known && settings[attribute].size ? &settings[attribute] : NULL;
}

CUresult sim_cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)
{
    const struct setting *found = find(attrib);
    SIM_REFUSE(!found || !size);
    size_t whole = found->is_text ? strlen(found->place) + 1 : found->size;
    SIM_REFUSE(value && *size < whole);
    if (value)
        memcpy(value, found->place, whole);
    *size = whole;
    return CUDA_SUCCESS;
}

CUresult sim_cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)
{
    const struct setting *found = find(attrib);
    SIM_REFUSE(!found || !value || !size || *size > found->size ||
               (*size < found->size && !found->is_text));
    memset(found->place, 0, found->size);
    memcpy(found->place, value, *size);
    if (found->is_text)
        ((char *)found->place)[found->size - 1] = 0;
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
