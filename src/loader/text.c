/* SPDX-License-Identifier: MIT */
#include "loader/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not by a format: a load that succeeds needs none, and the first of a process is slow. */
char *cushim_text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *cushim_text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1; /* 0 if it fails */
    va_end(arguments);
    char *text = size ? malloc(size) : NULL;
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return text;
}

void cushim_text_make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

const char *cushim_text_read_sized(const void *given, size_t least, void *to, size_t size)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < least)
        return "size is too small; set it to sizeof of the structure";
    for (size_t i = size; i < theirs; i++)
        if (((const char *)given)[i])
            return "size is of a newer release, and a member that this release lacks is set";
    memcpy(to, given, theirs < size ? theirs : size);
    return NULL;
}

void cushim_text_write_sized(void *given, const void *from, size_t size)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    memcpy(given, from, theirs < size ? theirs : size);
    memcpy(given, &theirs, sizeof theirs);
}
