/* SPDX-License-Identifier: MIT */
/*
 * growth DRIVER [set]
 *
 * Gives the library each structure that begins with its size, as the header of this program has it,
 * and prints a line each: its name, the code, and what was read back or why it was refused. A
 * header with GROWN has a last member `appended` in each of them; with "set" it is not 0.
 */
#include <stdio.h>
#include <string.h>

#include <cushim/compat.h>
#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/feature.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/nvml.h>

#define MARK 0x5eed5eed5eed5eedULL

/* What a structure holds before a call, and what the call did with it; `good`: the rest of it. */
#ifdef GROWN
#define BEGIN(s) ((s).size = sizeof(s), (s).appended = set ? MARK : 0)
#define AFTER(s, good)                                                                             \
    (!(good) || (s).size != sizeof(s) ? "wrong" : (s).appended ? "kept" : "written")
#else
#define BEGIN(s) ((s).size = sizeof(s))
#define AFTER(s, good) (!(good) || (s).size != sizeof(s) ? "wrong" : "written")
#endif

static int set;
static const char kernel[] = ".version 6.4\n.target sm_50\n.address_size 64\n"
                             ".visible .entry nothing()\n{\n ret;\n}\n";

static void show(const char *name, CUresult code, const char *text)
{
    printf("%s %d %s\n", name, (int)code, code == CUDA_SUCCESS ? text : cushim_last_error());
}

static void show_failure(void *user, const struct cushim_failure *failure)
{
    (void)user;
    show("cushim_failure", CUDA_SUCCESS, failure->line > 0 ? failure->name : "?");
}

static void answers(const struct cushim_api *cu)
{
    struct cushim_attempt attempt = {0};
    struct cushim_toolkit toolkit = {0};
    struct cushim_feature_facts facts = {0};
    struct cushim_primary primary = {0};
    struct cushim_device_properties properties = {0};
    struct cushim_image image = {0};
    struct cushim_pointer pointer = {0};
    BEGIN(attempt), BEGIN(toolkit), BEGIN(facts), BEGIN(primary), BEGIN(properties), BEGIN(image);
    BEGIN(pointer);
    bool found = cushim_attempt_at(cu, 0, &attempt);
    show("cushim_attempt", !found, AFTER(attempt, attempt.path));
    found = cushim_toolkit_at(0, &toolkit);
    show("cushim_toolkit", !found, AFTER(toolkit, toolkit.release));
    found = cushim_feature_list(0, &facts);
    show("cushim_feature_facts", !found, AFTER(facts, facts.entry_count));
    CUresult code = cushim_primary_describe(cu, 0, &primary);
    show("cushim_primary", code, AFTER(primary, primary.active));
    code = cushim_device_describe(cu, 0, &properties);
    show("cushim_device_properties", code, AFTER(properties, properties.name[0]));
    code = cushim_image_describe(kernel, sizeof kernel, &image);
    show("cushim_image", code, AFTER(image, image.arch == 50));
    code = cushim_pointer_describe(cu, 0, &pointer);
    show("cushim_pointer", code, AFTER(pointer, pointer.type == 0));
}

static void requests(const struct cushim_api *cu)
{
    struct cushim_context_options options = {0};
    struct cushim_jit_options jit = {0};
    struct cushim_jit_result result = {0};
    struct cushim_link_input inputs[2] = {{0}, {0}};
    struct cushim_launch launch = {.grid = CUSHIM_DIM(1), .block = CUSHIM_DIM(1)};
    CUcontext context;
    CUmodule module = NULL;
    CUfunction function = NULL;
    BEGIN(options), BEGIN(jit), BEGIN(result), BEGIN(inputs[0]), BEGIN(inputs[1]), BEGIN(launch);
    show("cushim_context_options", cushim_context_create(cu, 0, &options, &context), "taken");
    CUresult code = cushim_module_load(cu, kernel, sizeof kernel, NULL, &result, &module);
    show("cushim_jit_result", code, AFTER(result, result.error_log));
    cushim_jit_result_release(&result);
    show("released", CUDA_SUCCESS, AFTER(result, !result.error_log));
    if (cushim_module_function(cu, module, "nothing", &function) == CUDA_SUCCESS)
        show("cushim_launch", cushim_launch_kernel(cu, function, &launch, NULL, NULL, 0), "taken");
    code = cushim_module_load(cu, kernel, sizeof kernel, &jit, NULL, &module);
    show("cushim_jit_options", code, "taken");
    inputs[0].data = inputs[1].data = kernel;
    inputs[0].bytes = sizeof kernel;
    inputs[1].bytes = 1; /* a wrong stride would read another number */
    code = cushim_module_link(cu, inputs, 2, NULL, NULL, &module);
    show("cushim_link_input", code, "taken");
}

static void management(void)
{
    struct cushim_nvml_options options = {.path = "/nowhere"};
    BEGIN(options);
    bool refused = cushim_nvml_status(cushim_nvml_load(&options)) == CUSHIM_ERROR_INVALID_ARGUMENT;
    show("cushim_nvml_options", refused ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS, "taken");
}

int main(int count, char **arguments)
{
    struct cushim_options options = {.path = arguments[1]};
    struct cushim_device_scope gpu;
    set = count > 2;
    BEGIN(options);
    const struct cushim_api *cu = cushim_open(&options);
    show("cushim_options", cu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, "taken");
    options = (struct cushim_options){.size = sizeof options, .path = arguments[1]};
    cu = cu ? cu : cushim_open(&options);
    show("entered", cushim_device_enter(cu, 0, &gpu), "taken");
    answers(cu);
    requests(cu);
    management();
    cushim_error_handler_set(show_failure, NULL);
    (void)CUSHIM_CHECK(cu->cuCtxDestroy_v2(NULL));
    show("left", cushim_device_leave(&gpu), "taken");
    cushim_close(cu);
    return 0;
}
