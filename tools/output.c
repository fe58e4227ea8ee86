/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_WIDTH = 14, COLUMN_GAP = 2, LEAST_WIDTH = 6, INDENT = 8 };

struct output_cell {
    enum output_style style;
    char *text;
};

void output_no_memory(void)
{
    fputs("cushim: memory ran out\n", stderr);
    exit(COMMAND_SYSTEM);
}

/* As no-color.org has it: set and not empty means none. */
static bool has_colours(void)
{
    static enum { UNKNOWN, NO, YES } answer = UNKNOWN;

    if (answer == UNKNOWN) {
        const char *no_color = secure_getenv("NO_COLOR");
        const char *terminal = secure_getenv("TERM");
        bool refused =
            (no_color && no_color[0] != '\0') || (terminal && strcmp(terminal, "dumb") == 0);
        answer = !refused && isatty(STDOUT_FILENO) ? YES : NO;
    }
    return answer == YES;
}

static const char *style_begin(enum output_style style)
{
    static const char *const codes[] = {
        [OUTPUT_PLAIN] = "",           [OUTPUT_TITLE] = "\033[1m", [OUTPUT_GOOD] = "\033[32m",
        [OUTPUT_WARNING] = "\033[33m", [OUTPUT_BAD] = "\033[31m",  [OUTPUT_DIM] = "\033[2m",
    };
    return codes[style];
}

const char *output_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void put_styled(enum output_style style, const char *text, size_t length)
{
    bool coloured = style != OUTPUT_PLAIN && has_colours();

    if (coloured)
        fputs(style_begin(style), stdout);
    for (size_t i = 0; i < length; i++)
        putchar((unsigned char)text[i] < ' ' || text[i] == '\177' ? '?' : text[i]);
    if (coloured)
        fputs("\033[0m", stdout);
}

void output_text(enum output_style style, const char *text)
{
    put_styled(style, text, strlen(text));
}

void output_field(const char *name, enum output_style style, const char *text)
{
    printf("  %-*s  ", FIELD_WIDTH, name);
    output_text(style, text);
    putchar('\n');
}

void output_table_add(struct output_table *table, enum output_style style, const char *text)
{
    char *copy = strdup(text);

    if (table->cells == table->room) {
        size_t room = table->room == 0 ? 64 : 2 * table->room;
        struct output_cell *cell = realloc(table->cell, room * sizeof *cell);
        if (!cell)
            output_no_memory();
        table->cell = cell;
        table->room = room;
    }
    if (!copy)
        output_no_memory();
    table->cell[table->cells].style = style;
    table->cell[table->cells].text = copy;
    table->cells++;
}

/* Characters of so many bytes, if they are UTF-8. */
static size_t width_of(const char *text, size_t length)
{
    size_t width = 0;

    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static size_t text_width(const char *text)
{
    return width_of(text, strlen(text));
}

static size_t column_width(const struct output_table *table, size_t column)
{
    size_t width = 0;

    for (size_t i = column; i < table->cells; i += table->columns) {
        size_t length = text_width(table->cell[i].text);
        if (length > width)
            width = length;
    }
    return width;
}

static void print_row(const struct output_table *table, size_t first, const size_t *widths,
                      const char *indent)
{
    size_t gap = 0; /* owed before the next cell that is not empty: no line ends in blanks */

    fputs(indent, stdout);
    for (size_t column = 0; column < table->columns; column++) {
        const struct output_cell *cell = &table->cell[first + column];
        if (cell->text[0] != '\0') {
            printf("%*s", (int)gap, "");
            output_text(cell->style, cell->text);
            gap = 0;
        }
        gap += widths[column] - text_width(cell->text) + COLUMN_GAP;
    }
    putchar('\n');
}

/* Bytes of the word that a text begins with; of "at FILE:LINE (function)", which one can search
 * for, all of it, or without the function where that is wider than `most`. */
static size_t piece(const char *text, size_t most)
{
    size_t word = strcspn(text, " "), place, whole;

    if (strncmp(text, "at ", 3) != 0)
        return word;
    place = 3 + strcspn(text + 3, " ");
    whole = place + strspn(text + place, " ");
    if (!memchr(text + 3, ':', place - 3) && !memchr(text + 3, '+', place - 3))
        return word;
    if (text[whole] != '(')
        return place;
    for (int depth = 0; text[whole] != '\0'; whole++) {
        depth += text[whole] == '(' ? 1 : text[whole] == ')' ? -1 : 0;
        if (depth == 0)
            break;
    }
    whole += strcspn(text + whole, " ");
    return width_of(text, whole) <= most ? whole : place;
}

/* Behind `at` characters of a line, and blanks; a line that is full goes on at `start`. Returns the
 * new `at`. */
static size_t put_folded(enum output_style style, const char *text, size_t start, size_t width,
                         size_t at, size_t gap)
{
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        size_t length = piece(text, width > start ? width - start : 0);
        size_t wide = width_of(text, length);
        if (at > start && at + gap + wide > width) {
            printf("\n%*s", (int)start, "");
            at = start;
            gap = 0;
        }
        printf("%*s", (int)gap, "");
        put_styled(style, text, length);
        at += gap + wide;
        gap = 1;
        text += length;
    }
    return at;
}

void output_text_folded(enum output_style style, const char *text, size_t start, size_t width)
{
    put_folded(style, text, start, width, start, 0);
    putchar('\n');
}

void output_folded(const char *text, size_t width)
{
    put_folded(OUTPUT_PLAIN, text, INDENT, width, 0, 0);
    putchar('\n');
}

void output_field_folded(const char *name, enum output_style style, const char *text, size_t width)
{
    printf("  %-*s  ", FIELD_WIDTH, name);
    output_text_folded(style, text, FIELD_WIDTH + 4, width);
}

/* The widest of a column that is no wider than `most`; the others have lines of their own. */
static size_t fitting_width(const struct output_table *table, size_t most)
{
    size_t width = LEAST_WIDTH;

    for (size_t i = 0; i < table->cells; i += table->columns) {
        size_t length = text_width(table->cell[i].text);
        if (length > width && length <= most)
            width = length;
    }
    return width;
}

static void print_folded(const struct output_table *table, size_t first, const size_t *widths)
{
    const struct output_cell *cell = &table->cell[first];
    size_t second = widths[0] + COLUMN_GAP, start = second + widths[1] + COLUMN_GAP;
    size_t width = text_width(cell[0].text), at = second + text_width(cell[1].text);

    output_text(cell[0].style, cell[0].text);
    if (width > widths[0])
        printf("\n%*s", (int)second, "");
    else
        printf("%*s", (int)(second - width), "");
    output_text(cell[1].style, cell[1].text);
    for (size_t column = 2; column < table->columns; column++)
        at = put_folded(cell[column].style, cell[column].text, start, table->fold, at,
                        at < start ? start - at : COLUMN_GAP);
    putchar('\n');
}

void output_table_print(struct output_table *table, const char *indent)
{
    size_t *widths = calloc(table->columns, sizeof *widths);

    if (!widths)
        output_no_memory();
    for (size_t column = 0; column < table->columns; column++)
        widths[column] = column_width(table, column);
    if (table->fold > 0)
        widths[0] = fitting_width(table, table->fold * 2 / 5 + 2);
    for (size_t i = 0; i + table->columns <= table->cells; i += table->columns) {
        if (table->fold > 0)
            print_folded(table, i, widths);
        else
            print_row(table, i, widths, indent);
    }

    for (size_t i = 0; i < table->cells; i++)
        free(table->cell[i].text);
    free(table->cell);
    free(widths);
    *table = (struct output_table){.columns = table->columns};
}

/* Bytes of the character in UTF-8 that a text begins with; 0: it begins with none. */
static size_t character(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = byte[0] < 0x80                       ? 1
                    : byte[0] >= 0xc2 && byte[0] <= 0xdf ? 2
                    : byte[0] >= 0xe0 && byte[0] <= 0xef ? 3
                    : byte[0] >= 0xf0 && byte[0] <= 0xf4 ? 4
                                                         : 0;

    for (size_t i = 1; i < length; i++) {
        if (byte[i] < 0x80 || byte[i] > 0xbf)
            return 0;
    }
    /* Longer than need be, of a surrogate, or behind the last. */
    bool bad = (byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
               (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f);
    return bad ? 0 : length;
}

json_t *output_json_text(const char *text)
{
    json_t *value;
    char *good;

    if (!text)
        return json_null();
    good = strdup(text);
    if (!good)
        output_no_memory();
    for (char *at = good; *at != '\0';) {
        size_t length = character(at);
        if (length == 0)
            *at = '?';
        at += length > 0 ? length : 1;
    }
    value = json_string(good);
    free(good);
    return value;
}

void output_json_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        output_no_memory();
}

void output_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        output_no_memory();
}

void output_json_print(json_t *value)
{
    /* A failure to write leaves stdout's error flag set. */
    if (json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) != 0 && !ferror(stdout))
        output_no_memory();
    putchar('\n');
    json_decref(value);
}

/* U+FFFE and U+FFFF. */
static bool is_no_xml(const char *text)
{
    return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0;
}

void output_xml(FILE *file, const char *text)
{
    for (size_t length; *text != '\0'; text += length > 0 ? length : 1) {
        unsigned char c = (unsigned char)*text;
        length = character(text);
        if (length > 1 && !is_no_xml(text))
            fwrite(text, 1, length, file);
        else if (c == '&')
            fputs("&amp;", file);
        else if (c == '<')
            fputs("&lt;", file);
        else if (c == '>')
            fputs("&gt;", file);
        else if (c == '"')
            fputs("&quot;", file);
        else
            fputc((c < ' ' && c != '\n' && c != '\t') || c >= 0x7f ? '?' : c, file);
    }
}

void output_markdown(FILE *file, const char *text)
{
    fputs(" ", file);
    for (size_t length; *text != '\0'; text += length > 0 ? length : 1) {
        length = character(text);
        if (*text == '|')
            fputs("\\|", file);
        else if (length > 1)
            fwrite(text, 1, length, file);
        else
            fputc(*text == '\n' ? ' ' : length == 0 ? '?' : *text, file);
    }
    fputs(" |", file);
}

void output_command(FILE *file, const char *text, bool property)
{
    for (; *text != '\0'; text++) {
        if (*text == '%' || *text == '\n' || *text == '\r' ||
            (property && (*text == ':' || *text == ',')))
            fprintf(file, "%%%02X", (unsigned)(unsigned char)*text);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, file);
    }
}
