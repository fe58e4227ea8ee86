/* SPDX-License-Identifier: MIT */
#include "loader/last_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loader/registry.h"

#ifdef _WIN32
#define ELSEWHERE "Linux"
#else
#define ELSEWHERE "Windows"
#endif

static CUSHIM_THREAD_LOCAL struct {
    bool called;
    unsigned index;
    enum cushim_state state;
    char text[CUSHIM_SENTENCE];
} last_noted;

_Atomic int cushim_only_version;
_Atomic(const char *) cushim_only_message;

void cushim_last_error_set(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_noted.text, sizeof last_noted.text, format, arguments);
    va_end(arguments);
    last_noted.called = false;
}

void cushim_last_error_note(unsigned index, enum cushim_state state)
{
    last_noted.called = true;
    last_noted.index = index;
    last_noted.state = state;
}

bool cushim_last_error_is_call(const char *symbol)
{
    return last_noted.called && cushim_registry_find(symbol) == last_noted.index;
}

void cushim_last_error_describe(char *text, size_t size, const char *symbol,
                                enum cushim_state state, int driver_version)
{
    char driver[48] = "the driver";
    if (driver_version)
        snprintf(driver, sizeof driver, "the driver, of CUDA %d.%d,",
                 CUSHIM_RELEASE(driver_version));
    int since;
    switch (state) {
    case CUSHIM_STATE_AVAILABLE:
        snprintf(text, size, "%s is available", symbol);
        break;
    case CUSHIM_STATE_NO_DRIVER:
        snprintf(text, size, "%s is not available: there is no CUDA driver", symbol);
        break;
    case CUSHIM_STATE_NEWER:
        since = cushim_registry_since(cushim_registry_find(symbol));
        snprintf(text, size, "%s is not available: it came with CUDA %d.%d, and %s is older",
                 symbol, CUSHIM_RELEASE(since), driver);
        break;
    case CUSHIM_STATE_ABSENT:
        snprintf(text, size, "%s is not available: %s does not export it", symbol, driver);
        break;
    case CUSHIM_STATE_PLATFORM:
        snprintf(text, size, "%s is not available: it exists on " ELSEWHERE " only", symbol);
        break;
    default:
        snprintf(text, size, "%s is not an entry that this version of cushim knows", symbol);
    }
}

const char *cushim_last_error(void)
{
    if (!last_noted.called)
        return last_noted.text;
    char symbol[CUSHIM_SYMBOL_SIZE];
    const char *why = atomic_load_explicit(&cushim_only_message, memory_order_acquire);
    bool elsewhere =
        last_noted.state == CUSHIM_STATE_ABSENT && cushim_registry_is_elsewhere(last_noted.index);
    cushim_last_error_describe(last_noted.text, sizeof last_noted.text,
                               cushim_registry_symbol(last_noted.index, symbol),
                               elsewhere ? CUSHIM_STATE_PLATFORM : last_noted.state,
                               atomic_load_explicit(&cushim_only_version, memory_order_relaxed));
    if (last_noted.state == CUSHIM_STATE_NO_DRIVER && why) {
        size_t length = strlen(last_noted.text);
        snprintf(last_noted.text + length, sizeof last_noted.text - length, " (%s)", why);
    }
    last_noted.called = false;
    return last_noted.text;
}

void cushim_clear_last_error(void)
{
    last_noted.called = false;
    last_noted.text[0] = '\0';
}
