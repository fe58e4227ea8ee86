/* SPDX-License-Identifier: MIT */
#include "scan_code.h"

#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 1024 };

static void append(char text[TEXT_SIZE], const char *words)
{
    size_t length = strlen(text);

    snprintf(text + length, TEXT_SIZE - length, "%s", words);
}

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

void scan_code_print(const struct scan_file *file)
{
    for (size_t i = 0; i < file->code_count; i++) {
        const struct scan_code *code = &file->code[i];
        char machine[TEXT_SIZE] = "", ptx[TEXT_SIZE] = "", text[2 * TEXT_SIZE + 128];
        tell_codes(machine, &code->fatbin, FATBIN_CUBIN);
        tell_codes(ptx, &code->fatbin, FATBIN_PTX);
        if (code->text)
            snprintf(text, sizeof text, "%zu for%s", code->times, ptx);
        else if (machine[0] == '\0' && ptx[0] == '\0')
            snprintf(text, sizeof text, "%zu with nothing but code for a later link", code->times);
        else
            snprintf(text, sizeof text, "%zu with machine code for%s; PTX for%s%s%s%s", code->times,
                     machine[0] != '\0' ? machine : " none", ptx[0] != '\0' ? ptx : " none",
                     is_empty(&code->fatbin) ? "; without a kernel" : "",
                     code->fatbin.cut ? " and more" : "", code->fatbin.damaged ? "; damaged" : "");
        output_field(code->text ? "PTX as text"
                     : i == 0   ? "fatbins"
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
