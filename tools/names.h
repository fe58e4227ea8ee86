/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Words for the library's constants, the same in text and in JSON.
 */
#ifndef CUSHIM_TOOLS_NAMES_H
#define CUSHIM_TOOLS_NAMES_H

#include <cushim/cushim.h>

#define NAMES_QUOTE(text) #text
#define NAMES_VALUE(text) NAMES_QUOTE(text)

/* The library's version, such as "0.1.0". */
#define CUSHIM_VERSION_TEXT                                                                        \
    NAMES_VALUE(CUSHIM_VERSION_MAJOR)                                                              \
    "." NAMES_VALUE(CUSHIM_VERSION_MINOR) "." NAMES_VALUE(CUSHIM_VERSION_PATCH)

enum { VERSION_TEXT_SIZE = 24 };

/** Write a CUDA version as people do: 12040 is "12.4". Returns `text`. */
const char *version_text(char text[VERSION_TEXT_SIZE], int version);

/** Read it: "12.4" is 12040, "13" is 13000; 0 for anything else. */
int version_parse(const char *text);

const char *source_name(enum cushim_source source);   /* "system" */
const char *source_reason(enum cushim_source source); /* why this library; ends a sentence */
const char *state_name(enum cushim_state state);      /* "available" */
const char *stream_name(enum cushim_stream stream);   /* "legacy" */
const char *via_name(enum cushim_via via);            /* "proc" */

struct remark_words {
    enum cushim_remark remark;
    const char *name;
    const char *sentence;
};

/** All remarks there are; the last element has no name. */
extern const struct remark_words remark_words[];

#endif
