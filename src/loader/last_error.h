/* SPDX-License-Identifier: MIT */
/* What last went wrong on this thread. Nothing here waits, and a stub only notes numbers. */
#ifndef CUSHIM_LOADER_LAST_ERROR_H
#define CUSHIM_LOADER_LAST_ERROR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <cushim/cushim.h>

#include "loader/text.h"

#if defined(_MSC_VER)
#define CUSHIM_THREAD_LOCAL __declspec(thread)
#else
#define CUSHIM_THREAD_LOCAL __thread
#endif

#define CUSHIM_SENTENCE 1024 /* bytes of the longest one */

/* A release for "%d.%d": 12040 is 12.4. */
#define CUSHIM_RELEASE(version) (version) / 1000, (version) % 1000 / 10

void cushim_last_error_set(const char *format, ...) CUSHIM_PRINTF(1, 2);

/* An unavailable entry was called: note two numbers. The sentence is made when somebody asks. */
void cushim_last_error_note(unsigned index, enum cushim_state state);

/* The same for a table other than the driver's: that function writes the sentence. */
typedef void cushim_last_error_writer(char *text, size_t size, unsigned index);
void cushim_last_error_note_for(cushim_last_error_writer *writer, unsigned index);

/* Whether the last thing noted on this thread is a call of this entry, which is unavailable. */
bool cushim_last_error_is_call(const char *symbol);

/* Write a sentence about an entry's state. Version 0: not known. */
void cushim_last_error_describe(char *text, size_t size, const char *symbol,
                                enum cushim_state state, int driver_version);

/*
 * The stubs are shared by all instances, so a call cannot tell whose it was. While the process has
 * the process-wide instance alone, it is that one's, and the sentence of a call has its version, or
 * why it has no driver. open.c sets these: the first is the number of other instances.
 */
extern _Atomic int cushim_last_error_others;
extern _Atomic int cushim_last_error_version;
extern _Atomic(const char *) cushim_last_error_cause;

#endif
