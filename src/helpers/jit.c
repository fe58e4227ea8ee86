/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "image.h"
#include "jit.h"

#define JIT_LOG_BYTES ((size_t)16 << 10)
#define JIT_LOG_MOST ((size_t)1 << 30)

#define JIT_REFUSE(jit, ...)                                                                       \
    cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, (jit)->helper, __VA_ARGS__)

/* ---- reading */

static CUresult jit_read_extra(struct cushim_jit *jit)
{
    const struct cushim_jit_options *wanted = &jit->wanted;
    if (wanted->extra_count > CUSHIM_JIT_MOST_EXTRA)
        return JIT_REFUSE(jit, "options: extra_count %u is more than %d", wanted->extra_count,
                          CUSHIM_JIT_MOST_EXTRA);
    if (wanted->extra_count && (!wanted->extra_options || !wanted->extra_values))
        return JIT_REFUSE(jit, "options: extra_count %u, but %s is NULL", wanted->extra_count,
                          wanted->extra_options ? "extra_values" : "extra_options");
    for (unsigned i = 0; i < wanted->extra_count; i++) {
        const CUjit_option option = wanted->extra_options[i];
        if (option >= CU_JIT_WALL_TIME && option <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            return JIT_REFUSE(jit,
                              "options: extra_options[%u] is %d: logs and wall time are in the "
                              "result",
                              i, (int)option);
    }
    return CUDA_SUCCESS;
}

static CUresult jit_read_options(struct cushim_jit *jit, const struct cushim_jit_options *given)
{
    struct cushim_jit_options *wanted = &jit->wanted;
    CUresult code = CUDA_SUCCESS;
    if (given)
        code = cushim_error_read_sized(jit->helper, "options", given,
                                       CUSHIM_LEAST(cushim_jit_options, extra_values), wanted,
                                       sizeof *wanted);
    if (code != CUDA_SUCCESS)
        return code;
    if ((unsigned)wanted->optimisation > CUSHIM_JIT_OPTIMISATION_4)
        return JIT_REFUSE(jit, "options: optimisation is %d", (int)wanted->optimisation);
    if ((unsigned)wanted->fallback > CUSHIM_JIT_PREFER_BINARY)
        return JIT_REFUSE(jit, "options: fallback is %d", (int)wanted->fallback);
    if (wanted->cache_mode > CU_JIT_CACHE_OPTION_CA)
        return JIT_REFUSE(jit, "options: cache_mode is %u", wanted->cache_mode);
    if (wanted->log_bytes > JIT_LOG_MOST)
        return JIT_REFUSE(jit, "options: log_bytes %zu is more than %zu", wanted->log_bytes,
                          JIT_LOG_MOST);
    if (wanted->position_independent && cushim_driver_version(jit->cu) < 12000)
        return cushim_error_refuse(
            CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, jit->helper,
            "options: position_independent came with CUDA 12.0, and the driver is "
            "%d.%d",
            CUSHIM_RELEASE(cushim_driver_version(jit->cu)));
    return jit_read_extra(jit);
}

CUresult cushim_jit_begin(struct cushim_jit *jit, const struct cushim_api *cu, const char *helper,
                          const struct cushim_jit_options *options,
                          struct cushim_jit_result *result)
{
    memset(jit, 0, sizeof *jit);
    jit->cu = cu;
    jit->helper = helper;
    if (result &&
        cushim_error_check_sized(helper, "result", result,
                                 CUSHIM_LEAST(cushim_jit_result, wall_ms)) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    jit->result = result;
    if (result)
        cushim_text_write_sized(result, &(struct cushim_jit_result){.size = 0}, sizeof *result);
    if (!cu)
        return cushim_error_null(helper, "cu");
    CUresult code = jit_read_options(jit, options);
    if (code != CUDA_SUCCESS)
        return code;
    size_t *bytes = &jit->wanted.log_bytes;
    *bytes = !*bytes ? JIT_LOG_BYTES : *bytes < 16 ? 16 : *bytes;
    jit->error_log = calloc(1, *bytes);
    jit->info_log = calloc(1, *bytes);
    if (!jit->error_log || !jit->info_log)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper,
                                   "options: log_bytes: no memory for two logs of %zu bytes",
                                   *bytes);
    return CUDA_SUCCESS;
}

/* ---- the driver's arrays */

static void jit_set(struct cushim_jit *jit, CUjit_option option, const void *value)
{
    jit->options[jit->count] = option;
    memcpy(&jit->values[jit->count], &value, sizeof value);
    jit->count++;
}

static void jit_set_number(struct cushim_jit *jit, CUjit_option option, size_t value)
{
    jit_set(jit, option, (const void *)(uintptr_t)value);
}

static void jit_set_compiling(struct cushim_jit *jit, bool in_context)
{
    const struct cushim_jit_options *wanted = &jit->wanted;
    if (wanted->target)
        jit_set_number(jit, CU_JIT_TARGET, wanted->target);
    else if (in_context)
        jit_set_number(jit, CU_JIT_TARGET_FROM_CUCONTEXT, 0);
    if (wanted->optimisation)
        jit_set_number(jit, CU_JIT_OPTIMIZATION_LEVEL, (size_t)wanted->optimisation - 1);
    if (wanted->fallback)
        jit_set_number(jit, CU_JIT_FALLBACK_STRATEGY, (size_t)wanted->fallback - 1);
    if (wanted->max_registers)
        jit_set_number(jit, CU_JIT_MAX_REGISTERS, wanted->max_registers);
    if (wanted->threads_per_block)
        jit_set_number(jit, CU_JIT_THREADS_PER_BLOCK, wanted->threads_per_block);
    if (wanted->cache_mode)
        jit_set_number(jit, CU_JIT_CACHE_MODE, wanted->cache_mode);
    if (wanted->debug_info)
        jit_set_number(jit, CU_JIT_GENERATE_DEBUG_INFO, 1);
    if (wanted->line_info)
        jit_set_number(jit, CU_JIT_GENERATE_LINE_INFO, 1);
    if (wanted->position_independent)
        jit_set_number(jit, CU_JIT_POSITION_INDEPENDENT_CODE, 1);
    for (unsigned i = 0; i < wanted->extra_count; i++)
        jit_set(jit, wanted->extra_options[i], wanted->extra_values[i]);
}

void cushim_jit_arrange(struct cushim_jit *jit, bool compiling, bool in_context)
{
    const size_t bytes = jit->wanted.log_bytes;
    /* The last byte is kept back, so that a log always ends. */
    jit_set(jit, CU_JIT_ERROR_LOG_BUFFER, jit->error_log);
    jit_set_number(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, bytes - 1);
    jit_set(jit, CU_JIT_INFO_LOG_BUFFER, jit->info_log);
    jit_set_number(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, bytes - 1);
    jit_set_number(jit, CU_JIT_LOG_VERBOSE, jit->wanted.verbose ? 1 : 0);
    jit->wall_at = jit->count;
    jit_set_number(jit, CU_JIT_WALL_TIME, 0);
    if (compiling)
        jit_set_compiling(jit, in_context);
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

/* Compute capability of the current context's device, 90 for 9.0; 0: not known. */
static int jit_arch(const struct cushim_api *cu)
{
    CUdevice device = 0;
    int major = 0, minor = 0;
    if (cu->cuCtxGetDevice_v1(&device) != CUDA_SUCCESS ||
        cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
            CUDA_SUCCESS ||
        cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
            CUDA_SUCCESS)
        return 0;
    return 10 * major + minor;
}

/* The first line of a log that is not empty; one that begins with "error" above others. */
static void jit_first_line(const char *log, char *line, size_t size)
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

static void jit_why(const struct cushim_jit *jit, CUresult code, const struct cushim_image *image,
                    char *why, size_t size)
{
    const int version = cushim_driver_version(jit->cu), arch = jit_arch(jit->cu);
    why[0] = 0;
    if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION && image->kind == CUSHIM_IMAGE_PTX) {
        snprintf(why, size,
                 ": the PTX has .version %d.%d, which is newer than the driver's CUDA %d.%d reads",
                 image->version_major, image->version_minor, CUSHIM_RELEASE(version));
    } else if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        snprintf(why, size, ": the PTX in it is newer than the driver's CUDA %d.%d reads",
                 CUSHIM_RELEASE(version));
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

CUresult cushim_jit_check(struct cushim_jit *jit, CUresult code, const char *call, const char *what,
                          const struct cushim_image *image)
{
    char line[480], why[200];
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_INITIALIZED ||
        code == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER || code == CUDA_ERROR_NOT_SUPPORTED ||
        cushim_error_is_ruled())
        return cushim_error_check(code, jit->helper, call);
    if (code == CUDA_ERROR_INVALID_CONTEXT)
        return cushim_error_refuse(code, jit->helper,
                                   "%s: no usable context is current on this thread", call);
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    jit_first_line(jit->error_log[0] ? jit->error_log : jit->info_log, line, sizeof line);
    jit_why(jit, code, image, why, sizeof why);
    return cushim_error_refuse(code, jit->helper, "%.200s: %s: %s (%d), %s%s%s", what, call,
                               name ? name : "unknown error", (int)code, text ? text : "unknown",
                               why, line);
}

/* ---- results */

/* Stands in for a text that there was no memory for. */
static char jit_no_text[1];

static void jit_free_text(char *text)
{
    if (text != jit_no_text)
        free(text);
}

CUresult cushim_jit_end(struct cushim_jit *jit, CUresult code)
{
    struct cushim_jit_result *result = jit->result;
    if (result) {
        result->error_log = jit->error_log ? jit->error_log : jit_no_text;
        result->info_log = jit->info_log ? jit->info_log : jit_no_text;
        result->wall_ms = (double)jit->wall_ms;
        return code;
    }
    free(jit->error_log);
    free(jit->info_log);
    return code;
}

void cushim_jit_result_release(struct cushim_jit_result *result)
{
    /* One that was refused for its size was not written. */
    if (!result || result->size < CUSHIM_LEAST(cushim_jit_result, wall_ms))
        return;
    jit_free_text(result->error_log);
    jit_free_text(result->info_log);
    cushim_text_write_sized(result, &(struct cushim_jit_result){.size = 0}, sizeof *result);
}
