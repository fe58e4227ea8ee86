/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "instance.h"
#include "unavailable.h"

#define SENTENCE 1024

/* A call of an unavailable entry notes two numbers; the sentence is made when somebody asks. */
static CUSHIM_THREAD_LOCAL struct {
    bool called;
    unsigned index;
    enum cushim_state state;
    char text[SENTENCE];
} last;

static CUSHIM_THREAD_LOCAL char reason[SENTENCE];

static const struct {
    const char *name, *advice;
} statuses[] = {
    [CUSHIM_OK] = {"ok", ""},
    [CUSHIM_ERROR_INVALID_ARGUMENT] = {"invalid-argument", ""},
    [CUSHIM_ERROR_OUT_OF_MEMORY] = {"out-of-memory", ""},
    [CUSHIM_ERROR_NOT_FOUND] = {"not-found", "; install NVIDIA's driver, or name its libcuda.so.1 "
                                             "in CUSHIM_LIBCUDA"},
    [CUSHIM_ERROR_EMPTY_PATH] = {"empty-path", "; unset it, or give the path of a libcuda.so.1"},
    [CUSHIM_ERROR_NOT_A_FILE] = {"not-a-file", "; give the path of a libcuda.so.1"},
    [CUSHIM_ERROR_UNREADABLE] = {"unreadable", "; make the file readable for this user"},
    [CUSHIM_ERROR_EMPTY_FILE] = {"empty-file", "; reinstall NVIDIA's driver"},
    [CUSHIM_ERROR_NOT_A_LIBRARY] = {"not-a-library", "; give the path of a libcuda.so.1"},
    [CUSHIM_ERROR_TRUNCATED] = {"truncated", "; reinstall NVIDIA's driver"},
    [CUSHIM_ERROR_WRONG_CLASS] = {"wrong-class", "; install the driver's libraries for this "
                                                 "program's word size"},
    [CUSHIM_ERROR_WRONG_MACHINE] = {"wrong-machine", "; install the driver for this processor"},
    [CUSHIM_ERROR_DEPENDENCY] = {"dependency", "; install the library that is missing, or put its "
                                               "folder into LD_LIBRARY_PATH"},
    [CUSHIM_ERROR_OPEN_FAILED] = {"open-failed", "; reinstall NVIDIA's driver"},
    [CUSHIM_ERROR_NOT_CUDA] = {"not-cuda", "; give the path of a libcuda.so.1"},
    [CUSHIM_ERROR_STUB] = {"stub", "; take the toolkit's stubs folder out of LD_LIBRARY_PATH and "
                                   "install NVIDIA's driver"},
    [CUSHIM_ERROR_VERSION_FAILED] = {"version-failed", "; reinstall NVIDIA's driver"},
    [CUSHIM_ERROR_VERSION_INVALID] = {"version-invalid", "; reinstall NVIDIA's driver"},
    [CUSHIM_ERROR_NO_DEVICE] = {"no-device", "; check that a GPU is there (nvidia-smi), that "
                                             "CUDA_VISIBLE_DEVICES does not hide it, and that a "
                                             "container was given it"},
    [CUSHIM_ERROR_NOT_READY] = {"not-ready", "; wait until the system's services for the GPU run "
                                             "(the fabric manager, on systems with NVSwitch)"},
    [CUSHIM_ERROR_DRIVER_MISMATCH] = {"driver-mismatch", "; restart the machine after a driver "
                                                         "update, and keep compat libraries out of "
                                                         "the search path"},
    [CUSHIM_ERROR_COMPAT_UNSUPPORTED] = {"compat-unsupported", "; this GPU cannot use the compat "
                                                               "libraries: use the system's "
                                                               "driver"},
    [CUSHIM_ERROR_INIT_UNKNOWN] = {"init-unknown", "; see whether nvidia-smi works, and what the "
                                                   "kernel log says of the GPU"},
    [CUSHIM_ERROR_INIT_FAILED] = {"init-failed", "; see whether nvidia-smi works"},
    [CUSHIM_ERROR_FORKED] = {"forked", "; start the process anew (exec), or fork before the first "
                                       "use of CUDA"},
    [CUSHIM_ERROR_HEADER_MISMATCH] = {"header-mismatch", ""},
};

static bool known(enum cushim_status status)
{
    return (size_t)status < sizeof statuses / sizeof *statuses;
}

const char *cushim_status_name(enum cushim_status status)
{
    return known(status) ? statuses[status].name : "unknown";
}

const char *cushim_advice(enum cushim_status status)
{
    return known(status) ? statuses[status].advice : "";
}

void cushim_log(const struct cushim_options *options, enum cushim_log_level level,
                const char *format, ...)
{
    if (!options->log)
        return;
    char line[SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    options->log(options->user, level, line);
}

void cushim_set_last_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last.text, sizeof last.text, format, arguments);
    va_end(arguments);
    last.called = false;
}

bool cushim_was_unavailable(const char *symbol)
{
    return last.called && cushim_find_entry(symbol) == last.index;
}

static CUresult note(unsigned index, enum cushim_state state, CUresult result)
{
    last.called = true;
    last.index = index;
    last.state = state;
    return result;
}

CUresult cushim_unavailable_no_driver(unsigned index)
{
    return note(index, CUSHIM_STATE_NO_DRIVER, CUDA_ERROR_NOT_INITIALIZED);
}

CUresult cushim_unavailable_newer(unsigned index)
{
    return note(index, CUSHIM_STATE_NEWER, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
}

CUresult cushim_unavailable_absent(unsigned index)
{
    return note(index, CUSHIM_STATE_ABSENT, CUDA_ERROR_NOT_SUPPORTED);
}

CUresult CUDAAPI cushim_no_driver_cuInit(unsigned int Flags)
{
    (void)Flags;
    return note((unsigned)cushim_find_entry("cuInit"), CUSHIM_STATE_NO_DRIVER,
                CUDA_ERROR_NO_DEVICE);
}

CUresult CUDAAPI cushim_no_driver_cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = 0;
    return CUDA_SUCCESS;
}

static const char *platform_words(size_t index)
{
    return cushim_entries[index].platform == CUSHIM_WINDOWS_ONLY ? "Windows" : "Linux";
}

void cushim_describe_state(char *text, size_t size, const char *symbol, int since,
                           enum cushim_state state, int driver_version)
{
    char driver[48] = "the driver";
    if (driver_version)
        snprintf(driver, sizeof driver, "the driver, of CUDA %d.%d,", driver_version / 1000,
                 driver_version % 1000 / 10);
    size_t index = cushim_find_entry(symbol);
    switch (state) {
    case CUSHIM_STATE_AVAILABLE:
        snprintf(text, size, "%s is available", symbol);
        break;
    case CUSHIM_STATE_NO_DRIVER:
        snprintf(text, size, "%s is not available: there is no CUDA driver", symbol);
        break;
    case CUSHIM_STATE_NEWER:
        snprintf(text, size, "%s is not available: it came with CUDA %d.%d, and %s is older",
                 symbol, since / 1000, since % 1000 / 10, driver);
        break;
    case CUSHIM_STATE_ABSENT:
        snprintf(text, size, "%s is not available: %s does not export it", symbol, driver);
        break;
    case CUSHIM_STATE_PLATFORM:
        snprintf(text, size, "%s is not available: it exists on %s only", symbol,
                 platform_words(index));
        break;
    default:
        snprintf(text, size, "%s is not an entry that this version of cushim knows", symbol);
    }
}

const char *cushim_last_error(void)
{
    if (!last.called)
        return last.text;
    const struct cushim_entry_data *entry = &cushim_entries[last.index];
    bool elsewhere = entry->platform != CUSHIM_ANYWHERE && entry->platform != cushim_platform_id;
    enum cushim_state state =
        last.state == CUSHIM_STATE_ABSENT && elsewhere ? CUSHIM_STATE_PLATFORM : last.state;
    int version = 0;
    char why[SENTENCE / 2] = "", *text = last.text;
    bool agreed = cushim_agreed(last.index, state, &version, why, sizeof why);
    cushim_describe_state(text, sizeof last.text, cushim_entry_symbol(last.index), entry->since,
                          state, version);
    if (agreed && state == CUSHIM_STATE_NO_DRIVER)
        snprintf(text + strlen(text), sizeof last.text - strlen(text), " (%s)", why);
    last.called = false;
    return text;
}

void cushim_clear_last_error(void)
{
    last.called = false;
    last.text[0] = '\0';
}

const char *cushim_reason(const struct cushim_api *cu, const char *symbol, enum cushim_state *state)
{
    size_t index = cushim_find_entry(symbol);
    struct cushim_slot slot = cushim_slot_at(cu, index);
    int since = index < CUSHIM_ENTRY_COUNT ? cushim_entries[index].since : 0;
    cushim_describe_state(reason, sizeof reason, symbol, since, slot.state,
                          cushim_driver_version(cu));
    if (state)
        *state = slot.state;
    return reason;
}

bool cushim_has(const struct cushim_api *cu, const char *symbol)
{
    return cushim_slot_at(cu, cushim_find_entry(symbol)).state == CUSHIM_STATE_AVAILABLE;
}
