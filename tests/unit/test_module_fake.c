/* SPDX-License-Identifier: MIT */
#include "test_module_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELF_HEADER = 64, OBJECTS = 64, NAME = 64 };

struct module_fake module_fake;

/* A module, link or library is the address of one of these; a function of one of its names. */
static struct object {
    bool live;
    CUcontext context;
    char *text;
    char names[4][NAME];
} objects[OBJECTS];

/* ---- the compiler */

bool module_fake_had(CUjit_option option, uintptr_t *value)
{
    for (unsigned i = 0; i < module_fake.count; i++)
        if (module_fake.options[i] == option) {
            *value = (uintptr_t)module_fake.values[i];
            return true;
        }
    return false;
}

static void write_log(CUjit_option buffer, CUjit_option bytes, const char *text)
{
    uintptr_t at = 0, size = 0;
    assert_true(module_fake_had(buffer, &at) && module_fake_had(bytes, &size));
    /* As the driver does: what does not fit is left out, and no NUL behind it. */
    size_t length = strlen(text) < size ? strlen(text) : size;
    memcpy((char *)at, text, length);
}

static void took_time(void **values, float milliseconds)
{
    for (unsigned i = 0; i < module_fake.count; i++)
        if (module_fake.options[i] == CU_JIT_WALL_TIME)
            memcpy(&values[i], &milliseconds, sizeof milliseconds);
}

static void note_options(unsigned count, const CUjit_option *options, void *const *values)
{
    assert_in_range(count, 0, COUNT(module_fake.options));
    module_fake.count = count;
    memcpy(module_fake.options, options, count * sizeof *options);
    memcpy(module_fake.values, values, count * sizeof *values);
}

static CUresult compile(const char *text)
{
    int major = 0, minor = 0;
    module_fake.compiled++;
    if (sscanf(text, ".version %d.%d", &major, &minor) != 2)
        return CUDA_ERROR_INVALID_PTX;
    if (10 * major + minor > module_fake.ptx_version)
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    write_log(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "info: compiled\n");
    if (!strstr(text, "syntax_error"))
        return CUDA_SUCCESS;
    write_log(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
              module_fake.terse
                  ? "?"
                  : "ptxas application ptx input, line 4; error : near 'syntax_error'\n");
    return CUDA_ERROR_INVALID_PTX;
}

static struct object *make_object(const char *text)
{
    struct object *object = NULL;
    for (size_t i = 0; i < OBJECTS && !object; i++)
        if (!objects[i].live)
            object = &objects[i];
    assert_non_null(object);
    free(object->text);
    *object = (struct object){.live = true, .context = module_fake_current()};
    object->text = strdup(text);
    return object;
}

static struct object *object_of(void *handle)
{
    struct object *object = handle;
    assert_true(object >= objects && object < objects + OBJECTS);
    return object->live ? object : NULL;
}

/* An image becomes an object: PTX, a cubin of our linker's, or any other. */
static CUresult load(const void *image, void **values, struct object **object)
{
    const char *text = image;
    CUresult code = CUDA_SUCCESS;
    module_fake.loads++;
    took_time(values, 0.5f);
    if (memcmp(text, "\177ELF", 4) == 0) {
        const int arch = (unsigned char)text[49];
        if (module_fake.refuses_cubins || arch != module_fake.arch)
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        text += ELF_HEADER;
    } else if (memcmp(text, "\x50\xed\x55\xba", 4) == 0) {
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    } else {
        code = compile(text);
    }
    if (code == CUDA_SUCCESS)
        *object = make_object(text);
    return code;
}

static CUresult f_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                                     CUjit_option *options, void **values)
{
    struct object *object = NULL;
    CALLED(cuModuleLoadDataEx);
    if (!module_fake_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    note_options(count, options, values);
    CUresult code = load(image, values, &object);
    if (code == CUDA_SUCCESS) {
        module_fake.modules++;
        *module = (CUmodule)(void *)object;
    }
    return code;
}

static CUresult f_cuModuleUnload(CUmodule module)
{
    struct object *object = object_of(module);
    CALLED(cuModuleUnload);
    if (!object)
        return CUDA_ERROR_INVALID_HANDLE;
    assert_ptr_equal(object->context, module_fake_current());
    object->live = false;
    module_fake.modules--;
    return CUDA_SUCCESS;
}

/* ---- names */

/* Names of the kernels in a text. */
static unsigned kernels_of(struct object *object)
{
    unsigned count = 0;
    for (const char *at = object->text; (at = strstr(at, ".entry ")) && count < 4; count++) {
        at += strlen(".entry ");
        snprintf(object->names[count], NAME, "%.*s", (int)strcspn(at, "("), at);
    }
    return count;
}

static CUresult find_kernel(void *handle, const char *name, void **found)
{
    struct object *object = object_of(handle);
    if (!object)
        return CUDA_ERROR_INVALID_HANDLE;
    const unsigned count = kernels_of(object);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(object->names[i], name) == 0) {
            *found = object->names[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult enumerate(void **kernels, unsigned count, void *handle)
{
    struct object *object = object_of(handle);
    assert_int_equal(count, kernels_of(object));
    for (unsigned i = 0; i < count; i++)
        kernels[i] = object->names[i];
    return CUDA_SUCCESS;
}

static CUresult find_global(CUdeviceptr *address, size_t *bytes, void *handle, const char *name)
{
    char wanted[NAME + 8];
    struct object *object = object_of(handle);
    snprintf(wanted, sizeof wanted, ".u32 %.60s;", name);
    if (!strstr(object->text, wanted))
        return CUDA_ERROR_NOT_FOUND;
    *address = 0x1000;
    *bytes = 4;
    return CUDA_SUCCESS;
}

static CUresult f_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CALLED(cuModuleGetFunction);
    return find_kernel(module, name, (void **)function);
}

static CUresult f_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                       const char *name)
{
    return find_global(address, bytes, module, name);
}

static CUresult f_cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    *count = kernels_of(object_of(module));
    return CUDA_SUCCESS;
}

static CUresult f_cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    return enumerate((void **)functions, count, module);
}

static CUresult f_cuFuncGetName(const char **name, CUfunction function)
{
    *name = module_fake.named++ ? NULL : (const char *)(void *)function; /* there is one kernel */
    return CUDA_SUCCESS;
}

/* ---- linker */

static char *linked; /* the text of the inputs, behind a cubin's header */
static size_t linked_bytes;
static void **link_values;

static CUresult f_cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values,
                                  CUlinkState *link)
{
    CALLED(cuLinkCreate_v2);
    if (!module_fake_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    note_options(count, options, values);
    free(linked);
    linked = calloc(1, ELF_HEADER + 1);
    linked_bytes = ELF_HEADER;
    link_values = values;
    module_fake.links++;
    module_fake.inputs[0] = 0;
    *link = (CUlinkState)(void *)make_object("");
    return CUDA_SUCCESS;
}

static CUresult f_cuLinkAddData_v2(CUlinkState link, CUjitInputType type, void *data, size_t bytes,
                                   const char *name, unsigned count, CUjit_option *options,
                                   void **values)
{
    CALLED(cuLinkAddData_v2);
    assert_int_equal(count, 0);
    assert_true(!options && !values);
    assert_non_null(object_of(link));
    const size_t used = strlen(module_fake.inputs);
    snprintf(module_fake.inputs + used, sizeof module_fake.inputs - used, "%d:%.60s ", (int)type,
             name);
    if (type == CU_JIT_INPUT_PTX) {
        assert_int_equal(((char *)data)[bytes - 1], 0);
        CUresult code = compile(data);
        if (code != CUDA_SUCCESS)
            return code;
        size_t length = strlen(data);
        linked = realloc(linked, linked_bytes + length + 1);
        memcpy(linked + linked_bytes, data, length + 1);
        linked_bytes += length;
    }
    return CUDA_SUCCESS;
}

static CUresult f_cuLinkComplete(CUlinkState link, void **data, size_t *bytes)
{
    CALLED(cuLinkComplete);
    assert_non_null(object_of(link));
    memcpy(linked, "\177ELF\2\1\1\x41\x08", 9);
    linked[16] = 2;
    linked[18] = (char)190;
    linked[49] = (char)module_fake.arch;
    took_time(link_values, 2.5f);
    *data = linked;
    *bytes = linked_bytes + 1;
    return CUDA_SUCCESS;
}

static CUresult f_cuLinkDestroy(CUlinkState link)
{
    struct object *object = object_of(link);
    assert_non_null(object);
    object->live = false;
    module_fake.links--;
    /* Who still reads it is seen. */
    free(linked);
    linked = NULL;
    return CUDA_SUCCESS;
}

/* ---- libraries */

static CUresult f_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                                    void **values, unsigned count, CUlibraryOption *library_options,
                                    void **library_values, unsigned library_count)
{
    struct object *object = NULL;
    CALLED(cuLibraryLoadData);
    assert_int_equal(library_count, 0);
    assert_true(!library_options && !library_values);
    note_options(count, options, values);
    CUresult result = load(code, values, &object);
    if (result != CUDA_SUCCESS && module_fake.late) {
        object = make_object("");
        result = CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS) {
        module_fake.libraries++;
        *library = (CUlibrary)(void *)object;
    }
    return result;
}

static CUresult f_cuLibraryUnload(CUlibrary library)
{
    struct object *object = object_of(library);
    CALLED(cuLibraryUnload);
    if (!object)
        return CUDA_ERROR_INVALID_HANDLE;
    object->live = false;
    module_fake.libraries--;
    return CUDA_SUCCESS;
}

static CUresult f_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return find_kernel(library, name, (void **)kernel);
}

static CUresult f_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CALLED(cuKernelGetFunction);
    *function = (CUfunction)(void *)kernel;
    return CUDA_SUCCESS;
}

static CUresult f_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                     const char *name)
{
    return find_global(address, bytes, library, name);
}

static CUresult f_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CALLED(cuLibraryGetModule);
    if (!object_of(library)->text[0])
        return CUDA_ERROR_INVALID_PTX;
    *module = (CUmodule)(void *)library;
    return CUDA_SUCCESS;
}

static CUresult f_cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    *count = kernels_of(object_of(library));
    return CUDA_SUCCESS;
}

static CUresult f_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    return enumerate((void **)kernels, count, library);
}

static CUresult f_cuKernelGetName(const char **name, CUkernel kernel)
{
    *name = (const char *)(void *)kernel;
    return CUDA_SUCCESS;
}

/* ---- the instance */

static void *resolve(void *user, const char *symbol)
{
    static const struct module_fake_export symbols[] = {
        EXPORT(cuModuleLoadDataEx, 0),
        EXPORT(cuModuleUnload, 0),
        EXPORT(cuModuleGetFunction, 0),
        EXPORT(cuModuleGetGlobal_v2, 0),
        EXPORT(cuModuleGetFunctionCount, 12040),
        EXPORT(cuModuleEnumerateFunctions, 12040),
        EXPORT(cuFuncGetName, 12030),
        EXPORT(cuLinkCreate_v2, 6050),
        EXPORT(cuLinkAddData_v2, 6050),
        EXPORT(cuLinkComplete, 5050),
        EXPORT(cuLinkDestroy, 5050),
        EXPORT(cuLibraryLoadData, 12000),
        EXPORT(cuLibraryUnload, 12000),
        EXPORT(cuLibraryGetKernel, 12000),
        EXPORT(cuKernelGetFunction, 12000),
        EXPORT(cuLibraryGetGlobal, 12000),
        EXPORT(cuLibraryGetModule, 12000),
        EXPORT(cuLibraryGetKernelCount, 12040),
        EXPORT(cuLibraryEnumerateKernels, 12040),
        EXPORT(cuKernelGetName, 12030),
    };
    (void)user;
    if (module_fake.lacks && strcmp(module_fake.lacks, symbol) == 0)
        return NULL;
    void *found = module_fake_export(symbols, COUNT(symbols), symbol);
    return found ? found : module_fake_resolve_context(symbol);
}

const struct cushim_api *module_fake_open(int version)
{
    struct cushim_options options = defaults();
    const char *lacks = module_fake.lacks;
    module_fake =
        (struct module_fake){.version = version, .lacks = lacks, .ptx_version = 84, .arch = 90};
    for (size_t i = 0; i < OBJECTS; i++)
        objects[i].live = false;
    module_fake_set(module_fake_context(1));
    options.resolver = resolve;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    cushim_last_error_clear();
    return cu;
}

const char *module_fake_ptx(const char *version, const char *target, const char *kernel)
{
    static _Thread_local char text[4][1024];
    static _Thread_local int which;
    which = (which + 1) % 4;
    snprintf(text[which], sizeof text[which],
             ".version %s\n.target %s\n.address_size 64\n"
             ".visible .global .align 4 .u32 counter;\n"
             ".visible .entry %s(\n\t.param .u64 a\n)\n{\n\tret;\n}\n",
             version, target, kernel);
    return text[which];
}

static void put16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

size_t module_fake_elf(unsigned char bytes[208], int type, int machine, unsigned flags, int abi)
{
    memset(bytes, 0, 208);
    memcpy(bytes, "\177ELF\2\1\1", 7);
    bytes[7] = (unsigned char)abi;
    put16(bytes + 16, (unsigned)type);
    put16(bytes + 18, (unsigned)machine);
    bytes[40] = 64; /* sections follow the header */
    put16(bytes + 48, flags);
    put16(bytes + 50, flags >> 16);
    put16(bytes + 58, 64);
    put16(bytes + 60, 2);
    bytes[64 + 64 + 4] = 1;
    bytes[64 + 64 + 24] = 192;
    bytes[64 + 64 + 32] = 16;
    return 208;
}

void module_refused(CUresult got, CUresult expected, const char *helper, const char *words)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", cushim_last_error());
    if (got != expected)
        fail_msg("%d, not %d: %s", (int)got, (int)expected, sentence);
    assert_int_equal(strncmp(sentence, helper, strlen(helper)), 0);
    assert_int_equal(sentence[strlen(helper)], ':');
    assert_contains(sentence, words);
    assert_int_equal(module_fake.links, 0);
}
