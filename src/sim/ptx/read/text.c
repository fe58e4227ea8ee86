/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"

/* A message that finds no memory is dropped: its caller still returns its status. */
void ptx_text_add(struct ptx_text *text, const char *format, ...)
{
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int needed = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (needed >= 0) {
        size_t room = text->length + (size_t)needed + 1;
        if (room > text->capacity) {
            size_t capacity = room < 128 ? 256 : room * 2;
            char *data = realloc(text->data, capacity);
            if (!data) {
                va_end(again);
                return;
            }
            text->data = data;
            text->capacity = capacity;
        }
        vsnprintf(text->data + text->length, (size_t)needed + 1, format, again);
        text->length += (size_t)needed;
    }
    va_end(again);
}

void ptx_text_free(struct ptx_text *text)
{
    free(text->data);
    *text = (struct ptx_text){0};
}
