/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_STDIO_H
#define STUB_STDIO_H
#include <stdarg.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct stub_file FILE;
FILE *__acrt_iob_func(unsigned index);
#define stdout __acrt_iob_func(1)
#define stderr __acrt_iob_func(2)
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int snprintf(char *text, size_t size, const char *format, ...);
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int sscanf(const char *text, const char *format, ...);
char *fgets(char *text, int size, FILE *file);
int fputs(const char *text, FILE *file);
int fputc(int character, FILE *file);
int fflush(FILE *file);
FILE *_wfopen(const wchar_t *path, const wchar_t *mode);
FILE *fopen(const char *path, const char *mode);
size_t fread(void *to, size_t size, size_t count, FILE *file);
size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
int ferror(FILE *file);
int fclose(FILE *file);
#ifdef __cplusplus
}
#endif
#endif
