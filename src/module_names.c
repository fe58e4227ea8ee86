/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "module_internal.h"

#define MODULE_LONGEST 128 /* characters of a name that are compared */
#define MODULE_NEAREST 3   /* names in a sentence */
#define MODULE_FEW 6       /* so many names are all named */

/* ---- lists */

void cushim_names_add(struct cushim_names *names, const char *name, size_t length)
{
    if (names->length + length + 1 > names->capacity) {
        size_t capacity = 2 * (names->length + length) + 256;
        char *text = realloc(names->text, capacity);
        if (!text) {
            names->complete = false;
            return;
        }
        names->text = text;
        names->capacity = capacity;
    }
    memcpy(names->text + names->length, name, length);
    names->text[names->length + length] = 0;
    names->length += length + 1;
    names->count++;
}

void cushim_names_release(struct cushim_names *names)
{
    free(names->text);
    *names = (struct cushim_names){0};
}

/* ---- near names */

static char module_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned module_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits from one name to the other, of which a change of case is half of one: 2 is one edit. */
static unsigned module_distance(const char *a, const char *b)
{
    unsigned row[MODULE_LONGEST + 1];
    size_t width = strlen(b), height = strlen(a);
    width = width < MODULE_LONGEST ? width : MODULE_LONGEST;
    height = height < MODULE_LONGEST ? height : MODULE_LONGEST;
    for (size_t j = 0; j <= width; j++)
        row[j] = (unsigned)(2 * j);
    for (size_t i = 1; i <= height; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)(2 * i);
        for (size_t j = 1; j <= width; j++) {
            const char x = a[i - 1], y = b[j - 1];
            unsigned cost = x == y ? 0 : module_lower(x) == module_lower(y) ? 1 : 2;
            unsigned here = module_least(diagonal + cost, module_least(row[j], row[j - 1]) + 2);
            diagonal = row[j];
            row[j] = here;
        }
    }
    return row[width];
}

/* How far a name is; UINT32_MAX: too far to be meant. A name within the other is near: C++'s names
 * have their source's within them. */
static unsigned module_farness(const char *wanted, const char *name)
{
    const size_t length = strlen(wanted);
    unsigned distance = module_distance(wanted, name);
    if (length >= 3 && strstr(name, wanted))
        return 1 + (distance > 64 ? 1 : 0);
    return distance <= 2 * (2 + length / 3) && distance < 2 * length ? distance : UINT32_MAX;
}

static void module_append(char *text, size_t size, const char *name)
{
    size_t length = strlen(text);
    if (length < size)
        snprintf(text + length, size - length, "%s%.200s", length ? ", " : "", name);
}

void cushim_names_near(const struct cushim_names *names, const char *wanted, char *text,
                       size_t size)
{
    char list[512] = "";
    const char *nearest[MODULE_NEAREST] = {0}, *name = names->text;
    unsigned distances[MODULE_NEAREST];
    text[0] = 0;
    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        const char *candidate = name;
        unsigned distance = module_farness(wanted, name);
        for (int j = 0; j < MODULE_NEAREST && distance != UINT32_MAX; j++)
            if (!nearest[j] || distance < distances[j]) {
                const char *other = nearest[j];
                unsigned its = other ? distances[j] : UINT32_MAX;
                nearest[j] = candidate;
                distances[j] = distance;
                candidate = other;
                distance = its;
            }
    }
    for (int j = 0; j < MODULE_NEAREST && nearest[j]; j++)
        module_append(list, sizeof list, nearest[j]);
    if (list[0]) {
        snprintf(text, size, "; nearest: %s", list);
        return;
    }
    name = names->text;
    for (size_t i = 0; i < names->count && i < MODULE_FEW; i++, name += strlen(name) + 1)
        module_append(list, sizeof list, name);
    if (names->count > MODULE_FEW)
        snprintf(text, size, "; none is near; the first of %zu: %s", names->count, list);
    else if (names->count)
        snprintf(text, size, "; there is: %s", list);
    else if (names->complete)
        snprintf(text, size, "; there is none at all");
}

/* ---- what is remembered */

static struct module_known {
    struct module_known *next;
    const struct cushim_api *cu;
    const void *handle;
    struct cushim_names names[CUSHIM_NAMES_KINDS];
} * module_known;
static struct cushim_lock module_known_lock;

static void module_known_free(struct module_known *known)
{
    for (int i = 0; known && i < CUSHIM_NAMES_KINDS; i++)
        cushim_names_release(&known->names[i]);
    free(known);
}

/* Under the lock: take a handle's record out of the list. */
static struct module_known *module_known_take(const struct cushim_api *cu, const void *handle)
{
    for (struct module_known **at = &module_known; *at; at = &(*at)->next)
        if ((*at)->cu == cu && (*at)->handle == handle) {
            struct module_known *found = *at;
            *at = found->next;
            return found;
        }
    return NULL;
}

void cushim_names_remember(const struct cushim_api *cu, const void *handle,
                           struct cushim_names names[CUSHIM_NAMES_KINDS])
{
    struct module_known *known = calloc(1, sizeof *known), *before;
    if (known) {
        *known = (struct module_known){.cu = cu, .handle = handle};
        memcpy(known->names, names, sizeof known->names);
    } else {
        for (int i = 0; i < CUSHIM_NAMES_KINDS; i++)
            cushim_names_release(&names[i]);
    }
    memset(names, 0, CUSHIM_NAMES_KINDS * sizeof *names);
    cushim_lock_take(&module_known_lock);
    before = module_known_take(cu, handle);
    if (known) {
        known->next = module_known;
        module_known = known;
    }
    cushim_lock_release(&module_known_lock);
    module_known_free(before);
}

void cushim_names_forget(const struct cushim_api *cu, const void *handle)
{
    cushim_lock_take(&module_known_lock);
    struct module_known *known = module_known_take(cu, handle);
    cushim_lock_release(&module_known_lock);
    module_known_free(known);
}

CUresult cushim_names_missing(const struct cushim_api *cu, const void *handle, const char *helper,
                              const char *call, enum cushim_names_of of, const char *name,
                              const struct cushim_names *of_driver)
{
    char nearby[640] = "";
    if (of_driver && of_driver->count) {
        cushim_names_near(of_driver, name, nearby, sizeof nearby);
    } else {
        cushim_lock_take(&module_known_lock);
        for (struct module_known *at = module_known; at; at = at->next)
            if (at->cu == cu && at->handle == handle)
                cushim_names_near(&at->names[of], name, nearby, sizeof nearby);
        cushim_lock_release(&module_known_lock);
    }
    return cushim_refuse(CUDA_ERROR_NOT_FOUND, helper, "name: %s: no %s has that name (%s)%s", name,
                         of == CUSHIM_NAMES_KERNELS ? "kernel" : "variable", call, nearby);
}
