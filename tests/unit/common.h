/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the unit tests share: the fake drivers, checks that hold for every instance, and children.
 */
#ifndef CUSHIM_TESTS_COMMON_H
#define CUSHIM_TESTS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cushim/cushim.h>

#include "fake.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The driver that every test falls back on: honest, 12.4. */
#define GOOD "v12"
#define GOOD_VERSION 12040

/*
 * What differs with musl: dlclose unloads nothing; a library that was opened by its path is not
 * found by its soname; dlsym refuses indirect functions, which musl does not have, and takes
 * absolute and hidden symbols for others; freed memory is not handed out again soon.
 */
#if defined(__GLIBC__) || defined(_WIN32) /* which unloads, too */
#define HAVE_GLIBC true
#else
#define HAVE_GLIBC false
#endif

enum { PATH_SIZE = 8192, TEXT_SIZE = 16384 };

/** Path of a fake driver ("v12", see tests/fakes/meson.build); this thread's buffer. */
const char *fake_path(const char *name);

/** A fake's settings and counts. Loads it and never unloads it, so that they stay. */
struct fake_control *fake_control(const char *path);

/** Address that a library exports under a name, or NULL. Loads it and never unloads it. */
void *exported(const char *path, const char *symbol);

/** Options with `size` set and all else zero. */
struct cushim_options defaults(void);

/** cushim_open with a path alone; never NULL. */
const struct cushim_api *open_path(const char *path);

/** Set or, with NULL, unset a variable; CUSHIM_LIBCUDA mostly. */
void set_environment(const char *name, const char *value);

/** All attempts of a load; returns how many. */
enum { ATTEMPTS = 32 };
size_t attempts_of(const struct cushim_api *cu, struct cushim_attempt attempts[ATTEMPTS]);

/** Index of an entry by its exported name; fails where there is none. */
size_t entry_index(const char *symbol);

/** What the table holds at an index, as an address. */
void *table_slot(const struct cushim_api *table, size_t index);

/**
 * Checks that hold for every instance, good or bad: no NULL anywhere, slots and sentences agree
 * with the status, unavailable entries have no address.
 */
void assert_sound(const struct cushim_api *cu);

/** An instance without driver: this status, sound, and not one entry available. */
void assert_failed(const struct cushim_api *cu, enum cushim_status status);

/** cushim_open on the good fake works, from start to end. */
void assert_good_driver_loads(void);

/** `text` contains `part`. */
void assert_contains(const char *text, const char *part);

/** The same as assert_contains, and letters' case does not matter. */
void assert_mentions(const char *text, const char *part);

/**
 * Call a function of any type with zero in every argument, and return its code.
 *
 * For stubs, which look at none of their arguments, and for functions that accept NULL.
 */
int call_with_zeros(void *function);

/** Whether call_with_zeros works on this processor. */
bool can_call_with_zeros(void);

/**
 * Run `body` in a forked child; fail where it does not return normally. cmocka's assertions work
 * in it, and 20 seconds are its limit.
 *
 * @param output  may be NULL; what the child wrote to stdout and stderr, at most TEXT_SIZE bytes
 */
void run_in_child(void (*body)(void *), void *argument, char *output);

/** The same without failing: the child's wait status. `output` is not NULL. */
int try_in_child(void (*body)(void *), void *argument, char *output);

/** Run this program again: `main` is called with `mode` as its only argument. As run_in_child. */
void run_again(const char *program, const char *mode, char *const environment[], char *output);

/** The same without failing: the child's wait status. `output` is not NULL. */
int try_again(const char *program, const char *mode, char *const environment[], char *output);

/** Where files of a test program go: one folder, made by make_folder, removed by remove_folder. */
const char *make_folder(void);
void remove_folder(void);

/** Path of a name in that folder; this thread's buffer, overwritten by the fourth next call. */
const char *in_folder(const char *name);

/** Write a file into that folder; its path, as in_folder. */
const char *write_file(const char *name, const void *bytes, size_t size);

/** Read a whole file; the caller frees it. */
unsigned char *read_whole(const char *path, size_t *size);

/** Copy a file into that folder under another name; its path, as in_folder. */
const char *copy_file(const char *from, const char *name);

#endif
