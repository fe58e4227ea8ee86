/* SPDX-License-Identifier: MIT */
/* cuLink*: several inputs into one image, which cuModuleLoadData takes. */
#include "module/module.h"

#include <search.h>
#include <stdio.h>

struct link {
    struct sim_object object;
    const struct sim_device *device; /* the context may end while a thread compiles */
    struct sim_jit jit;
    struct sim_image inputs;
    struct ptx_build *build; /* of the inputs so far; NULL: none */
    void *names;             /* tree of the inputs' definitions */
    void *output;            /* NULL: not complete */
    size_t output_size;
    struct ptx_module *module; /* what is in the output */
    CUresult failed;           /* why it never completes */
    unsigned added;            /* inputs, in whatever state */
    bool libraries;            /* among the inputs */
    bool busy;                 /* a thread compiles for it, without the driver's lock */
    bool destroyed;            /* by the end of its context meanwhile: that thread frees it */
};

/* What no other input may define again. */
struct definition {
    const char *input; /* behind the name */
    char name[];
};

static void link_free(struct link *link)
{
    sim_jit_free(&link->jit);
    sim_image_free(&link->inputs);
    ptx_build_cancel(link->build);
    ptx_module_release(link->module);
    tdestroy(link->names, free);
    free(link->output);
    free(link);
}

/* The link of a handle for this thread alone. */
static CUresult link_claim(CUlinkState state, struct link **claimed)
{
    struct link *link;
    while ((link = sim_object(SIM_LINK, state)) && link->busy) {
        sim_lock_leave();
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        sim_lock_enter();
    }
    SIM_FAIL(INVALID_HANDLE, !link);
    link->busy = link->object.pinned = true;
    *claimed = link;
    return CUDA_SUCCESS;
}

static void link_leave(struct link *link)
{
    link->busy = link->object.pinned = false;
    if (link->destroyed)
        link_free(link);
}

SIM_BEHAVIOUR(cuLinkCreate_v2)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!stateOut);
    SIM_NEW(struct link, link);
    SIM_TRY_OR(sim_jit_begin(&link->jit, numOptions, options, optionValues), free(link));
    link->device = context->device;
    sim_object_add(&link->object, SIM_LINK, context);
    *stateOut = (CUlinkState)link;
    return CUDA_SUCCESS;
}

static int compare(const void *one, const void *other)
{
    return strcmp(((const struct definition *)one)->name, ((const struct definition *)other)->name);
}

static CUresult define(struct link *link, const char *name, const char *input)
{
    size_t length = strlen(name) + 1, more = strlen(input) + 1;
    SIM_MADE(struct definition *, own, malloc(sizeof *own + length + more));
    memcpy(own->name, name, length);
    own->input = memcpy(own->name + length, input, more);
    struct definition **first = tsearch(own, &link->names, compare);
    if (first && *first == own)
        return CUDA_SUCCESS;
    free(own);
    SIM_FAIL(OUT_OF_MEMORY, !first);
    ptx_text_add(&link->jit.errors,
                 "error   : Multiple definition of '%s' in '%s', first defined in '%s'\n", name,
                 input, (*first)->input);
    return link->failed = CUDA_ERROR_INVALID_SOURCE;
}

static CUresult begin(struct link *link)
{
    const struct ptx_options options = sim_jit_options(&link->jit, link->device);
    if (!link->build)
        link->build = ptx_build_begin(&options);
    return link->build ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult read_sources(struct link *link, const struct sim_image *image,
                             struct ptx_text *errors)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < image->count && result == CUDA_SUCCESS; i++) {
        const struct ptx_source *source = &image->sources[i];
        sim_lock_leave(); /* it takes long, and other threads may use the driver meanwhile */
        enum ptx_status status = ptx_build_add(link->build, source, errors, NULL);
        sim_lock_enter();
        result = sim_jit_code(status);
        size_t count = status == PTX_OK ? ptx_build_definitions(link->build) : 0;
        for (size_t j = 0; j < count && result == CUDA_SUCCESS; j++) {
            const char *name = ptx_build_definition(link->build, j);
            if (name)
                result = define(link, name, source->input);
        }
    }
    return result;
}

/* Read the input, for its errors. What it lacks, others may have: cuLinkComplete compiles them all.
 * One that is refused leaves no trace, for which those before it are read again. */
static CUresult read_input(struct link *link, const struct sim_image *image)
{
    SIM_TRY(begin(link));
    CUresult result = read_sources(link, image, &link->jit.errors);
    if (result == CUDA_SUCCESS) {
        result = sim_image_append(&link->inputs, image);
        if (result != CUDA_SUCCESS)
            link->failed = result; /* a part of it may be there */
        return result;
    }
    ptx_build_cancel(link->build);
    link->build = NULL;
    tdestroy(link->names, free);
    link->names = NULL;
    if (link->failed == CUDA_SUCCESS)
        link->failed = begin(link);
    if (link->failed == CUDA_SUCCESS)
        link->failed = read_sources(link, &link->inputs, NULL);
    return result;
}

static CUresult add(struct link *link, CUjitInputType type, const void *data, size_t size,
                    const char *name)
{
    struct sim_image image;
    char number[sizeof "Input 4294967295"];
    unsigned architecture = (unsigned)sim_device_architecture(link->device);
    snprintf(number, sizeof number, "Input %u", ++link->added); /* an H100's name for it */
    SIM_REFUSE((unsigned)type >= CU_JIT_NUM_INPUT_TYPES);
    SIM_REFUSE(link->output);
    CUresult result;
    if (type == CU_JIT_INPUT_NVVM) {
        ptx_text_add(&link->jit.errors, "error   : the simulated device links PTX, no NVVM code\n");
        result = SIM_LACK_cuLinkAddData_v2_code;
    } else if (type == CU_JIT_INPUT_LIBRARY) {
        result = sim_image_archive_read(data, size, architecture, &image, &link->jit.errors);
        link->libraries |= result == CUDA_SUCCESS;
    } else {
        result = sim_image_read(data, size, architecture, &image, &link->jit.errors);
        if (result == CUDA_SUCCESS &&
            (type == CU_JIT_INPUT_PTX) == sim_image_is_binary(data, size)) {
            sim_image_free(&image);
            result = CUDA_ERROR_INVALID_IMAGE;
            ptx_text_add(&link->jit.errors, type == CU_JIT_INPUT_PTX
                                                ? "error   : it is given as PTX, and is none\n"
                                                : "error   : it is PTX, and not given as such\n");
        }
        if (link->failed == CUDA_SUCCESS)
            link->failed = result; /* an H100's link ends with what it cannot read */
    }
    if (result == CUDA_SUCCESS) {
        for (size_t i = 0; i < image.count; i++)
            image.sources[i].input = name ? name : number;
        result = read_input(link, &image);
        sim_image_free(&image);
    }
    char what[200];
    snprintf(what, sizeof what, "linker input '%.160s'", name ? name : number);
    sim_jit_tell(&link->jit, link->device, what, result);
    return link->failed != CUDA_SUCCESS && result == CUDA_SUCCESS ? link->failed : result;
}

SIM_BEHAVIOUR(cuLinkAddData_v2)
{
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!data || !size || (numOptions && (!options || !optionValues)));
    SIM_FIND(struct link *, link, link_claim(state, &link));
    CUresult result = add(link, type, data, size, name);
    link_leave(link);
    return result;
}

SIM_BEHAVIOUR(cuLinkAddFile_v2)
{
    struct link *link;
    size_t size;
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!path || (numOptions && (!options || !optionValues)));
    SIM_FAIL(INVALID_HANDLE, !sim_object(SIM_LINK, state));
    SIM_FIND(char *, data, sim_image_read_file(path, &data, &size));
    CUresult result = link_claim(state, &link);
    if (result == CUDA_SUCCESS) {
        result = add(link, type, data, size, path);
        link_leave(link);
    }
    free(data);
    return result;
}

/* All inputs are read: link and compile them. */
static CUresult compile(struct link *link, unsigned architecture)
{
    SIM_TRY(sim_jit_check_target(&link->jit, architecture));
    SIM_TRY(begin(link)); /* there may be no input */
    struct ptx_build *build = link->build;
    link->build = NULL;
    sim_lock_leave();
    enum ptx_status status =
        ptx_build_end(build, &link->jit.errors, &link->jit.info, &link->module);
    sim_lock_enter();
    if (status == PTX_OK)
        sim_jit_describe(&link->jit, link->module, architecture);
    if (status == PTX_UNRESOLVED && link->libraries)
        ptx_text_add(&link->jit.errors,
                     "info    : of libraries the simulated device links PTX, and of libcudadevrt "
                     "the barrier of a grid; kernels that launch kernels are not simulated\n");
    return sim_jit_code(status);
}

static CUresult complete(struct link *link)
{
    unsigned architecture = (unsigned)sim_device_architecture(link->device);
    size_t size = 0;
    SIM_TRY(link->failed);
    CUresult result = compile(link, architecture);
    if (result == CUDA_SUCCESS) {
        link->inputs.max_registers = link->jit.max_registers;
        link->output = sim_image_write(&link->inputs, architecture, &size);
        if (!link->output)
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
        link->failed = result; /* the inputs are used up */
    link->output_size = size;
    sim_jit_tell(&link->jit, link->device, "linked image", result);
    return result;
}

struct ptx_module *sim_link_module(const void *image, size_t size, unsigned architecture,
                                   unsigned max_registers)
{
    SIM_EACH (const struct link, link, SIM_LINK)
        if (link->output && link->output_size <= size && link->module &&
            link->jit.max_registers == max_registers &&
            (unsigned)sim_device_architecture(link->device) == architecture &&
            sim_image_same(image, size, link->output))
            return ptx_module_retain(link->module);
    return NULL;
}

CUresult sim_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!cubinOut);
    SIM_FIND(struct link *, link, link_claim(state, &link));
    CUresult result = link->output ? CUDA_ERROR_INVALID_HANDLE : complete(link);
    if (result == CUDA_SUCCESS && link->destroyed)
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (result == CUDA_SUCCESS) {
        *cubinOut = link->output;
        SIM_PUT(sizeOut, link->output_size);
    }
    link_leave(link);
    return result;
}

SIM_SET(cuLinkDestroy, struct link *, link, link_claim(state, &link), false,
        sim_object_remove(&link->object), link_free(link))

void sim_link_end(struct sim_object *object)
{
    struct link *link = (struct link *)object;
    sim_object_remove(object);
    link->destroyed = true;
    if (!link->busy)
        link_free(link);
}
