/* SPDX-License-Identifier: MIT */
/*
 * The small loader: what gen/vendor.py puts into two files beside the library's own look-up,
 * resolution and stubs. One driver for the process: the one that the system's search finds, or
 * that the options or CUSHIM_LIBCUDA name. No list of folders, no advice, no tables beside it.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/last_error.h"
#include "loader/registry.h"
#include "loader/resolve.h"
#include "loader/stubs.h"
#include "loader/table.h"
#include "loader/text.h"

#ifdef _WIN32
#define DRIVER "nvcuda.dll"
#else
#define DRIVER "libcuda.so.1"
#endif

/* Complete and immutable once others see it, but for the sentence about cuInit. */
struct cushim_instance {
    struct cushim_resolution resolution; /* the table comes first */
    struct cushim_dylib library;
    struct cushim_lookup lookup;
    enum cushim_status status;
    char message[CUSHIM_SENTENCE];
    _Atomic int init_status; /* of the last cuInit */
    _Atomic(char *) init_messages[CUSHIM_ERROR_FORKED - CUSHIM_ERROR_NO_DEVICE + 1];
};

static _Atomic(struct cushim_instance *) open_process_wide;

static void open_fill(struct cushim_instance *instance, bool per_thread)
{
    cushim_resolve(&instance->resolution, &instance->lookup, per_thread);
    instance->resolution.table.instance = instance;
}

/* ---- one driver */

static enum cushim_status open_check(struct cushim_instance *instance, enum cushim_order order,
                                     char *words, size_t size)
{
    CUresult(CUDAAPI * get_version)(int *) = NULL;
    int version = 0;
    void *symbol = cushim_lookup_version(&instance->library);
    memcpy(&get_version, &symbol, sizeof symbol);
    CUresult result = get_version ? get_version(&version) : CUDA_SUCCESS;
    if (!get_version) {
        snprintf(words, size, "not a CUDA driver: it has no cuDriverGetVersion");
        return CUSHIM_ERROR_NOT_CUDA;
    }
    if (result == CUDA_ERROR_STUB_LIBRARY) {
        snprintf(words, size, "the toolkit's stub for linking, not a driver");
        return CUSHIM_ERROR_STUB;
    }
    if (result != CUDA_SUCCESS) {
        snprintf(words, size, "its cuDriverGetVersion fails with error %d", (int)result);
        return CUSHIM_ERROR_VERSION_FAILED;
    }
    if (version <= 0) {
        snprintf(words, size, "its cuDriverGetVersion returns version %d", version);
        return CUSHIM_ERROR_VERSION_INVALID;
    }
    cushim_lookup_start(&instance->lookup, &instance->library, version, order);
    size_t lacking =
        instance->library.resolver ? CUSHIM_ENTRY_COUNT : cushim_lookup_lacks(&instance->lookup);
    if (lacking == CUSHIM_ENTRY_COUNT)
        return CUSHIM_OK;
    char name[CUSHIM_SYMBOL_SIZE];
    snprintf(words, size, "it has no %s, which every driver of CUDA %d.%d has",
             cushim_registry_symbol(lacking, name), CUSHIM_RELEASE(version));
    return CUSHIM_ERROR_INCOMPLETE;
}

static enum cushim_status open_find(struct cushim_instance *instance,
                                    const struct cushim_options *options, const char *path,
                                    char *words, size_t size)
{
    if (!*path) {
        snprintf(words, size, "empty, which hides the driver");
        return CUSHIM_ERROR_EMPTY_PATH;
    }
    instance->library.resolver = options->resolver;
    instance->library.user = options->user;
    enum cushim_status status = CUSHIM_OK;
    if (!options->resolver)
        status = cushim_dylib_open(&instance->library, path, words, size);
    if (status == CUSHIM_OK)
        status = open_check(instance, options->order, words, size);
    if (status == CUSHIM_OK && !cushim_dylib_describe(&instance->library, "cuInit")) {
        snprintf(words, size, "out of memory");
        status = CUSHIM_ERROR_OUT_OF_MEMORY;
    }
    if (status != CUSHIM_OK) {
        cushim_dylib_close(&instance->library, true);
        instance->lookup = (struct cushim_lookup){.version = 0};
    }
    return status;
}

static struct cushim_instance *open_create(const struct cushim_options *options)
{
    struct cushim_instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        return NULL;
    const char *environment = cushim_platform_env("CUSHIM_LIBCUDA");
    const char *path = options->resolver ? "the caller's resolver"
                       : options->path   ? options->path
                       : environment     ? environment
                                         : DRIVER;
    char words[CUSHIM_SENTENCE / 2] = "";
    instance->status = open_find(instance, options, path, words, sizeof words);
    open_fill(instance, options->per_thread_default_stream);
    const char *name = instance->library.path ? instance->library.path : path;
    const char *variable = path != environment ? "" : *path ? "CUSHIM_LIBCUDA=" : "CUSHIM_LIBCUDA";
    if (instance->status == CUSHIM_OK)
        snprintf(instance->message, sizeof instance->message, "%s: CUDA %d.%d", name,
                 CUSHIM_RELEASE(instance->lookup.version));
    else if (*path && strncmp(words, name, strlen(name)) == 0) /* the system's, with the name */
        snprintf(instance->message, sizeof instance->message, "%s%s", variable, words);
    else
        snprintf(instance->message, sizeof instance->message, "%s%s: %s", variable,
                 *path || path == environment ? name : "path", words);
    if (instance->status != CUSHIM_OK)
        cushim_last_error_set("%s", instance->message);
    if (options->log)
        options->log(options->user,
                     instance->status == CUSHIM_OK ? CUSHIM_LOG_INFO : CUSHIM_LOG_WARNING,
                     instance->message);
    return instance;
}

/* ---- the one of the process */

/* A table without a driver, from no memory but its own. Whoever comes here writes the same. */
static const struct cushim_api *open_refuse(struct cushim_instance *instance, _Atomic bool *filled,
                                            enum cushim_status status, const char *message)
{
    cushim_last_error_set("%s", message);
    if (!atomic_load(filled)) {
        instance->status = status;
        snprintf(instance->message, sizeof instance->message, "%s", message);
        open_fill(instance, false);
        atomic_store(filled, true);
    }
    return &instance->resolution.table;
}

static const struct cushim_api *open_without_memory(void)
{
    static struct cushim_instance fallback;
    static _Atomic bool filled;
    return open_refuse(&fallback, &filled, CUSHIM_ERROR_OUT_OF_MEMORY, "out of memory");
}

/* The caller's options as they are known here; returns what contradicts itself, or NULL. */
static const char *open_read_options(const struct cushim_options *given,
                                     struct cushim_options *options)
{
    memset(options, 0, sizeof *options);
    const char *wrong =
        given ? cushim_text_read_sized(given,
                                       offsetof(struct cushim_options, path) + sizeof given->path,
                                       options, sizeof *options)
              : NULL;
    return wrong                                             ? wrong
           : options->path && options->resolver              ? "path and resolver are both given"
           : (unsigned)options->order > CUSHIM_ORDER_SYMBOLS ? "order has an unknown value"
           : options->allow_compat || options->reserved      ? "allow_compat is not in this subset"
                                                             : NULL;
}

/* A table for each of the reasons: what a table says stays. */
static const struct cushim_api *open_refuse_options(const char *wrong)
{
    static struct cushim_instance refused[5];
    static _Atomic bool filled[5];
    static _Atomic(const char *) reasons[5];
    char message[128];
    size_t i = 0;
    for (const char *other = NULL;
         !atomic_compare_exchange_strong(&reasons[i], &other, wrong) && other != wrong;
         other = NULL)
        i++;
    snprintf(message, sizeof message, "the options of cushim_load were refused: %s", wrong);
    return open_refuse(&refused[i], &filled[i], CUSHIM_ERROR_INVALID_ARGUMENT, message);
}

static const struct cushim_api *open_take(struct cushim_instance *before,
                                          const struct cushim_options *options)
{
    struct cushim_instance *instance = open_create(options);
    if (!instance)
        return before ? &before->resolution.table : open_without_memory();
    /* A daemon that tries again and again does not grow. */
    bool again = before && before->status == instance->status &&
                 strcmp(before->message, instance->message) == 0;
    if (again || !atomic_compare_exchange_strong(&open_process_wide, &before, instance)) {
        cushim_dylib_close(&instance->library, true);
        free(instance);
        return &before->resolution.table;
    }
    atomic_store(&cushim_last_error_version, instance->lookup.version);
    atomic_store(&cushim_last_error_cause,
                 instance->status == CUSHIM_OK ? NULL : instance->message);
    cushim_stubs_tell(instance->library.handle);
    return &instance->resolution.table;
}

const struct cushim_api *(cushim_load)(const struct cushim_options *given)
{
    struct cushim_options options;
    struct cushim_instance *before = atomic_load_explicit(&open_process_wide, memory_order_acquire);
    if (before && (!given || before->status == CUSHIM_OK))
        return &before->resolution.table;
    const char *wrong = open_read_options(given, &options);
    if (before && (wrong || !options.retry))
        return &before->resolution.table;
    return wrong ? open_refuse_options(wrong) : open_take(before, &options);
}

/* The header and this file are made together, and have one table. */
const struct cushim_api *cushim_connect_(const struct cushim_options *options, size_t table_size,
                                         bool independent)
{
    if (table_size == sizeof(struct cushim_api) && !independent)
        return (cushim_load)(options);
    cushim_last_error_set("cushim.h and cushim.c are of two different subsets");
    return NULL;
}

/* ---- what there is to ask */

static struct cushim_instance *open_instance(const struct cushim_api *cu, const char *function)
{
    if (!cu)
        cushim_last_error_set("%s: the table is NULL", function);
    return cu ? cu->instance : NULL;
}

enum cushim_status cushim_status(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = open_instance(cu, __func__);
    return instance ? instance->status : CUSHIM_ERROR_INVALID_ARGUMENT;
}

const char *cushim_message(const struct cushim_api *cu)
{
    struct cushim_instance *instance = open_instance(cu, __func__);
    if (!instance)
        return cushim_last_error();
    int status = atomic_load(&instance->init_status);
    const char *init =
        status ? atomic_load(&instance->init_messages[status - CUSHIM_ERROR_NO_DEVICE]) : NULL;
    return init ? init : instance->message;
}

const char *cushim_path(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = open_instance(cu, __func__);
    return instance ? instance->library.path : NULL;
}

int cushim_driver_version(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = open_instance(cu, __func__);
    return instance ? instance->lookup.version : 0;
}

bool cushim_has_member_(const struct cushim_api *cu, size_t offset)
{
    size_t index = (offset - CUSHIM_FIRST_SLOT) / sizeof(void *);
    return open_instance(cu, "CUSHIM_HAS") && index < CUSHIM_ENTRY_COUNT &&
           !cushim_stubs_is_stub(cushim_table_slot(cu, index), index);
}

static enum cushim_status open_init_status(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return CUSHIM_OK;
    case CUDA_ERROR_NOT_INITIALIZED: /* of a driver that was initialised in the parent */
        return CUSHIM_ERROR_FORKED;
    case CUDA_ERROR_NO_DEVICE:
        return CUSHIM_ERROR_NO_DEVICE;
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return CUSHIM_ERROR_NOT_READY;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return CUSHIM_ERROR_DRIVER_MISMATCH;
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return CUSHIM_ERROR_COMPAT_UNSUPPORTED;
    case CUDA_ERROR_UNKNOWN:
        return CUSHIM_ERROR_INIT_UNKNOWN;
    default:
        return CUSHIM_ERROR_INIT_FAILED;
    }
}

/* One sentence for each status: another thread may be reading the one of another. */
static void open_note_init(struct cushim_instance *instance, enum cushim_status status,
                           CUresult result)
{
    _Atomic(char *) *place = &instance->init_messages[status - CUSHIM_ERROR_NO_DEVICE];
    const char *path = instance->library.path, *text = cushim_error_string(result);
    char *none = NULL;
    char *sentence =
        cushim_text_format("%s: cuInit returned %d%s%s", path ? path : "the CUDA driver",
                           (int)result, text ? ", " : "", text ? text : "");
    cushim_last_error_set("%s", sentence ? sentence : "out of memory");
    if (!sentence || !atomic_compare_exchange_strong(place, &none, sentence))
        free(sentence);
}

enum cushim_status cushim_init(const struct cushim_api *cu)
{
    enum cushim_status status = cushim_status(cu);
    if (status != CUSHIM_OK) {
        cushim_last_error_set("%s", cushim_message(cu));
        return status;
    }
    CUresult result = cu->cuInit(0);
    status = open_init_status(result);
    if (status != CUSHIM_OK)
        open_note_init(cu->instance, status, result);
    atomic_store(&cu->instance->init_status, (int)status);
    return status;
}

const char *cushim_version(void)
{
    return CUSHIM_VERSION;
}
