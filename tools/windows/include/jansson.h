/* SPDX-License-Identifier: MIT */
/* What the command uses of the library jansson, for systems without it: values of JSON that are
 * made, read from a file, and written. */
#ifndef CUSHIM_WINDOWS_JANSSON_H
#define CUSHIM_WINDOWS_JANSSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct json_t json_t;
typedef long long json_int_t;

enum { JSON_PRESERVE_ORDER = 0x100, JSON_COMPACT = 0x20, JSON_DISABLE_EOF_CHECK = 0x2 };
#define JSON_INDENT(columns) ((columns)&0x1f)

typedef struct {
    int line, column;
    char text[160];
} json_error_t;

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *text); /* NULL: no UTF-8 */
json_t *json_integer(json_int_t value);
json_t *json_boolean(bool value);
json_t *json_null(void);
void json_decref(json_t *value);

bool json_is_object(const json_t *value);
bool json_is_array(const json_t *value);
bool json_is_string(const json_t *value);
const char *json_string_value(const json_t *value); /* NULL: no string */
json_int_t json_integer_value(const json_t *value); /* 0: no integer */

size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);
int json_array_append_new(json_t *array, json_t *value);
json_t *json_object_get(const json_t *object, const char *key);
int json_object_set(json_t *object, const char *key, json_t *value);
int json_object_set_new(json_t *object, const char *key, json_t *value);
const char *json_member(const json_t *object, size_t index, json_t **value); /* NULL: no more */

json_t *json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error);
json_t *json_loadf(FILE *file, size_t flags, json_error_t *error);
json_t *json_load_file(const char *path, size_t flags, json_error_t *error);
char *json_dumps(const json_t *value, size_t flags);
int json_dumpf(const json_t *value, FILE *file, size_t flags);

#define json_array_foreach(array, index, value)                                                    \
    for ((index) = 0; ((value) = json_array_get(array, index)); (index)++)
#define json_object_foreach(object, key, value)                                                    \
    for (size_t json_i_ = 0; ((key) = json_member(object, json_i_, &(value))); json_i_++)

#endif
