/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_STDLIB_H
#define STUB_STDLIB_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *block, size_t bytes);
void free(void *block);
char *getenv(const char *name);
int atoi(const char *text);
long strtol(const char *text, char **end, int base);
void abort(void);
void exit(int code);
#ifdef __cplusplus
}
#endif
#endif
