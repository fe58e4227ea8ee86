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

/* A stub notes its call, and the sentence is made of that if somebody asks: a stub may be called in
 * a signal handler. */
static CUSHIM_THREAD_LOCAL struct {
    bool called;
    bool alone;                       /* no other instance was there */
    cushim_last_error_writer *writer; /* NULL: an entry of the driver's table */
    unsigned short index;
    enum cushim_state state;
} last_call;

static CUSHIM_THREAD_LOCAL char last_text[CUSHIM_SENTENCE];

_Atomic int cushim_last_error_others;
_Atomic int cushim_last_error_version;
_Atomic(const char *) cushim_last_error_cause;

void cushim_last_error_set(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_text, sizeof last_text, format, arguments);
    va_end(arguments);
    last_call.called = false;
}

void cushim_last_error_note(unsigned index, enum cushim_state state)
{
    last_call.called = true;
    last_call.alone = !atomic_load_explicit(&cushim_last_error_others, memory_order_relaxed);
    last_call.index = (unsigned short)index;
    last_call.state = state;
    last_call.writer = NULL;
}

void cushim_last_error_note_for(cushim_last_error_writer *writer, unsigned index)
{
    last_call.called = true;
    last_call.index = (unsigned short)index;
    last_call.writer = writer;
}

bool cushim_last_error_is_call(const char *symbol)
{
    return last_call.called && !last_call.writer && cushim_registry_find(symbol) == last_call.index;
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
        snprintf(text, size,
                 "%s is not an entry that this version of cushim knows: "
                 "misspelt, or newer than cushim",
                 symbol);
    }
}

const char *cushim_last_error(void)
{
    if (!last_call.called)
        return last_text;
    if (last_call.writer) {
        last_call.writer(last_text, sizeof last_text, last_call.index);
        last_call.called = false;
        return last_text;
    }
    char symbol[CUSHIM_SYMBOL_SIZE];
    const char *why = atomic_load_explicit(&cushim_last_error_cause, memory_order_acquire);
    int version = atomic_load_explicit(&cushim_last_error_version, memory_order_relaxed);
    bool elsewhere =
        last_call.state == CUSHIM_STATE_ABSENT && cushim_registry_is_elsewhere(last_call.index);
    cushim_registry_symbol(last_call.index, symbol);
    if (last_call.state == CUSHIM_STATE_NO_DRIVER && last_call.alone && why)
        snprintf(last_text, sizeof last_text, "%s is not available: %s", symbol, why);
    else
        cushim_last_error_describe(last_text, sizeof last_text, symbol,
                                   elsewhere ? CUSHIM_STATE_PLATFORM : last_call.state,
                                   last_call.alone ? version : 0);
    last_call.called = false;
    return last_text;
}

void cushim_last_error_clear(void)
{
    last_call.called = false;
    last_text[0] = '\0';
}
