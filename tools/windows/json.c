/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum json_kind { NOTHING, FALSE_, TRUE_, INTEGER, STRING, ARRAY, OBJECT };
struct json_t {
    enum json_kind kind;
    unsigned references;
    json_int_t integer;
    char *text;
    char **keys; /* of an object */
    json_t **items;
    size_t count, room;
};

static json_t *json_new(enum json_kind kind)
{
    json_t *value = calloc(1, sizeof *value);
    if (value) {
        value->kind = kind;
        value->references = 1;
    }
    return value;
}

json_t *json_object(void)
{
    return json_new(OBJECT);
}

json_t *json_array(void)
{
    return json_new(ARRAY);
}

json_t *json_null(void)
{
    return json_new(NOTHING);
}

json_t *json_boolean(bool value)
{
    return json_new(value ? TRUE_ : FALSE_);
}

json_t *json_integer(json_int_t number)
{
    json_t *value = json_new(INTEGER);
    if (value)
        value->integer = number;
    return value;
}

/* How many bytes the character has that begins there; 0: none that is UTF-8. */
static size_t json_character(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (at[0] > 0xf4 || (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

json_t *json_string(const char *text)
{
    json_t *value;

    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = json_character(at);
        if (length == 0)
            return NULL;
        at += length;
    }
    value = json_new(STRING);
    if (value && !(value->text = strdup(text))) {
        free(value);
        return NULL;
    }
    return value;
}

void json_decref(json_t *value)
{
    if (!value || --value->references > 0)
        return;
    for (size_t i = 0; i < value->count; i++) {
        json_decref(value->items[i]);
        if (value->keys)
            free(value->keys[i]);
    }
    free(value->keys);
    free(value->items);
    free(value->text);
    free(value);
}

bool json_is_object(const json_t *value)
{
    return value && value->kind == OBJECT;
}

bool json_is_array(const json_t *value)
{
    return value && value->kind == ARRAY;
}

bool json_is_string(const json_t *value)
{
    return value && value->kind == STRING;
}

const char *json_string_value(const json_t *value)
{
    return json_is_string(value) ? value->text : NULL;
}

json_int_t json_integer_value(const json_t *value)
{
    return value && value->kind == INTEGER ? value->integer : 0;
}

size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->count : 0;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    return index < json_array_size(array) ? array->items[index] : NULL;
}

/* One more item, which is taken over in any case. */
static int json_add(json_t *to, char *key, json_t *value)
{
    size_t room = to->room ? 2 * to->room : 8;

    if (to->count == to->room) {
        json_t **items = realloc(to->items, room * sizeof *items);
        char **keys = key ? realloc(to->keys, room * sizeof *keys) : NULL;
        to->items = items ? items : to->items;
        to->keys = keys ? keys : to->keys;
        if (!items || (key && !keys)) {
            json_decref(value);
            return -1;
        }
        to->room = room;
    }
    if (key)
        to->keys[to->count] = key;
    to->items[to->count++] = value;
    return 0;
}

int json_array_append_new(json_t *array, json_t *value)
{
    if (!json_is_array(array) || !value) {
        json_decref(value);
        return -1;
    }
    return json_add(array, NULL, value);
}

static size_t json_place(const json_t *object, const char *key)
{
    size_t i = 0;

    while (json_is_object(object) && i < object->count && strcmp(object->keys[i], key) != 0)
        i++;
    return json_is_object(object) && i < object->count ? i : SIZE_MAX;
}

json_t *json_object_get(const json_t *object, const char *key)
{
    size_t place = json_place(object, key);
    return place != SIZE_MAX ? object->items[place] : NULL;
}

int json_object_set_new(json_t *object, const char *key, json_t *value)
{
    size_t place = json_place(object, key);
    char *copy;

    if (!json_is_object(object) || !value) {
        json_decref(value);
        return -1;
    }
    if (place != SIZE_MAX) {
        json_decref(object->items[place]);
        object->items[place] = value;
        return 0;
    }
    copy = strdup(key);
    if (copy && json_add(object, copy, value) == 0)
        return 0;
    free(copy);
    return -1;
}

int json_object_set(json_t *object, const char *key, json_t *value)
{
    if (value)
        value->references++;
    return json_object_set_new(object, key, value);
}

const char *json_member(const json_t *object, size_t index, json_t **value)
{
    if (!json_is_object(object) || index >= object->count)
        return NULL;
    *value = object->items[index];
    return object->keys[index];
}

/* ---- writing */

struct json_text {
    char *bytes;
    size_t size, room;
    bool failed;
};

static void json_put(struct json_text *text, const char *bytes, size_t count)
{
    if (text->room - text->size <= count) {
        size_t room = 2 * text->room + count + 256;
        char *more = realloc(text->bytes, room);
        if (!more) {
            text->failed = true;
            return;
        }
        text->bytes = more;
        text->room = room;
    }
    memcpy(text->bytes + text->size, bytes, count);
    text->size += count;
    text->bytes[text->size] = '\0';
}

static void json_put_string(struct json_text *text, const char *string)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

    json_put(text, "\"", 1);
    for (; *string != '\0'; string++) {
        const char *found = strchr(escaped, *string);
        char code[8];
        if (found)
            json_put(text, code,
                     (size_t)snprintf(code, sizeof code, "\\%c", letters[found - escaped]));
        else if ((unsigned char)*string < ' ')
            json_put(
                text, code,
                (size_t)snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)*string));
        else
            json_put(text, string, 1);
    }
    json_put(text, "\"", 1);
}

static void json_new_line(struct json_text *text, size_t flags, size_t depth)
{
    if (JSON_INDENT(flags) == 0)
        return;
    json_put(text, "\n", 1);
    for (size_t i = 0; i < depth * JSON_INDENT(flags); i++)
        json_put(text, " ", 1);
}

static void json_write(struct json_text *text, const json_t *value, size_t flags, size_t depth)
{
    static const char *const words[] = {"null", "false", "true"};
    char number[32];

    if (value->kind <= TRUE_) {
        json_put(text, words[value->kind], strlen(words[value->kind]));
    } else if (value->kind == INTEGER) {
        json_put(text, number, (size_t)snprintf(number, sizeof number, "%lld", value->integer));
    } else if (value->kind == STRING) {
        json_put_string(text, value->text);
    } else {
        bool object = value->kind == OBJECT;
        json_put(text, object ? "{" : "[", 1);
        for (size_t i = 0; i < value->count; i++) {
            if (i > 0)
                json_put(text, ", ", JSON_INDENT(flags) || (flags & JSON_COMPACT) ? 1 : 2);
            json_new_line(text, flags, depth + 1);
            if (object) {
                json_put_string(text, value->keys[i]);
                json_put(text, ": ", flags & JSON_COMPACT ? 1 : 2);
            }
            json_write(text, value->items[i], flags, depth + 1);
        }
        if (value->count > 0)
            json_new_line(text, flags, depth);
        json_put(text, object ? "}" : "]", 1);
    }
}

char *json_dumps(const json_t *value, size_t flags)
{
    struct json_text text = {0};

    if (value)
        json_write(&text, value, flags, 0);
    if (!text.failed)
        return text.bytes;
    free(text.bytes);
    return NULL;
}

int json_dumpf(const json_t *value, FILE *file, size_t flags)
{
    char *text = json_dumps(value, flags);
    int code = text && fputs(text, file) >= 0 ? 0 : -1;

    free(text);
    return code;
}
