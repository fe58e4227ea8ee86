/* SPDX-License-Identifier: MIT */
/* Strings from malloc, and structures that begin with their size. */
#ifndef CUSHIM_LOADER_TEXT_H
#define CUSHIM_LOADER_TEXT_H

#include <stddef.h>
#include <stdio.h>

#if defined(__MINGW32__) /* whose printf it is, <stdio.h> decides */
#define CUSHIM_PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define CUSHIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CUSHIM_PRINTF(text, first)
#endif

/* NULL for want of memory. */
char *cushim_text_copy(const char *text);
CUSHIM_PRINTF(1, 2) char *cushim_text_format(const char *format, ...);

/* Control characters become '?': words of a damaged library may end up in a terminal. */
void cushim_text_make_printable(char *text);

/* Bytes of a structure up to the last member that the first release had: its least size. */
#define CUSHIM_LEAST(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/*
 * Copy a structure that begins with its size, as the caller knows it. What the caller's is too
 * short for stays as it is in `to`.
 *
 * @param least  bytes that every caller has
 * @param size   of `to`
 * @return NULL, or what is wrong with the structure: it is smaller than `least`, or larger than
 *         `size` with something in the part that is not known here
 */
const char *cushim_text_read_sized(const void *given, size_t least, void *to, size_t size);

/* The other way: fill the caller's structure, no further than its own size, which stays. */
void cushim_text_write_sized(void *given, const void *from, size_t size);

#endif
