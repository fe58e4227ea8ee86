/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_STRING_H
#define STUB_STRING_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
void *memchr(const void *in, int byte, size_t bytes);
size_t strlen(const char *text);
char *strcpy(char *to, const char *from);
char *strcat(char *to, const char *from);
int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t most);
char *strchr(const char *text, int character);
char *strrchr(const char *text, int character);
char *strstr(const char *text, const char *part);
char *strpbrk(const char *text, const char *set);
size_t strspn(const char *text, const char *set);
size_t strcspn(const char *text, const char *set);
int strerror_s(char *text, size_t size, int error);
#ifdef __cplusplus
}
#endif
#endif
