/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What goes to stdout: colours, tables and JSON. Write errors show at exit, in main.c; want of
 * memory ends the program with COMMAND_SYSTEM.
 */
#ifndef CUSHIM_TOOLS_OUTPUT_H
#define CUSHIM_TOOLS_OUTPUT_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum output_style {
    OUTPUT_PLAIN = 0,
    OUTPUT_TITLE,
    OUTPUT_GOOD,
    OUTPUT_WARNING,
    OUTPUT_BAD,
    OUTPUT_DIM
};

/** Say that memory ran out and exit. */
_Noreturn void output_no_memory(void);

/** "s" behind a noun, unless there is one of it. */
const char *output_plural(size_t count);

/**
 * Print text in a style: a terminal shows it in colour, anything else gets the text alone.
 * Control characters in it become '?'.
 */
void output_text(enum output_style style, const char *text);

/** Print text and a newline behind `start` columns: it goes on below itself in lines of `width`. */
void output_text_folded(enum output_style style, const char *text, size_t start, size_t width);

/** Print "  NAME      TEXT" and a newline, as one line of a report. */
void output_field(const char *name, enum output_style style, const char *text);

/** The same for a sentence, which goes on below itself in lines of this width. */
void output_field_folded(const char *name, enum output_style style, const char *text, size_t width);

/** Text with aligned columns. All zero with `columns` set is an empty one. */
struct output_table {
    size_t columns;
    size_t
        fold; /* columns behind the second are one text, in lines of this width; 0: they are not */
    size_t cells; /* in use; row after row */
    size_t room;
    struct output_cell *cell;
};

/** Add the next cell of the current row; the text is copied. */
void output_table_add(struct output_table *table, enum output_style style, const char *text);

/** Print all rows, each behind `indent`, and release the table. */
void output_table_print(struct output_table *table, const char *indent);

/** Print a sentence and a newline, in lines of this width. */
void output_folded(const char *text, size_t width);

/** A JSON string; null for NULL. Bytes that are no UTF-8 become '?'. */
json_t *output_json_text(const char *text);

/** Set a member of an object; takes over `value`, which may be NULL where memory ran out. */
void output_json_set(json_t *object, const char *key, json_t *value);

/** Append to an array, likewise. */
void output_json_append(json_t *array, json_t *value);

/** Print the value and a newline, and release it. */
void output_json_print(json_t *value);

/** Text of XML: what is no character of it becomes '?'. */
void output_xml(FILE *file, const char *text);

/** A value of a workflow command of GitHub; in a property ':' and ',' are not themselves. */
void output_command(FILE *file, const char *text, bool property);

/** A cell of a Markdown table, with the separator behind it. */
void output_markdown(FILE *file, const char *text);

#endif
