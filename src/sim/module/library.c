/* SPDX-License-Identifier: MIT */
/* cuLibrary*: context-independent loading. */
#include "module/module.h"

static CUresult check_options(unsigned count, const CUlibraryOption *options, void **values)
{
    SIM_REFUSE(count && (!options || !values));
    for (unsigned i = 0; i < count; i++)
        SIM_REFUSE((unsigned)options[i] >= CU_LIBRARY_NUM_OPTIONS);
    return CUDA_SUCCESS;
}

static CUresult load(CUlibrary *library, const void *code, size_t size, unsigned jit_count,
                     CUjit_option *jit_options, void **jit_values, unsigned count,
                     CUlibraryOption *options, void **values)
{
    struct sim_context any = {.device = sim_device(0)};
    SIM_REFUSE(!library || !code);
    SIM_TRY(check_options(count, options, values));
    SIM_FIND(struct sim_jit, jit, sim_jit_begin(&jit, jit_count, jit_options, jit_values));
    SIM_NEW(struct sim_library, made);
    /* Real drivers load lazily: what is wrong with the code is told when a kernel is asked for. */
    made->status = sim_module_compile(&any, code, size, &jit, &made->ptx);
    sim_jit_tell(&jit, any.device, "library", made->status);
    sim_jit_free(&jit);
    if (made->status == CUDA_SUCCESS)
        made->kernels = calloc(ptx_module_functions(made->ptx) + 1, sizeof *made->kernels);
    if (made->status == CUDA_SUCCESS && !made->kernels) {
        ptx_module_release(made->ptx);
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_add(&made->object, SIM_LIBRARY, NULL);
    *library = (CUlibrary)made;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuLibraryLoadData,
          load(library, code, SIZE_MAX, numJitOptions, jitOptions, jitOptionsValues,
               numLibraryOptions, libraryOptions, libraryOptionValues))

SIM_BEHAVIOUR(cuLibraryLoadFromFile)
{
    size_t size;
    SIM_REFUSE(!library || !fileName);
    SIM_FIND(char *, data, sim_image_read_file(fileName, &data, &size));
    CUresult result = load(library, data, size, numJitOptions, jitOptions, jitOptionsValues,
                           numLibraryOptions, libraryOptions, libraryOptionValues);
    free(data);
    return result;
}

/* The library of a handle, with code that can be used. */
static CUresult usable(CUlibrary handle, struct sim_library **library)
{
    *library = sim_object(SIM_LIBRARY, handle);
    return *library ? (*library)->status : CUDA_ERROR_INVALID_HANDLE;
}

/* The module of the library in a context, or in any where none is given; NULL: none yet. */
static struct sim_module *find_module(const struct sim_library *library,
                                      const struct sim_context *context)
{
    SIM_EACH (struct sim_module, module, SIM_MODULE)
        if ((!context || module->object.context == context) && module->library == library)
            return module;
    return NULL;
}

static CUresult module_in(struct sim_library *library, struct sim_context *context,
                          struct sim_module **module)
{
    *module = find_module(library, context);
    if (*module)
        return CUDA_SUCCESS;
    SIM_TRY(sim_place_make(context, library->ptx, module));
    (*module)->library = library;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
    struct sim_library *dead = sim_object(SIM_LIBRARY, library);
    struct sim_module *module;
    SIM_FAIL(INVALID_HANDLE, !dead);
    SIM_TRY(sim_capture_unsafe());
    sim_object_remove(&dead->object); /* first: no other thread finds it while this one waits */
    while ((module = find_module(dead, NULL))) {
        uint64_t serial = module->object.serial;
        (void)sim_stream_wait_context(module->object.context);
        if (sim_object_alive(SIM_MODULE, module, serial))
            sim_place_end(&module->object);
    }
    for (size_t i = 0; dead->ptx && i < ptx_module_functions(dead->ptx); i++)
        if (dead->kernels[i]) {
            sim_object_remove(&dead->kernels[i]->object);
            free(dead->kernels[i]);
        }
    ptx_module_release(dead->ptx);
    free(dead->kernels);
    free(dead);
    return CUDA_SUCCESS;
}

static struct sim_kernel *kernel_of(struct sim_library *library, size_t index)
{
    struct sim_kernel *kernel = library->kernels[index];
    sim_expire_renew(kernel);
    if (kernel || !(kernel = calloc(1, sizeof *kernel)))
        return kernel;
    kernel->library = library;
    kernel->index = index;
    sim_object_add(&kernel->object, SIM_KERNEL, NULL);
    return library->kernels[index] = kernel;
}

CUresult sim_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    SIM_REFUSE(!pKernel || !name);
    SIM_FIND(struct sim_library *, found, usable(library, &found));
    size_t index = sim_module_entry(found->ptx, name);
    SIM_FAIL(NOT_FOUND, index == ptx_module_functions(found->ptx));
    if (sim_module_lacks(sim_device(0), found->ptx, index))
        return SIM_LACK_cuLibraryGetKernel_instruction;
    SIM_MADE(struct sim_kernel *, kernel, kernel_of(found, index));
    *pKernel = (CUkernel)kernel;
    return CUDA_SUCCESS;
}

SIM_TELL(cuLibraryGetKernelCount, count, struct sim_library *library, usable(lib, &library),
         (unsigned)sim_module_entries(library->ptx))

CUresult sim_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    unsigned written = 0;
    SIM_REFUSE(!kernels);
    SIM_FIND(struct sim_library *, library, usable(lib, &library));
    for (size_t i = 0; i < ptx_module_functions(library->ptx) && written < numKernels; i++) {
        if (!ptx_module_function(library->ptx, i)->entry)
            continue;
        SIM_MADE(struct sim_kernel *, kernel, kernel_of(library, i));
        kernels[written++] = (CUkernel)kernel;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!pMod);
    SIM_FIND(struct sim_library *, found, usable(library, &found));
    SIM_FIND(struct sim_module *, module, module_in(found, context, &module));
    *pMod = (CUmodule)module;
    return CUDA_SUCCESS;
}

/* A variable of the library in the current context. */
static CUresult variable(CUdeviceptr *dptr, size_t *bytes, CUlibrary handle, const char *name,
                         bool managed)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!name || (!dptr && !bytes));
    SIM_FIND(struct sim_library *, library, usable(handle, &library));
    size_t index = sim_module_variable(library->ptx, name, PTX_VARIABLE_MEMORY);
    SIM_FAIL(NOT_FOUND, index == ptx_module_variables(library->ptx) ||
                            ptx_module_variable(library->ptx, index)->managed != managed);
    SIM_FIND(struct sim_module *, module, module_in(library, context, &module));
    SIM_PUT(dptr, module->variables[index]->address);
    SIM_PUT(bytes, ptx_module_variable(library->ptx, index)->size);
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuLibraryGetGlobal, variable(dptr, bytes, library, name, false))
SIM_ENTRY(cuLibraryGetManaged, variable(dptr, bytes, library, name, true))

CUresult sim_cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    (void)fptr, (void)symbol;
    /* Functions that CPU and device share are not in PTX. */
    return sim_object(SIM_LIBRARY, library) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_library_function(struct sim_context *context, const void *handle,
                              struct sim_function **function)
{
    SIM_FIND(const struct sim_kernel *, kernel, SIM_FOUND(kernel, SIM_KERNEL, handle));
    SIM_FIND(struct sim_module *, module, module_in(kernel->library, context, &module));
    *function = sim_place_function(module, kernel->index);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
