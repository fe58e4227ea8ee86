/* SPDX-License-Identifier: MIT */
/* Modules: PTX compiled, and placed in a context's memory. */
#include "module/module.h"

unsigned sim_place_ptx_version(void)
{
    static const struct {
        int cuda;
        unsigned ptx;
    } versions[] = {{13050, 905}, {13040, 904}, {13030, 903}, {13020, 902}, {13010, 901},
                    {13000, 900}, {12090, 808}, {12080, 807}, {12070, 806}, {12050, 805},
                    {12040, 804}, {12030, 803}, {12020, 802}, {12010, 801}, {12000, 800},
                    {11080, 708}, {11070, 707}, {11060, 706}, {11050, 705}, {11040, 704},
                    {11030, 703}, {11020, 702}, {11010, 701}, {11000, 700}, {10020, 605},
                    {10010, 604}, {10000, 603}, {9020, 602},  {9010, 601},  {9000, 600},
                    {8000, 500},  {7050, 403},  {7000, 402},  {6050, 401}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (sim_config.cuda >= versions[i].cuda)
            return versions[i].ptx;
    return 400;
}

/* A texture or surface reference: kernels read its handle from the variable's eight bytes. */
static CUresult refer(struct sim_context *context, struct sim_module *module, size_t index,
                      char **host)
{
    enum ptx_variable_kind kind = ptx_module_variable(module->ptx, index)->kind;
    SIM_MADE(struct sim_reference *, made,
             sim_reference_make(context, kind == PTX_VARIABLE_SURFREF));
    module->references[index] = made;
    *host = (char *)&made->handle;
    return CUDA_SUCCESS;
}

/* Memory for the module's variables, and its image there. */
static CUresult place(struct sim_context *context, struct sim_module *module)
{
    size_t count = ptx_module_variables(module->ptx);
    uint64_t *addresses = calloc(count + 1, sizeof *addresses);
    char **hosts = calloc(count + 1, sizeof *hosts);
    CUresult result = addresses && hosts ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const struct ptx_variable *variable = ptx_module_variable(module->ptx, i);
        if (variable->kind != PTX_VARIABLE_MEMORY) {
            result = refer(context, module, i, &hosts[i]);
            continue;
        }
        result =
            sim_memory_allocate(context, SIM_MEMORY_MODULE, variable->size ? variable->size : 1,
                                variable->align, 0, &module->variables[i]);
        if (result == CUDA_SUCCESS) {
            module->variables[i]->owner = module;
            addresses[i] = module->variables[i]->address;
            hosts[i] = module->variables[i]->host;
        }
    }
    if (result == CUDA_SUCCESS &&
        !(module->image = ptx_image_create(module->ptx, addresses, hosts)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    free(addresses);
    free(hosts);
    return result;
}

CUresult sim_place_make(struct sim_context *context, struct ptx_module *ptx,
                        struct sim_module **module)
{
    SIM_NEW(struct sim_module, made);
    made->ptx = ptx_module_retain(ptx);
    made->variables = calloc(ptx_module_variables(ptx) + 1, sizeof *made->variables);
    made->references = calloc(ptx_module_variables(ptx) + 1, sizeof *made->references);
    made->functions = calloc(ptx_module_functions(ptx) + 1, sizeof *made->functions);
    sim_object_add(&made->object, SIM_MODULE, context);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (made->variables && made->references && made->functions)
        result = place(context, made);
    SIM_TRY_OR(result, sim_place_end(&made->object));
    *module = made;
    return CUDA_SUCCESS;
}

void sim_place_end(struct sim_object *object)
{
    struct sim_module *module = (struct sim_module *)object;
    for (size_t i = 0; module->functions && i < ptx_module_functions(module->ptx); i++)
        if (module->functions[i]) {
            sim_object_remove(&module->functions[i]->object);
            free(module->functions[i]->old.params);
            free(module->functions[i]);
        }
    for (size_t i = 0; module->variables && i < ptx_module_variables(module->ptx); i++)
        if (module->variables[i])
            sim_memory_free(module->variables[i]);
    for (size_t i = 0; module->references && i < ptx_module_variables(module->ptx); i++)
        if (module->references[i])
            sim_reference_destroy(module->references[i]);
    ptx_image_destroy(module->image);
    ptx_module_release(module->ptx);
    sim_object_remove(object);
    free(module->functions);
    free(module->references);
    free(module->variables);
    free(module);
}

struct sim_function *sim_place_function(struct sim_module *module, size_t index)
{
    struct sim_function *function = module->functions[index];
    sim_expire_renew(function);
    if (function)
        return function;
    function = calloc(1, sizeof *function);
    if (!function)
        return NULL;
    function->module = module;
    function->carveout = -1;
    function->dynamic_shared = -1;
    function->index = index;
    sim_object_add(&function->object, SIM_FUNCTION, module->object.context);
    return module->functions[index] = function;
}
