/* SPDX-License-Identifier: MIT */
#include "scan_code.h"

#include "output.h"
#include "scan_wheel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 1024, MOST_CODES = 1 << 10 };

static void append(char text[TEXT_SIZE], const char *words)
{
    size_t length = strlen(text);

    snprintf(text + length, TEXT_SIZE - length, "%s", words);
}

/* ---- gathering */

static bool is_same(const struct fatbin_code *one, const struct fatbin_code *other)
{
    return one->kind == other->kind && one->architecture == other->architecture &&
           one->ptx_version == other->ptx_version && one->variant == other->variant &&
           one->toolkit == other->toolkit && one->empty == other->empty;
}

static bool has_same_code(const struct fatbin *a, const struct fatbin *b)
{
    if (a->count != b->count || (a->kernels != 0) != (b->kernels != 0))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!is_same(&a->code[i], &b->code[i]))
            return false;
    }
    return true;
}

/* Cubins of the same kernels are as the codes of one fatbin: a program takes that for its GPU. */
static void join(struct fatbin *to, const struct fatbin *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct fatbin_code *code = &from->code[i];
        size_t at = 0;
        while (at < to->count && to->code[at].architecture <= code->architecture &&
               !is_same(&to->code[at], code))
            at++;
        if (at < to->count && is_same(&to->code[at], code))
            continue;
        if (to->count == FATBIN_MAX_CODES) {
            to->cut = true;
            continue;
        }
        memmove(&to->code[at + 1], &to->code[at], (to->count++ - at) * sizeof *code);
        to->code[at] = *code;
    }
}

void scan_code_add(struct scan_file *file, const struct fatbin *fatbin, size_t times, bool text)
{
    for (size_t i = 0; i < file->code_count; i++) {
        struct scan_code *code = &file->code[i];
        if (code->text == text && code->fatbin.kernels == fatbin->kernels &&
            has_same_code(&code->fatbin, fatbin)) {
            code->times += times;
            code->fatbin.damaged |= fatbin->damaged;
            return;
        }
        if (fatbin->kernels != 0 && code->fatbin.kernels == fatbin->kernels) {
            join(&code->fatbin, fatbin);
            return;
        }
    }
    if (file->code_count == MOST_CODES)
        return;
    file->code = scan_grow(file->code, file->code_count, sizeof *file->code);
    file->code[file->code_count++] = (struct scan_code){*fatbin, times, text};
}

/* ---- printing */

/* One kind of code of a fatbin: " 9.0a (CUDA 12.x)", " 9.0 (PTX 8.4)". */
static void tell_codes(char text[TEXT_SIZE], const struct fatbin *fatbin, enum fatbin_kind kind)
{
    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_code *code = &fatbin->code[i];
        char one[64], version[24] = "";
        char variant[2] = {code->variant, '\0'};
        if (code->kind != kind)
            continue;
        if (kind == FATBIN_PTX && code->ptx_version > 0)
            snprintf(version, sizeof version, " (PTX %d.%d)", code->ptx_version / 10,
                     code->ptx_version % 10);
        else if (code->toolkit > 0)
            snprintf(version, sizeof version, " (CUDA %d.x)", code->toolkit / 1000);
        snprintf(one, sizeof one, " %d.%d%s%s", code->architecture / 10, code->architecture % 10,
                 variant, version);
        append(text, one);
    }
}

/* Whether no code of a fatbin has a kernel. */
static bool is_empty(const struct fatbin *fatbin)
{
    for (size_t i = 0; i < fatbin->count; i++) {
        if (fatbin->code[i].kind != FATBIN_OTHER && !fatbin->code[i].empty)
            return false;
    }
    return true;
}

/* How many there are of one; cubins of several kernels count together, at the first of them. */
static size_t count_alike(const struct scan_file *file, size_t index)
{
    const struct scan_code *code = &file->code[index];
    size_t times = code->times;

    for (size_t i = 0; code->fatbin.kernels != 0 && i < file->code_count; i++) {
        if (i == index || !has_same_code(&file->code[i].fatbin, &code->fatbin))
            continue;
        if (i < index)
            return 0;
        times += file->code[i].times;
    }
    return times;
}

void scan_code_print(const struct scan_file *file)
{
    for (size_t i = 0; i < file->code_count; i++) {
        const struct scan_code *code = &file->code[i];
        const size_t times = count_alike(file, i);
        char machine[TEXT_SIZE] = "", ptx[TEXT_SIZE] = "", text[2 * TEXT_SIZE + 128];
        if (times == 0)
            continue;
        tell_codes(machine, &code->fatbin, FATBIN_CUBIN);
        tell_codes(ptx, &code->fatbin, FATBIN_PTX);
        if (code->text)
            snprintf(text, sizeof text, "%zu for%s", times, ptx);
        else if (machine[0] == '\0' && ptx[0] == '\0')
            snprintf(text, sizeof text, "%zu with nothing but code for a later link", times);
        else
            snprintf(text, sizeof text, "%zu with machine code for%s%s%s%s%s%s", times,
                     machine[0] != '\0' ? machine : " none",
                     code->fatbin.kernels != 0 ? "" : "; PTX for",
                     code->fatbin.kernels != 0 ? ""
                     : ptx[0] != '\0'          ? ptx
                                               : " none",
                     is_empty(&code->fatbin) ? "; without a kernel" : "",
                     code->fatbin.cut ? " and more" : "", code->fatbin.damaged ? "; damaged" : "");
        output_field(code->text                  ? "PTX as text"
                     : code->fatbin.kernels != 0 ? "cubins"
                     : i == 0                    ? "fatbins"
                                                 : "",
                     code->fatbin.damaged ? OUTPUT_WARNING : OUTPUT_PLAIN, text);
    }
}

/* Code for a later link, which has no architecture of its own, comes last. */
static int order_of(const struct fatbin *fatbin, size_t index)
{
    const struct fatbin_code *code = &fatbin->code[index];

    return code->kind == FATBIN_OTHER ? 10000 : code->architecture;
}

static int compare_codes(const void *a, const void *b)
{
    const struct scan_code *one = a, *other = b;
    const struct fatbin *x = &one->fatbin, *y = &other->fatbin;

    if (one->text != other->text)
        return one->text - other->text;
    if ((x->kernels != 0) != (y->kernels != 0))
        return (x->kernels != 0) - (y->kernels != 0);
    for (size_t i = 0; i < x->count && i < y->count; i++) {
        int order = order_of(x, i) - order_of(y, i);
        if (order == 0)
            order = (int)x->code[i].kind - (int)y->code[i].kind;
        if (order == 0)
            order = x->code[i].ptx_version - y->code[i].ptx_version;
        if (order != 0)
            return order;
    }
    return x->count != y->count ? (x->count < y->count ? -1 : 1) : 0;
}

void scan_code_sort(struct scan_file *file)
{
    if (file->code_count > 1)
        qsort(file->code, file->code_count, sizeof *file->code, compare_codes);
}
