/* SPDX-License-Identifier: MIT */
/* What is said to the user: lines on standard error and in the log. */
#include "core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

/* Above what programs count on, or close all of. */
#define FILE_FROM 200

static int file = -1; /* every line is one write: other processes may append to it too */
static bool on_stderr;
bool sim_report_quiet;
uint64_t sim_report_start_ns;

void sim_report_put(struct sim_report_line *line, const char *format, ...)
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
static void write_log(const struct sim_report_line *line)
{
    char end[160];
    if (file < 0 || write_all(file, line->text, line->used))
        return;
    int length = snprintf(end, sizeof end, "cushim: simulated driver: the log ends here: %s\n",
                          strerror(errno));
    file = -1; /* not closed: another thread may be about to write to it */
    (void)write_all(STDERR_FILENO, end, (size_t)length);
}

static void end_line(struct sim_report_line *line)
{
    line->text[line->used++] = '\n';
}

bool sim_report_has_log(void)
{
    return file >= 0;
}

void sim_report_log(struct sim_report_line *line)
{
    end_line(line);
    write_log(line);
}

static void say(const char *text, bool aloud)
{
    struct sim_report_line line = {.used = 0};
    sim_report_put(&line, "%s", text);
    end_line(&line);
    if (!aloud || !on_stderr)
        write_log(&line);
    if (aloud)
        (void)write_all(STDERR_FILENO, line.text, line.used);
}

void sim_report_say(const char *text)
{
    say(text, true);
}

void sim_report_device(int ordinal, const char *sentence)
{
    char line[1024];
    snprintf(line, sizeof line, "cushim: simulated device %d: %s", ordinal, sentence);
    say(line, !sim_report_quiet);
}

bool sim_report_open(const char *path)
{
    sim_report_start_ns = sim_clock_ns();
    if (!path || !*path)
        return true;
    if (file >= 0) /* of a driver before */
        close(file);
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
