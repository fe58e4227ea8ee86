/* SPDX-License-Identifier: MIT */
/* What differs between operating systems. */
#ifndef CUSHIM_LOADER_PLATFORM_H
#define CUSHIM_LOADER_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

#include <cushim/cushim.h>

struct cushim_candidate {
    const char *path;
    enum cushim_source source;
};

#define CUSHIM_MAX_ATTEMPTS 16

/* The candidates that follow the caller's own wishes, ending with a NULL path. Documented in
 * docs/finding-the-driver.md. */
extern const struct cushim_candidate cushim_platform_candidates[];
/* The one that options.allow_compat adds before them; NULL path if there is none. */
extern const struct cushim_candidate cushim_platform_compat;

/* Value of an environment variable; NULL if it is unset or must not be trusted. */
const char *cushim_platform_env(const char *name);

/*
 * Open a library. A path is examined first; a name is left to the system's search.
 *
 * @param message  what was wrong, in the system's own words if it had any
 * @return status; *handle is written if it is CUSHIM_OK
 */
enum cushim_status cushim_platform_open(const char *path, void **handle, char *message,
                                        size_t size);
void cushim_platform_close(void *handle);
/* NULL as handle searches the whole program, on Windows its own file. */
void *cushim_platform_symbol(void *handle, const char *symbol);

/* Path without links and load address of an open library, or without a handle of the one that has a
 * symbol. The path may stay empty. */
void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base);

/* Where the library is loaded that has an address; NULL if none has it. */
const void *cushim_platform_object(const void *address);
/* Whether an open library has an address. */
bool cushim_platform_has(void *handle, const void *address);

/* A number of this process; a child of a fork has another one. */
long cushim_platform_process(void);

#ifdef _WIN32
/* A path in UTF-8 as the functions of the system take it that end in W; false if it is none. */
#define CUSHIM_WIDE_PATH_SIZE 4096
bool cushim_platform_wide_path(const char *path, wchar_t wide[CUSHIM_WIDE_PATH_SIZE]);
#endif

#endif
