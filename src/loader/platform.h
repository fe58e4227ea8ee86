/* SPDX-License-Identifier: MIT */
/* What differs between operating systems. */
#ifndef CUSHIM_LOADER_PLATFORM_H
#define CUSHIM_LOADER_PLATFORM_H

#include <stdatomic.h>
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
 * Whether the system's own search for a name would open a damaged file. It would kill the process.
 *
 * @param path  written if the answer is true: the file
 */
bool cushim_platform_search_is_unsafe(const char *name, char *path, size_t size);

/*
 * Open a library. A candidate of source PROCESS is only found, never loaded.
 *
 * @param message  what was wrong, in the system's own words if it had any
 * @return status; *handle is written if it is CUSHIM_OK
 */
enum cushim_status cushim_platform_open(const struct cushim_candidate *candidate, void **handle,
                                        char *message, size_t size);
void cushim_platform_close(void *handle);
void *cushim_platform_symbol(void *handle, const char *symbol);

/* Find what the library itself exports of the registry's entries, as cushim_elf_exports. */
bool cushim_platform_exports(void *handle, void **addresses);

/* Path and load address of an open library, or without a handle of the one that has a symbol. The
 * path may stay empty. */
void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base);

/* The path without links, from malloc; NULL if it cannot be had. */
char *cushim_platform_real_path(const char *path);

/* Whether code is at an address. */
bool cushim_platform_is_code(const void *address);

#ifdef _WIN32
/* A path in UTF-8 as the functions of the system take it that end in W; false if it is none. */
#define CUSHIM_WIDE_PATH_SIZE 4096
bool cushim_platform_wide_path(const char *path, wchar_t wide[CUSHIM_WIDE_PATH_SIZE]);
#endif

/* Remembers a process. All zero: none. */
struct cushim_mark {
    _Atomic(_Atomic int *) page; /* the system empties it in a child */
    _Atomic long process;
};
void cushim_platform_mark(struct cushim_mark *mark);
/* Whether this process is another one than the last that was marked: its child. */
bool cushim_platform_is_child(struct cushim_mark *mark);

#endif
