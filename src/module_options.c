/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module_internal.h"

#define MODULE_LOG_BYTES ((size_t)16 << 10)
#define MODULE_LOG_MOST ((size_t)1 << 30)
#define MODULE_LIMIT (256ull << 20)

#define MODULE_REFUSE(jit, ...) cushim_refuse(CUDA_ERROR_INVALID_VALUE, (jit)->helper, __VA_ARGS__)

/* ---- reading */

static CUresult module_read_extra(struct cushim_jit *jit)
{
    const struct cushim_jit_options *wanted = &jit->wanted;
    if (wanted->extra_count > CUSHIM_JIT_MAX_EXTRA)
        return MODULE_REFUSE(jit, "options: extra_count %u is more than %d", wanted->extra_count,
                             CUSHIM_JIT_MAX_EXTRA);
    if (wanted->extra_count && (!wanted->extra_options || !wanted->extra_values))
        return MODULE_REFUSE(jit, "options: extra_count %u, but %s is NULL", wanted->extra_count,
                             wanted->extra_options ? "extra_values" : "extra_options");
    for (unsigned i = 0; i < wanted->extra_count; i++) {
        const CUjit_option option = wanted->extra_options[i];
        if (option >= CU_JIT_WALL_TIME && option <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            return MODULE_REFUSE(jit,
                                 "options: extra_options[%u] is %d: logs and wall time are in the "
                                 "result",
                                 i, (int)option);
    }
    return CUDA_SUCCESS;
}

static CUresult module_read_cache(struct cushim_jit *jit)
{
    const struct cushim_cubin_cache *given = jit->wanted.cache;
    if (!given)
        return CUDA_SUCCESS;
    if (given->size < sizeof given->size + sizeof given->folder)
        return MODULE_REFUSE(jit,
                             "options: cache: size %zu is not that of struct "
                             "cushim_cubin_cache",
                             given->size);
    memcpy(&jit->cache, given, given->size < sizeof jit->cache ? given->size : sizeof jit->cache);
    if (jit->cache.folder && !jit->cache.folder[0])
        return MODULE_REFUSE(jit, "options: cache: folder is an empty string");
    if (!jit->cache.limit)
        jit->cache.limit = MODULE_LIMIT;
    jit->wanted.cache = &jit->cache;
    return CUDA_SUCCESS;
}

static CUresult module_read_options(struct cushim_jit *jit, const struct cushim_jit_options *given)
{
    struct cushim_jit_options *wanted = &jit->wanted;
    if (given && given->size < sizeof given->size + sizeof given->optimisation)
        return MODULE_REFUSE(jit, "options: size %zu is not that of struct cushim_jit_options",
                             given->size);
    if (given)
        memcpy(wanted, given, given->size < sizeof *wanted ? given->size : sizeof *wanted);
    if ((unsigned)wanted->optimisation > CUSHIM_JIT_OPTIMISATION_4)
        return MODULE_REFUSE(jit, "options: optimisation is %d", (int)wanted->optimisation);
    if ((unsigned)wanted->fallback > CUSHIM_JIT_PREFER_BINARY)
        return MODULE_REFUSE(jit, "options: fallback is %d", (int)wanted->fallback);
    if (wanted->cache_mode > CU_JIT_CACHE_OPTION_CA)
        return MODULE_REFUSE(jit, "options: cache_mode is %u", wanted->cache_mode);
    if (wanted->log_bytes > MODULE_LOG_MOST)
        return MODULE_REFUSE(jit, "options: log_bytes %zu is more than %zu", wanted->log_bytes,
                             MODULE_LOG_MOST);
    if (wanted->position_independent && cushim_driver_version(jit->cu) < 12000)
        return cushim_refuse(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, jit->helper,
                             "options: position_independent came with CUDA 12.0, and the driver is "
                             "%d.%d",
                             cushim_driver_version(jit->cu) / 1000,
                             cushim_driver_version(jit->cu) % 1000 / 10);
    CUresult code = module_read_extra(jit);
    return code == CUDA_SUCCESS ? module_read_cache(jit) : code;
}

CUresult cushim_jit_begin(struct cushim_jit *jit, const struct cushim_api *cu, const char *helper,
                          const struct cushim_jit_options *options)
{
    memset(jit, 0, sizeof *jit);
    jit->cu = cu;
    jit->helper = helper;
    CUresult code = module_read_options(jit, options);
    if (code != CUDA_SUCCESS)
        return code;
    size_t *bytes = &jit->wanted.log_bytes;
    *bytes = !*bytes ? MODULE_LOG_BYTES : *bytes < 16 ? 16 : *bytes;
    jit->error_log = calloc(1, *bytes);
    jit->info_log = calloc(1, *bytes);
    if (!jit->error_log || !jit->info_log)
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper,
                             "options: log_bytes: no memory for two logs of %zu bytes", *bytes);
    return CUDA_SUCCESS;
}

/* ---- the driver's arrays */

static void module_set(struct cushim_jit *jit, CUjit_option option, const void *value)
{
    jit->options[jit->count] = option;
    memcpy(&jit->values[jit->count], &value, sizeof value);
    jit->count++;
}

static void module_set_number(struct cushim_jit *jit, CUjit_option option, size_t value)
{
    module_set(jit, option, (const void *)(uintptr_t)value);
}

static void module_set_compiling(struct cushim_jit *jit, bool in_context)
{
    const struct cushim_jit_options *wanted = &jit->wanted;
    if (wanted->target)
        module_set_number(jit, CU_JIT_TARGET, wanted->target);
    else if (in_context)
        module_set_number(jit, CU_JIT_TARGET_FROM_CUCONTEXT, 0);
    if (wanted->optimisation)
        module_set_number(jit, CU_JIT_OPTIMIZATION_LEVEL, (size_t)wanted->optimisation - 1);
    if (wanted->fallback)
        module_set_number(jit, CU_JIT_FALLBACK_STRATEGY, (size_t)wanted->fallback - 1);
    if (wanted->max_registers)
        module_set_number(jit, CU_JIT_MAX_REGISTERS, wanted->max_registers);
    if (wanted->threads_per_block)
        module_set_number(jit, CU_JIT_THREADS_PER_BLOCK, wanted->threads_per_block);
    if (wanted->cache_mode)
        module_set_number(jit, CU_JIT_CACHE_MODE, wanted->cache_mode);
    if (wanted->debug_info)
        module_set_number(jit, CU_JIT_GENERATE_DEBUG_INFO, 1);
    if (wanted->line_info)
        module_set_number(jit, CU_JIT_GENERATE_LINE_INFO, 1);
    if (wanted->position_independent)
        module_set_number(jit, CU_JIT_POSITION_INDEPENDENT_CODE, 1);
    for (unsigned i = 0; i < wanted->extra_count; i++)
        module_set(jit, wanted->extra_options[i], wanted->extra_values[i]);
}

void cushim_jit_arrange(struct cushim_jit *jit, bool compiling, bool in_context)
{
    const size_t bytes = jit->wanted.log_bytes;
    jit->count = 0;
    memset(jit->error_log, 0, bytes);
    memset(jit->info_log, 0, bytes);
    /* The last byte is kept back, so that a log always ends. */
    module_set(jit, CU_JIT_ERROR_LOG_BUFFER, jit->error_log);
    module_set_number(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, bytes - 1);
    module_set(jit, CU_JIT_INFO_LOG_BUFFER, jit->info_log);
    module_set_number(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, bytes - 1);
    module_set_number(jit, CU_JIT_LOG_VERBOSE, jit->wanted.verbose ? 1 : 0);
    jit->wall_at = jit->count;
    module_set_number(jit, CU_JIT_WALL_TIME, 0);
    if (compiling)
        module_set_compiling(jit, in_context);
}

/* The driver stores a float in the place of a pointer. */
void cushim_jit_note(struct cushim_jit *jit)
{
    float wall;
    memcpy(&wall, &jit->values[jit->wall_at], sizeof wall);
    if (wall > 0 && wall < 1e9f)
        jit->wall_ms += wall;
}

/* ---- sentences */

/* The first line of a log that says something; one that begins with "error" above others. */
static void module_first_line(const char *log, char *line, size_t size)
{
    const char *best = NULL;
    size_t length = 0;
    for (const char *at = log; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t here = strcspn(at, "\r\n");
        const bool better =
            here && (!best || (strncmp(best, "error", 5) != 0 && strncmp(at, "error", 5) == 0));
        if (better) {
            best = at;
            length = here;
        }
    }
    snprintf(line, size, "%s%.*s", best ? "; the log: " : "", (int)(length < 400 ? length : 400),
             best ? best : "");
}

static void module_why(const struct cushim_jit *jit, CUresult code,
                       const struct cushim_image *image, char *why, size_t size)
{
    const int version = cushim_driver_version(jit->cu), arch = cushim_module_arch(jit->cu);
    why[0] = 0;
    if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION && image->kind == CUSHIM_IMAGE_PTX) {
        snprintf(why, size,
                 ": the PTX has .version %d.%d, which is newer than the driver's CUDA %d.%d reads",
                 image->version_major, image->version_minor, version / 1000, version % 1000 / 10);
    } else if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        snprintf(why, size, ": the PTX in it is newer than the driver's CUDA %d.%d reads",
                 version / 1000, version % 1000 / 10);
    } else if (arch && image->arch &&
               (code == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                (code == CUDA_ERROR_INVALID_PTX && image->arch > arch))) {
        snprintf(
            why, size, ": the device has compute capability %d.%d, and the %s is for sm_%d%.1s",
            arch / 10, arch % 10, cushim_image_word(image->kind), image->arch, &image->arch_suffix);
    } else if (code == CUDA_ERROR_NO_BINARY_FOR_GPU && arch) {
        snprintf(why, size,
                 ": the device has compute capability %d.%d, and the %s has nothing for "
                 "it",
                 arch / 10, arch % 10, cushim_image_word(image->kind));
    }
}

CUresult cushim_jit_checked(struct cushim_jit *jit, CUresult code, const char *call,
                            const char *what, const struct cushim_image *image)
{
    char line[480], why[200];
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_INITIALIZED ||
        code == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER || code == CUDA_ERROR_NOT_SUPPORTED)
        return cushim_checked(code, jit->helper, call);
    if (code == CUDA_ERROR_INVALID_CONTEXT)
        return cushim_refuse(code, jit->helper, "%s: no usable context is current on this thread",
                             call);
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    module_first_line(jit->error_log[0] ? jit->error_log : jit->info_log, line, sizeof line);
    module_why(jit, code, image, why, sizeof why);
    return cushim_refuse(code, jit->helper, "%.200s: %s: %s (%d), %s%s%s", what, call,
                         name ? name : "unknown error", (int)code, text ? text : "unknown", why,
                         line);
}

/* ---- results */

/* Cut a log to its length. What it was, for want of memory. */
static char *module_cut(char *log)
{
    char *cut = log ? realloc(log, strlen(log) + 1) : calloc(1, 1);
    return cut ? cut : log;
}

/* Stands in for a text that there was no memory for. */
static char module_no_text[1];

static char *module_text(char *log)
{
    char *cut = module_cut(log);
    return cut ? cut : module_no_text;
}

static void module_free_text(char *text)
{
    if (text != module_no_text)
        free(text);
}

CUresult cushim_jit_end(struct cushim_jit *jit, struct cushim_jit_result *result, CUresult code)
{
    if (result) {
        *result =
            (struct cushim_jit_result){module_text(jit->error_log), module_text(jit->info_log),
                                       jit->wall_ms, jit->outcome, module_text(jit->cache_note)};
        return code;
    }
    free(jit->error_log);
    free(jit->info_log);
    free(jit->cache_note);
    return code;
}

void cushim_jit_result_release(struct cushim_jit_result *result)
{
    if (!result)
        return;
    module_free_text(result->error_log);
    module_free_text(result->info_log);
    module_free_text(result->cache_note);
    *result = (struct cushim_jit_result){0};
}
