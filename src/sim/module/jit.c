/* SPDX-License-Identifier: MIT */
#include "module/module.h"

#include <inttypes.h>
#include <stdio.h>

/* How many options a release knows; the numbers are those of its headers. */
static unsigned option_count(void)
{
    static const struct {
        int cuda;
        unsigned count;
    } counts[] = {{13000, 35}, {12090, 35}, {12080, 34}, {12030, 34}, {12000, 31}, {11040, 30}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (sim_config.cuda >= counts[i].cuda)
            return counts[i].count;
    return CU_JIT_GLOBAL_SYMBOL_COUNT + 1;
}

/* Of targets with a letter, 90a as 0x1005a and 100f as 0x20064, those that exist; of plain ones
 * all, whether there is such a device or not. */
static bool is_target(unsigned target)
{
    static const unsigned with_letters[] = {90, 100, 101, 103, 110, 120, 121};
    unsigned letter = target >> 16, number = target & 0xffff;
    bool known = letter == 0;
    for (size_t i = 0; i < sizeof with_letters / sizeof *with_letters; i++)
        known |= number == with_letters[i] && (letter == 1 || (letter == 2 && number >= 100));
    return known;
}

CUresult sim_jit_begin(struct sim_jit *jit, unsigned count, const CUjit_option *options,
                       void **values)
{
    memset(jit, 0, sizeof *jit);
    jit->start_ns = sim_clock_ns();
    SIM_REFUSE(count && (!options || !values));
    for (unsigned i = 0; i < count; i++) {
        SIM_REFUSE((unsigned)options[i] >= option_count());
        uintptr_t value = (uintptr_t)values[i];
        switch ((int)options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error_log.buffer = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_log.size = (unsigned)value;
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info_log.buffer = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_log.size = (unsigned)value;
            break;
        case CU_JIT_TARGET:
            SIM_REFUSE(!is_target((unsigned)value));
            jit->target = (unsigned)value;
            break;
        case CU_JIT_LOG_VERBOSE:
            jit->verbose = value != 0;
            break;
        case CU_JIT_MAX_REGISTERS:
        case CU_JIT_THREADS_PER_BLOCK:
            SIM_REFUSE(value == 0);
            if (options[i] == CU_JIT_MAX_REGISTERS)
                jit->max_registers = (unsigned)value;
            break;
        case CU_JIT_CACHE_MODE:
            SIM_REFUSE(value > CU_JIT_CACHE_OPTION_CA);
            break;
        default:
            break;
        }
    }
    SIM_REFUSE((jit->error_log.size && !jit->error_log.buffer) ||
               (jit->info_log.size && !jit->info_log.buffer));
    jit->count = count;
    jit->options = options;
    jit->values = values;
    return CUDA_SUCCESS;
}

static void write_value(struct sim_jit *jit, CUjit_option option, uintptr_t value)
{
    for (unsigned i = 0; i < jit->count; i++)
        if (jit->options[i] == option)
            memcpy(&jit->values[i], &value, sizeof value);
}

/* As an H100 does: the last line has no end, and the size is that of the text without its NUL, or
 * of the buffer that it fills. */
static void write_log(struct sim_jit *jit, const struct sim_log *log, CUjit_option bytes,
                      const struct ptx_text *text)
{
    if (!log->buffer || !log->size)
        return;
    size_t length = text->length;
    if (length && text->data[length - 1] == '\n')
        length--;
    bool whole = length < log->size;
    if (!whole)
        length = log->size - 1;
    if (length)
        memcpy(log->buffer, text->data, length);
    log->buffer[length] = '\0';
    write_value(jit, bytes, whole || !length ? length : log->size);
}

static void write_answers(struct sim_jit *jit)
{
    float milliseconds = (float)(sim_clock_ns() - jit->start_ns) / 1e6F;
    uint32_t bits;
    memcpy(&bits, &milliseconds, sizeof bits);
    write_value(jit, CU_JIT_WALL_TIME, bits);
    write_log(jit, &jit->error_log, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, &jit->errors);
    write_log(jit, &jit->info_log, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, &jit->info);
}

void sim_jit_tell(struct sim_jit *jit, const struct sim_device *device, const char *image,
                  CUresult result)
{
    char sentence[600];
    write_answers(jit);
    const char *why = jit->errors.length > jit->reported
                          ? jit->errors.data + jit->reported
                          : "it is no PTX, nor a fatbin with PTX in it";
    jit->reported = jit->errors.length;
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY || jit->error_log.buffer)
        return;
    snprintf(sentence, sizeof sentence, "a %s was refused with code %d: %.*s", image, (int)result,
             (int)strcspn(why, "\n"), why);
    sim_report_device(device->ordinal, sentence);
}

void sim_jit_free(struct sim_jit *jit)
{
    ptx_text_free(&jit->errors);
    ptx_text_free(&jit->info);
}

/* In the manner of ptxas -v, which programs search for "Used 24 registers". */
void sim_jit_describe(struct sim_jit *jit, const struct ptx_module *module, unsigned architecture)
{
    uint64_t global = 0, constant = 0;
    if (!jit->verbose)
        return;
    for (size_t i = 0; i < ptx_module_variables(module); i++) {
        const struct ptx_variable *variable = ptx_module_variable(module, i);
        *(variable->space == PTX_SPACE_CONST ? &constant : &global) += variable->size;
    }
    ptx_text_add(&jit->info, "ptxas info    : %" PRIu64 " bytes gmem, %" PRIu64 " bytes cmem[3]\n",
                 global, constant);
    for (size_t i = 0; i < ptx_module_functions(module); i++) {
        const struct ptx_function_info *info = ptx_module_function(module, i);
        if (info->entry)
            ptx_text_add(&jit->info,
                         "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n"
                         "ptxas info    : Function properties for %s\n"
                         "ptxas         .     %u bytes stack frame, 0 bytes spill stores, "
                         "0 bytes spill loads\n"
                         "ptxas info    : Used %u registers, %u bytes smem\n",
                         info->name, architecture, info->name, info->local, info->registers,
                         info->static_shared);
    }
}

CUresult sim_jit_check_target(struct sim_jit *jit, unsigned architecture)
{
    unsigned target = jit->target & 0xffffU; /* what is above are the letters: 90a is 0x1005a */
    if (!target || target == architecture)
        return CUDA_SUCCESS;
    ptx_text_add(&jit->errors, "error   : CU_JIT_TARGET is sm_%u, and the device is sm_%u\n",
                 target, architecture);
    return target < 10 ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_SOURCE;
}

CUresult sim_jit_code(enum ptx_status status)
{
    switch (status) {
    case PTX_OK:
        return CUDA_SUCCESS;
    case PTX_DUPLICATE:
    case PTX_UNRESOLVED: /* each input was good by itself */
        return CUDA_ERROR_INVALID_SOURCE;
    case PTX_UNSUPPORTED_VERSION:
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case PTX_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return CUDA_ERROR_INVALID_PTX;
    }
}

struct ptx_options sim_jit_options(const struct sim_jit *jit, const struct sim_device *device)
{
    const int optin = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    return (struct ptx_options){.version = sim_place_ptx_version(),
                                .architecture = (unsigned)sim_device_architecture(device),
                                .max_shared = (unsigned)sim_device_value(device, optin),
                                .max_registers = jit->max_registers};
}

CUresult sim_jit_compile(struct sim_jit *jit, const struct sim_context *context,
                         const struct ptx_source *sources, size_t count, struct ptx_module **module)
{
    struct ptx_options options = sim_jit_options(jit, context->device);
    SIM_TRY(sim_jit_check_target(jit, options.architecture));
    /* Compiling takes long, and other threads may use the driver meanwhile. */
    sim_lock_leave();
    enum ptx_status status =
        ptx_compile(&options, sources, count, &jit->errors, &jit->info, module);
    sim_lock_enter();
    if (status == PTX_OK)
        sim_jit_describe(jit, *module, options.architecture);
    return status == PTX_UNRESOLVED || status == PTX_DUPLICATE ? CUDA_ERROR_INVALID_PTX
                                                               : sim_jit_code(status);
}
