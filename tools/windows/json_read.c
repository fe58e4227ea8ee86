/* SPDX-License-Identifier: MIT */
/* Values of JSON from a file. */
#include <jansson.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 200 };

struct json_reader {
    const char *at, *begin;
    const char *problem;
};

static json_t *json_read(struct json_reader *reader, int depth);

static void json_blanks(struct json_reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static bool json_accept(struct json_reader *reader, char character)
{
    json_blanks(reader);
    if (*reader->at != character)
        return false;
    reader->at++;
    return true;
}

static json_t *json_refuse(struct json_reader *reader, json_t *value, const char *problem)
{
    if (!reader->problem)
        reader->problem = problem;
    json_decref(value);
    return NULL;
}

static size_t json_utf8(unsigned long code, char *to)
{
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};

    to[0] = (char)(first[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* Four hexadecimal digits; ULONG_MAX, which is no character, for anything else. */
static unsigned long json_hex(const char *at)
{
    char digits[5] = "", *end;
    unsigned long code;

    if (strspn(at, "0123456789abcdefABCDEF") < 4)
        return (unsigned long)-1;
    memcpy(digits, at, 4);
    code = strtoul(digits, &end, 16);
    return code;
}

/* The text of a string behind its first quote, or NULL. The caller frees it. */
static char *json_read_text(struct json_reader *reader)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *text = malloc(strlen(reader->at) + 1), *to = text;

    while (text && *reader->at != '"') {
        const char *found;
        if ((unsigned char)*reader->at < ' ')
            break;
        if (*reader->at != '\\') {
            *to++ = *reader->at++;
            continue;
        }
        found = reader->at[1] != '\0' ? strchr(letters, reader->at[1]) : NULL;
        if (found) {
            *to++ = meant[found - letters];
            reader->at += 2;
            continue;
        }
        unsigned long code = reader->at[1] == 'u' ? json_hex(reader->at + 2) : (unsigned long)-1;
        if (code >= 0xd800 && code < 0xdc00 && reader->at[6] == '\\' && reader->at[7] == 'u') {
            unsigned long low = json_hex(reader->at + 8);
            code = low >= 0xdc00 && low < 0xe000
                       ? 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00))
                       : (unsigned long)-1;
            reader->at += 6;
        }
        if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            break;
        to += json_utf8(code, to);
        reader->at += 6;
    }
    if (!text || *reader->at != '"') {
        free(text);
        json_refuse(reader, NULL, "a string that does not end, or has a wrong character");
        return NULL;
    }
    reader->at++;
    *to = '\0';
    return text;
}

static json_t *json_read_members(struct json_reader *reader, json_t *value, int depth)
{
    const bool object = json_is_object(value);
    const char close = object ? '}' : ']';

    if (!value || json_accept(reader, close))
        return value;
    do {
        char *key = NULL;
        json_t *item;
        if (object) {
            if (!json_accept(reader, '"') || !(key = json_read_text(reader)) ||
                !json_accept(reader, ':')) {
                free(key);
                return json_refuse(reader, value, "a name and ':' expected");
            }
        }
        item = json_read(reader, depth + 1);
        if (!item || (key ? json_object_set_new(value, key, item)
                          : json_array_append_new(value, item)) != 0) {
            free(key);
            return json_refuse(reader, value, "memory ran out");
        }
        free(key);
    } while (json_accept(reader, ','));
    return json_accept(reader, close) ? value
                                      : json_refuse(reader, value, "',' or an end expected");
}

static json_t *json_read(struct json_reader *reader, int depth)
{
    static const char *const words[] = {"null", "false", "true"};
    char *end, *text;
    json_t *value;

    if (depth > DEEPEST)
        return json_refuse(reader, NULL, "too deep");
    if (json_accept(reader, '{'))
        return json_read_members(reader, json_object(), depth);
    if (json_accept(reader, '['))
        return json_read_members(reader, json_array(), depth);
    if (json_accept(reader, '"')) {
        text = json_read_text(reader);
        value = text ? json_string(text) : NULL;
        free(text);
        return value ? value : json_refuse(reader, NULL, "a string that is no UTF-8");
    }
    for (int i = 0; i < 3; i++) {
        if (strncmp(reader->at, words[i], strlen(words[i])) == 0) {
            reader->at += strlen(words[i]);
            return i == 0 ? json_null() : json_boolean(i == 2);
        }
    }
    json_int_t number = strtoll(reader->at, &end, 10);
    if (end == reader->at)
        return json_refuse(reader, NULL, "a value expected");
    if (*end != '\0' && strchr(".eE", *end)) /* the command reads no fractions: it skips them */
        strtod(reader->at, &end);
    reader->at = end;
    return json_integer(number);
}

/* All that is left in a file; the caller frees it. */
static char *json_file(FILE *file)
{
    size_t size = 0, room = 1 << 16, got = 0;
    char *text = malloc(room + 1);

    while (text && (got = fread(text + size, 1, room - size, file)) > 0) {
        char *more;
        size += got;
        if (size < room)
            continue;
        more = realloc(text, 2 * room + 1);
        if (!more)
            break;
        text = more;
        room *= 2;
    }
    if (text)
        text[size] = '\0';
    return text;
}

static json_t *json_text(const char *text, size_t flags, json_error_t *error)
{
    struct json_reader reader = {text, text, NULL};
    json_t *value;

    *error = (json_error_t){0};
    value = text ? json_read(&reader, 0) : json_refuse(&reader, NULL, "memory ran out");
    if (value)
        json_blanks(&reader);
    if (value && *reader.at != '\0' && !(flags & JSON_DISABLE_EOF_CHECK))
        value = json_refuse(&reader, value, "end of file expected");
    if (value)
        return value;
    error->line = 1;
    for (const char *at = reader.begin; at < reader.at; at++)
        error->line += *at == '\n';
    snprintf(error->text, sizeof error->text, "%s", reader.problem ? reader.problem : "");
    return NULL;
}

json_t *json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error)
{
    char *text = calloc(1, size + 1);
    json_t *value;

    if (text)
        memcpy(text, bytes, size);
    value = json_text(text, flags, error);
    free(text);
    return value;
}

json_t *json_loadf(FILE *file, size_t flags, json_error_t *error)
{
    char *text = json_file(file);
    json_t *value = json_text(text, flags, error);

    free(text);
    return value;
}

json_t *json_load_file(const char *path, size_t flags, json_error_t *error)
{
    FILE *file = fopen(path, "rb");
    json_t *value;

    *error = (json_error_t){0};
    if (!file) {
        snprintf(error->text, sizeof error->text, "unable to open %s: %s", path, strerror(errno));
        error->line = -1;
        return NULL;
    }
    value = json_loadf(file, flags, error);
    fclose(file);
    return value;
}
