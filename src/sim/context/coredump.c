/* SPDX-License-Identifier: MIT */
/* Settings for dumps of a device's memory: kept, though a simulated device writes none. */
#include "context/context.h"

struct sim_dumps sim_coredump_process = {.of_host_too = true};
static struct sim_dumps before_init = {.of_host_too = true}; /* forgotten by cuInit */

#define PLACE(name) offsetof(struct sim_dumps, name), sizeof((struct sim_dumps *)0)->name
static const struct setting {
    size_t offset, size;
    bool is_text, of_process; /* of_process: no context has it for itself */
} settings[] = {
    [CU_COREDUMP_ENABLE_ON_EXCEPTION] = {PLACE(on_exception), false, false},
    [CU_COREDUMP_TRIGGER_HOST] = {PLACE(of_host_too), false, false},
    [CU_COREDUMP_LIGHTWEIGHT] = {PLACE(without_memory), false, false},
    [CU_COREDUMP_ENABLE_USER_TRIGGER] = {PLACE(when_asked), false, true},
    [CU_COREDUMP_FILE] = {PLACE(file), true, false},
    [CU_COREDUMP_PIPE] = {PLACE(pipe), true, true},
    [CU_COREDUMP_GENERATION_FLAGS] = {PLACE(generation), false, false},
};

static const struct setting *find(CUcoredumpSettings attribute)
{
    bool known = (size_t)attribute < sizeof settings / sizeof *settings;
    return known && settings[attribute].size ? &settings[attribute] : NULL;
}

/* What is wrong with the setting is told before what is wrong with the context. */
static CUresult of_context(CUcoredumpSettings attribute, struct sim_dumps **dumps)
{
    const struct setting *found = find(attribute);
    SIM_REFUSE(!found || found->of_process);
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    *dumps = &context->dumps;
    return CUDA_SUCCESS;
}

/* A real driver writes up to 1024 bytes of a text into any room, and leaves its size alone. */
static CUresult ask(const struct sim_dumps *dumps, CUcoredumpSettings attribute, void *value,
                    size_t *size)
{
    const struct setting *found = find(attribute);
    SIM_REFUSE(!found || !size);
    const char *place = (const char *)dumps + found->offset;
    size_t whole = found->is_text ? strlen(place) + 1 : found->size;
    if (!value) {
        *size = whole;
        return CUDA_SUCCESS;
    }
    SIM_REFUSE(found->is_text ? *size < whole : *size != whole);
    memcpy(value, place, whole);
    return CUDA_SUCCESS;
}

static CUresult change(struct sim_dumps *dumps, CUcoredumpSettings attribute, const void *value,
                       const size_t *size)
{
    const struct setting *found = find(attribute);
    SIM_REFUSE(!found || !size || (found->is_text ? *size > found->size : *size != found->size));
    char *place = (char *)dumps + found->offset;
    if (!value) /* changes nothing */
        return CUDA_SUCCESS;
    memset(place, 0, found->size);
    memcpy(place, value, *size);
    if (found->is_text)
        place[found->size - 1] = 0;
    return CUDA_SUCCESS;
}

static struct sim_dumps *of_process(void)
{
    return sim_device_initialized() ? &sim_coredump_process : &before_init;
}

SIM_ENTRY(cuCoredumpGetAttributeGlobal, ask(of_process(), get, value, size))
SIM_ENTRY(cuCoredumpSetAttributeGlobal, change(of_process(), set, value, size))
SIM_WITH(cuCoredumpGetAttribute, struct sim_dumps *, dumps, of_context(get, &dumps),
         ask(dumps, get, value, size))
SIM_WITH(cuCoredumpSetAttribute, struct sim_dumps *, dumps, of_context(set, &dumps),
         change(dumps, set, value, size))

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
