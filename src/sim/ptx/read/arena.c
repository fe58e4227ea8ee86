/* SPDX-License-Identifier: MIT */
/* Memory that lives and dies together: blocks in a list, the newest first. */
#include "ptx/read/read.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Small modules stay small: each block is twice as large as the one before. */
enum { FIRST_BYTES = 2 * 1024, BLOCK_BYTES = 64 * 1024, LARGE_BYTES = 16 * 1024 };

struct block {
    struct block *next;
    alignas(max_align_t) char data[];
};

struct ir_arena {
    struct block *blocks;
    size_t used; /* of the first block */
    size_t size;
};

struct ir_arena *arena_create(void)
{
    return calloc(1, sizeof(struct ir_arena));
}

void arena_destroy(struct ir_arena *arena)
{
    if (!arena)
        return;
    for (struct block *block = arena->blocks; block;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

static void *alloc_large(struct ir_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(struct block))
        return NULL;
    struct block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    /* Behind the first block, which still has room. */
    if (!arena->blocks) {
        arena->blocks = block;
    } else {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    }
    return block->data;
}

void *arena_alloc(struct ir_arena *arena, size_t size)
{
    size_t align = alignof(max_align_t);
    if (size > LARGE_BYTES)
        return alloc_large(arena, size);
    size = size == 0 ? align : (size + align - 1) / align * align;
    if (arena->size - arena->used < size) {
        size_t bytes = arena->size ? arena->size * 2 : FIRST_BYTES;
        bytes = bytes < size ? LARGE_BYTES : bytes < BLOCK_BYTES ? bytes : BLOCK_BYTES;
        struct block *block = calloc(1, sizeof *block + bytes);
        if (!block)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
        arena->size = bytes;
    }
    void *result = arena->blocks->data + arena->used;
    arena->used += size;
    return result;
}

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
