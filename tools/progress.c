/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30 };
#define PATIENCE 0.2 /* seconds without a bar */

static const char *name;
static double begin;
static bool shown;
static unsigned shown_filled, shown_percent;

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A terminal that can go back to the beginning of a line. */
bool progress_has_bar(void)
{
    const char *terminal = secure_getenv("TERM");

    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static bool has_colour(void)
{
    const char *no_color = secure_getenv("NO_COLOR");

    return !no_color || no_color[0] == '\0';
}

void progress_begin(const char *what)
{
    name = what;
    begin = seconds_now();
    shown = false;
}

void progress_set(void *user, unsigned done, unsigned of)
{
    unsigned filled = of == 0 ? 0 : WIDTH * done / of, percent = of == 0 ? 0 : 100 * done / of;
    char bar[WIDTH + 1];

    (void)user;
    if (!progress_has_bar() || (!shown && seconds_now() - begin < PATIENCE))
        return;
    if (shown && filled == shown_filled && percent == shown_percent)
        return;
    shown = true;
    shown_filled = filled;
    shown_percent = percent;
    memset(bar, '.', WIDTH);
    memset(bar, '#', filled < WIDTH ? filled : WIDTH);
    bar[WIDTH] = '\0';
    fflush(stdout);
    fprintf(stderr, "\r%s [%s%s%s] %3u %%", name, has_colour() ? "\033[32m" : "", bar,
            has_colour() ? "\033[0m" : "", percent);
    fflush(stderr);
}

void progress_end(void)
{
    if (shown)
        fprintf(stderr, "\r%*s\r", (int)strlen(name) + WIDTH + 10, "");
    shown = false;
}
