/* SPDX-License-Identifier: MIT */
/* Before each source of the command: functions that Windows lacks, and files by names in UTF-8. */
#ifndef CUSHIM_TOOLS_WINDOWS_POSIX_H
#define CUSHIM_TOOLS_WINDOWS_POSIX_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <wchar.h>

#define secure_getenv getenv /* no program has rights that its caller lacks */
#define fopen windows_open

ssize_t getline(char **line, size_t *room, FILE *file);
char *strcasestr(const char *in, const char *text);
void *memmem(const void *in, size_t in_size, const void *bytes, size_t size);
FILE *windows_open(const char *path, const char *mode);
wchar_t *windows_wide(const char *text);   /* the caller frees it; NULL: no UTF-8 */
char *windows_narrow(const wchar_t *text); /* likewise */
void windows_begin(int *argc, char ***argv);

#endif
