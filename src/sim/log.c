/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error_names.h"

/* Above what programs count on, or close all of. */
#define FILE_FROM 200
#define TEXT_LIMIT 80

static int file = -1; /* every line is one write: other processes may append to it too */
static bool on_stderr;
static bool quiet; /* reports go to the log alone */
static uint64_t first_ns;

struct line {
    char text[4096];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->text - 1 - line->used; /* the newline */
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line->text + line->used, room, format, list);
    va_end(list);
    if (length > 0)
        line->used += (size_t)length < room ? (size_t)length : room - 1;
}

static bool write_all(int to, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(to, text, size);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* A log that cannot be written any more ends, which is said once. */
static void write_log(const struct line *line)
{
    char end[160];
    if (file < 0 || write_all(file, line->text, line->used))
        return;
    int length = snprintf(end, sizeof end, "cushim: simulated driver: the log ends here: %s\n",
                          strerror(errno));
    file = -1; /* not closed: another thread may be about to write to it */
    (void)write_all(STDERR_FILENO, end, (size_t)length);
}

static const char *name_of(CUresult code)
{
    for (size_t i = 0; i < cushim_error_count; i++)
        if (cushim_errors[i].code == (int)code)
            return cushim_error_strings + cushim_errors[i].name;
    return "?";
}

/* Its beginning, with nothing in it that ends a line or a string. */
static void put_string(struct line *line, const char *string)
{
    if (!string) {
        put(line, "NULL");
        return;
    }
    put(line, "\"");
    size_t i = 0;
    for (; i < TEXT_LIMIT && string[i]; i++) {
        unsigned char byte = (unsigned char)string[i];
        if (byte < ' ' || byte == 0x7f)
            put(line, "\\x%02x", byte);
        else
            put(line, byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
    }
    put(line, i == TEXT_LIMIT ? "\"..." : "\"");
}

static void put_integer(struct line *line, char kind, size_t size, uint64_t bits)
{
    if (kind == 'i')
        put(line, "%" PRId64, size == sizeof(int) ? (int64_t)(int)bits : (int64_t)bits);
    else if (kind == 'u')
        put(line, "%" PRIu64, bits);
    else if (bits)
        put(line, "0x%" PRIx64, bits);
    else
        put(line, "NULL");
}

/* One value at an address, by its kind. */
static void put_value(struct line *line, char kind, size_t size, const void *at)
{
    uint64_t bits = 0;
    const char *string;
    float real;
    if (kind == 't') {
        put_string(line, at);
    } else if (kind == 's') {
        memcpy(&string, at, sizeof string);
        put_string(line, string);
    } else if (kind == 'f') {
        memcpy(&real, at, sizeof real);
        put(line, "%g", (double)real);
    } else if (kind == 'b' || size > sizeof bits) {
        put(line, "{%zu bytes}", size);
    } else {
        memcpy(&bits, at, size);
        put_integer(line, kind, size, bits);
    }
}

static void put_argument(struct line *line, const struct sim_parameter *parameter,
                         const void *argument, bool succeeded)
{
    void *target;
    put(line, "%s=", parameter->name);
    put_value(line, parameter->kind, parameter->size, argument);
    if (parameter->output == '-' || !succeeded)
        return;
    memcpy(&target, argument, sizeof target);
    if (target) {
        put(line, "->");
        put_value(line, parameter->output, parameter->output_size, target);
    }
}

static void log_call(const struct sim_call *call)
{
    struct line line = {.used = 0};
    const struct sim_entry *entry = call->entry;
    uint64_t now = sim_now_ns();
    put(&line, "%" PRIu64 " %.6f s %ld/%ld %s(", call->number,
        (double)(call->start_ns - first_ns) / 1e9, (long)getpid(), (long)syscall(SYS_gettid),
        entry->symbol);
    for (unsigned i = 0; i < entry->parameter_count; i++) {
        if (i)
            put(&line, ", ");
        put_argument(&line, &entry->parameters[i], call->arguments[i],
                     call->result == CUDA_SUCCESS);
    }
    put(&line, ") = %d %s, %.1f us", (int)call->result, name_of(call->result),
        (double)(now - call->start_ns) / 1e3);
    line.text[line.used++] = '\n';
    write_log(&line);
}

void sim_log_call(const struct sim_call *call)
{
    if (file >= 0)
        log_call(call);
}

void sim_log_quiet(void)
{
    quiet = true;
}

void sim_log_report(const char *text)
{
    if (!quiet) {
        sim_log_say(text);
    } else if (file >= 0) {
        struct line line = {.used = 0};
        put(&line, "%s", text);
        line.text[line.used++] = '\n';
        write_log(&line);
    }
}

void sim_log_say(const char *text)
{
    struct line line = {.used = 0};
    put(&line, "%s", text);
    line.text[line.used++] = '\n';
    if (!on_stderr)
        write_log(&line);
    (void)write_all(STDERR_FILENO, line.text, line.used);
}

bool sim_log_open(const char *path)
{
    first_ns = sim_now_ns();
    if (!path || !*path)
        return true;
    on_stderr = strcmp(path, "-") == 0;
    int opened =
        on_stderr ? STDERR_FILENO : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0)
        return false;
    file = fcntl(opened, F_DUPFD_CLOEXEC, FILE_FROM);
    if (file < 0)
        file = on_stderr ? fcntl(opened, F_DUPFD_CLOEXEC, 0) : opened;
    else if (!on_stderr)
        close(opened);
    return file >= 0;
}
