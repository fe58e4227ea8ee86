/* SPDX-License-Identifier: MIT */
/* What built-in functions get and give, and those that print: vprintf and assertions. */
#include "ptx/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_MESSAGE 8192
#define MAX_STRING 4096

/* A string of the device's; false after a fault. */
static bool fetch_string(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                         uint64_t address, char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        const char *from =
            memory_resolve(warp, step, lane, PTX_SPACE_GENERIC, address + i, 1, false);

        if (!from)
            return false;
        text[i] = *from;
        if (text[i] == '\0')
            return true;
    }
    text[size - 1] = '\0';
    return true;
}

struct message {
    struct ptx_warp *warp;
    const struct ptx_step *step;
    unsigned lane;
    uint64_t values; /* the buffer of arguments */
    uint64_t offset;
    size_t length;
    bool failed;
    char text[MAX_MESSAGE];
};

/* The next argument: 4 or 8 bytes, aligned to its size. */
static uint64_t next_value(struct message *message, unsigned size)
{
    uint64_t bits = 0;

    message->offset = (message->offset + size - 1) & ~(uint64_t)(size - 1);
    const char *from =
        memory_resolve(message->warp, message->step, message->lane, PTX_SPACE_GENERIC,
                       message->values + message->offset, size, false);
    message->offset += size;
    if (!from)
        message->failed = true;
    else
        memcpy(&bits, from, size);
    return bits;
}

static void append(struct message *message, const char *text, size_t length)
{
    size_t room = sizeof message->text - 1 - message->length;

    length = length < room ? length : room;
    memcpy(message->text + message->length, text, length);
    message->length += length;
}

struct conversion {
    char flags[8];
    int width, precision; /* negative: to the left; not given */
    unsigned size;        /* bytes of an integer */
    char letter;
    const char *start; /* of the whole, from the % on */
    size_t length;
};

static int read_number(struct message *message, const char **at)
{
    int value = 0;

    if (**at == '*') {
        (*at)++;
        return (int)(uint32_t)next_value(message, 4);
    }
    while (**at >= '0' && **at <= '9') {
        if (value < MAX_STRING)
            value = value * 10 + (**at - '0');
        (*at)++;
    }
    return value;
}

/* What follows a %; *at is left behind it. */
static struct conversion read_conversion(struct message *message, const char **at)
{
    struct conversion conversion = {.precision = -1, .size = 4, .start = *at - 1};
    size_t flags = 0;

    while (**at && strchr("-+ #0", **at)) {
        if (flags < 5)
            conversion.flags[flags++] = **at;
        (*at)++;
    }
    if (**at == '*' || (**at >= '0' && **at <= '9'))
        conversion.width = read_number(message, at);
    if (**at == '.') {
        (*at)++;
        conversion.precision = **at == '*' ? 0 : read_number(message, at);
    }
    conversion.width = conversion.width > MAX_STRING    ? MAX_STRING
                       : conversion.width < -MAX_STRING ? -MAX_STRING
                                                        : conversion.width;
    conversion.precision = conversion.precision > MAX_STRING ? MAX_STRING : conversion.precision;
    for (; **at && strchr("hljztL", **at); (*at)++)
        if (**at != 'h' && **at != 'L')
            conversion.size = 8;
    conversion.letter = **at;
    if (**at)
        (*at)++;
    conversion.length = (size_t)(*at - conversion.start);
    return conversion;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void convert(struct message *message, const struct conversion *conversion)
{
    char format[48], text[MAX_STRING];
    uint64_t bits;
    double number;
    int length;

    switch (conversion->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        bits = next_value(message, conversion->size);
        if (conversion->size == 4 && (conversion->letter == 'd' || conversion->letter == 'i'))
            bits = (uint64_t)(int64_t)(int32_t)(uint32_t)bits;
        sprintf(format, "%%%s*.*ll%c", conversion->flags, conversion->letter);
        length = snprintf(text, sizeof text, format, conversion->width, conversion->precision,
                          (unsigned long long)bits);
        break;
    case 'c':
        sprintf(format, "%%%s*c", conversion->flags);
        length =
            snprintf(text, sizeof text, format, conversion->width, (int)next_value(message, 4));
        break;
    case 'p':
        bits = next_value(message, 8);
        length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)bits);
        break;
    case 's': {
        char string[MAX_STRING];

        bits = next_value(message, 8);
        if (bits == 0)
            strcpy(string, "(null)");
        else if (!fetch_string(message->warp, message->step, message->lane, bits, string,
                               sizeof string))
            message->failed = true;
        if (message->failed)
            return;
        sprintf(format, "%%%s*.*s", conversion->flags);
        length =
            snprintf(text, sizeof text, format, conversion->width, conversion->precision, string);
        break;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        bits = next_value(message, 8);
        memcpy(&number, &bits, sizeof number);
        sprintf(format, "%%%s*.*%c", conversion->flags, conversion->letter);
        length =
            snprintf(text, sizeof text, format, conversion->width, conversion->precision, number);
        break;
    default: /* none that the device knows; .* is none: as it stands */
        append(message, conversion->start, conversion->length);
        return;
    }
    if (length > 0)
        append(message, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}
#pragma GCC diagnostic pop

static bool print_lane(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                       struct message *message)
{
    const struct ptx_world *world = fault_world(warp);
    char format[MAX_STRING];
    const char *at = format;
    int arguments = 0;

    if (!fetch_string(warp, step, lane, builtin_value_argument(warp, step, 0, lane), format,
                      sizeof format))
        return false;
    message->warp = warp;
    message->step = step;
    message->lane = lane;
    message->values = builtin_value_argument(warp, step, 1, lane);
    message->offset = message->length = 0;
    message->failed = false;
    while (*at && !message->failed) {
        size_t plain = strcspn(at, "%");

        append(message, at, plain);
        at += plain;
        if (*at == '%' && at[1] == '%') {
            append(message, "%", 1);
            at += 2;
        } else if (*at == '%') {
            at++;
            struct conversion conversion = read_conversion(message, &at);
            if (!message->failed)
                convert(message, &conversion);
            arguments++;
        }
    }
    if (message->failed)
        return false;
    if (world->print)
        world->print(world->user, message->text, message->length);
    builtin_value_result(warp, step, lane, (uint64_t)(uint32_t)arguments);
    return true;
}

/* vprintf(format, arguments): the number of arguments, as on the device. */
void printf_run(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    struct message *message = malloc(sizeof *message);

    if (!message) {
        fault_warp(warp, step, (unsigned)__builtin_ctz(mask), PTX_FAULT_NO_MEMORY, 0,
                   "the host has no memory for the message");
        return;
    }
    FOR_LANES (lane, mask)
        if (!print_lane(warp, step, lane, message))
            break;
    free(message);
}

/* __assertfail(message, file, line, function, size of a character) */
void printf_assertfail(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ptx_world *world = fault_world(warp);
    void (*print)(void *, const char *, size_t) =
        world->print_error ? world->print_error : world->print;
    const uint32_t *block = warp->block->index;
    char text[512], file[512], function[512], message[2048];

    FOR_LANES (lane, mask) {
        const uint32_t *tids = warp->block->launch->tids + warp->index * 3 * PTX_LANES + lane;
        int length;

        if (!fetch_string(warp, step, lane, builtin_value_argument(warp, step, 0, lane), text,
                          sizeof text) ||
            !fetch_string(warp, step, lane, builtin_value_argument(warp, step, 1, lane), file,
                          sizeof file) ||
            !fetch_string(warp, step, lane, builtin_value_argument(warp, step, 3, lane), function,
                          sizeof function))
            return;
        length =
            snprintf(message, sizeof message,
                     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` "
                     "failed.\n",
                     file, (unsigned)builtin_value_argument(warp, step, 2, lane), function,
                     (unsigned)block[0], (unsigned)block[1], (unsigned)block[2], (unsigned)tids[0],
                     (unsigned)tids[PTX_LANES], (unsigned)tids[2 * PTX_LANES], text);
        if (print && length > 0)
            print(world->user, message,
                  (size_t)length < sizeof message ? (size_t)length : sizeof message - 1);
    }
    fault_warp(warp, step, (unsigned)__builtin_ctz(mask), PTX_FAULT_ASSERT, 0,
               "an assertion failed");
}
