/* SPDX-License-Identifier: MIT */
#include "put.h"

#include <stdarg.h>
#include <stdio.h>

void put(char **at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *at += vsprintf(*at, format, arguments);
    va_end(arguments);
}

void put_list(char **at, char name, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put(at, "%s%%%c%u", i ? ", " : "{", name, i);
    put(at, "}");
}
