/* SPDX-License-Identifier: MIT */
/* Fuzzing the readers of `cushim scan`: ELF, PE, archives of objects, zip files, fatbins, sources.
 */
#include "fuzz.h"

#include "scan_file.h"
#include "scan_gpu.h"
#include "scan_sources.h"

#include <stdlib.h>
#include <string.h>

/* What was read holds together: texts end, numbers are in their range. */
static void visit(void *user, struct scan_file *file)
{
    size_t *seen = user;

    *seen += strlen(file->name) + strlen(file->format);
    for (size_t i = 0; i < file->unknown_count; i++)
        *seen += strlen(file->unknown[i]);
    for (size_t i = 0; i < file->code_count; i++) {
        if (file->code[i].fatbin.count > FATBIN_MAX_CODES || file->code[i].times == 0)
            abort();
    }
    for (int gpu = 49; (gpu = scan_gpu_next(gpu)) != 0;) {
        struct gpu_verdict verdict = scan_gpu(file, gpu, 12040);
        *seen += strlen(scan_gpu_name(file, verdict.answer));
    }
}

static void skip(void *user, const char *name, const char *why)
{
    size_t *seen = user;

    *seen += strlen(name) + strlen(why);
}

/* The same bytes as two sources, a header and one that has its names. */
static void read_source(const uint8_t *data, size_t size)
{
    struct scan_sources sources = {.oldest = 9000};
    const char *text = (const char *)data;
    const struct scan_source_text parts[] = {{text, size / 2, 0, true},
                                             {text + size / 2, size - size / 2, 1, false}};
    size_t count = 0;

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 2; i++) {
            struct scan_source source = scan_source_read(&parts[i], NULL, &sources.shared);
            if (round == 2)
                scan_sources_add(&sources, &source, "input");
            else
                scan_source_free(&source);
        }
        if (!scan_shared_begin(&sources.shared))
            continue;
        for (size_t i = 0; i < 2; i++)
            scan_shared_count(&sources.shared, parts[i].text, parts[i].size);
    }
    scan_sources_judge(&sources);
    struct scan_findings findings = scan_sources_find(&sources);
    for (size_t k = 0; k < 2; k++) {
        const struct scan_source *source = &sources.item[k];
        for (size_t i = 0; i < source->count; i++) {
            if (source->calls[i].index >= CUSHIM_ENTRY_COUNT || source->calls[i].line == 0)
                abort();
        }
        count += source->count;
    }
    if (findings.count > count)
        abort();
    scan_sources_forget(&findings);
    scan_sources_free(&sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *problem = NULL;
    size_t seen = 0;
    const struct scan_sink sink = {.user = &seen, .visit = visit, .skipped = skip};

    if (scan_bytes("input", data, size, &sink, &problem) != SCAN_READ && !problem)
        abort();
    read_source(data, size);
    return 0;
}
