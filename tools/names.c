/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdio.h>

const struct remark_words remark_words[] = {
    {CUSHIM_REMARK_NEWER_THAN_REGISTRY, "newer-than-registry",
     "The driver is newer than this cushim: it may have entries that are not listed."},
    {CUSHIM_REMARK_INTERPOSED, "interposed",
     "Another library answers for some entries: a tool that traces or shares the GPU, or a "
     "wrapper."},
    {CUSHIM_REMARK_NO_PER_THREAD_STREAM, "no-per-thread-stream",
     "The driver lacks the per-thread default stream; the legacy one is used."},
    {0, NULL, NULL},
};

const char *version_text(char text[VERSION_TEXT_SIZE], int version)
{
    snprintf(text, VERSION_TEXT_SIZE, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}

/* Up to two digits at *text, which moves behind them; -1 without any. */
static int parse_number(const char **text)
{
    int value = -1;

    for (int digits = 0; digits < 2 && **text >= '0' && **text <= '9'; digits++, (*text)++)
        value = (value < 0 ? 0 : value * 10) + (**text - '0');
    return value;
}

int version_parse(const char *text)
{
    int minor = 0;
    int major = parse_number(&text);

    if (major <= 0)
        return 0;
    if (*text == '.') {
        text++;
        minor = parse_number(&text);
    }
    if (minor < 0 || *text != '\0')
        return 0;
    return major * 1000 + minor * 10;
}

const char *source_name(enum cushim_source source)
{
    switch (source) {
    case CUSHIM_SOURCE_OPTION:
        return "option";
    case CUSHIM_SOURCE_ENVIRONMENT:
        return "environment";
    case CUSHIM_SOURCE_RESOLVER:
        return "resolver";
    case CUSHIM_SOURCE_COMPAT:
        return "compat";
    case CUSHIM_SOURCE_SYSTEM:
        return "system";
    case CUSHIM_SOURCE_LIST:
        return "list";
    default:
        return "unknown";
    }
}

const char *source_reason(enum cushim_source source)
{
    switch (source) {
    case CUSHIM_SOURCE_OPTION:
        return "named by --driver";
    case CUSHIM_SOURCE_ENVIRONMENT:
        return "named by the environment variable CUSHIM_LIBCUDA";
    case CUSHIM_SOURCE_RESOLVER:
        return "a resolver function of the program";
    case CUSHIM_SOURCE_COMPAT:
        return "in the toolkit's compat folder";
    case CUSHIM_SOURCE_SYSTEM:
        return "found by the system's own library search, or loaded already";
    case CUSHIM_SOURCE_LIST:
        return "found in cushim's list of driver folders";
    default:
        return "unknown";
    }
}

const char *state_name(enum cushim_state state)
{
    switch (state) {
    case CUSHIM_STATE_AVAILABLE:
        return "available";
    case CUSHIM_STATE_NO_DRIVER:
        return "no-driver";
    case CUSHIM_STATE_NEWER:
        return "newer";
    case CUSHIM_STATE_ABSENT:
        return "absent";
    case CUSHIM_STATE_PLATFORM:
        return "platform";
    default:
        return "unknown";
    }
}

const char *stream_name(enum cushim_stream stream)
{
    switch (stream) {
    case CUSHIM_STREAM_LEGACY:
        return "legacy";
    case CUSHIM_STREAM_PTSZ:
        return "ptsz";
    case CUSHIM_STREAM_PTDS:
        return "ptds";
    default:
        return "unknown";
    }
}

const char *via_name(enum cushim_via via)
{
    switch (via) {
    case CUSHIM_VIA_PROC:
        return "proc";
    case CUSHIM_VIA_DLSYM:
        return "dlsym";
    default:
        return "none";
    }
}
