/* SPDX-License-Identifier: MIT */
/* What differs between operating systems. */
#ifndef CUSHIM_SRC_PLATFORM_H
#define CUSHIM_SRC_PLATFORM_H

#include <stddef.h>
#include <stdio.h>

#include <cushim/cushim.h>

#if defined(_MSC_VER)
#define CUSHIM_THREAD_LOCAL __declspec(thread)
#else
#define CUSHIM_THREAD_LOCAL __thread
#endif

#if defined(__MINGW32__) /* whose printf it is, <stdio.h> decides */
#define CUSHIM_PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define CUSHIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CUSHIM_PRINTF(text, first)
#endif

struct cushim_candidate {
    const char *path;
    enum cushim_source source;
};

/* The folders' worth of candidates that follow the caller's own wishes, ending with a NULL path.
 * Documented in docs/finding-the-driver.md. */
extern const struct cushim_candidate cushim_platform_candidates[];
/* The one that options.allow_compat adds before them; NULL path where there is none. */
extern const struct cushim_candidate cushim_platform_compat;

/* This platform's value of entry_data.platform that is not "anywhere". */
extern const int cushim_platform_id;

/* Value of CUSHIM_LIBCUDA; NULL where it is unset or must not be trusted. */
const char *cushim_platform_env_path(void);

/*
 * Open a library. A candidate of source PROCESS is only found, never loaded.
 *
 * @param message  what was wrong, in the loader's own words where it had any
 * @return status; *handle is written where it is CUSHIM_OK
 */
enum cushim_status cushim_platform_open(const struct cushim_candidate *candidate, void **handle,
                                        char *message, size_t size);
void cushim_platform_close(void *handle);
void *cushim_platform_symbol(void *handle, const char *symbol);

/* Path and load address of an open library, or without a handle of the one that has a symbol; the
 * path may stay empty. */
void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base);

long cushim_platform_process_id(void);
/* Give up the processor for a moment. */
void cushim_platform_pause(void);

#endif
