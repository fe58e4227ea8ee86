/* SPDX-License-Identifier: MIT */
/* Why a program may have crashed or failed: it wanted an entry that was not there. */
#include "matrix.h"

#ifdef HAVE_ELF
#include "known.h"
#include "mapped.h"
#include "names.h"
#include "scan_file.h"

#include <string.h>

enum { TOLD = 3 };

/* Which entries the program names, in any way. */
static void note(void *user, struct scan_file *file)
{
    unsigned char *how = user;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        how[i] |= file->how[i];
}

static void explain(struct matrix_case *one, const unsigned char *how)
{
    int release = version_parse(one->cuda);
    char version[VERSION_TEXT_SIZE], failed[MATRIX_CALL_SIZE];
    size_t count = 0, length = 0;

    memcpy(failed, one->call, sizeof failed);

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct cushim_entry entry = known_entry(i);
        bool taken = strcmp(entry.symbol, one->missing) == 0;
        if (how[i] == 0 || (entry.since <= release && !taken) || !known_on(i, KNOWN_HERE) ||
            length >= sizeof one->call)
            continue;
        if (count++ < TOLD)
            length += (size_t)snprintf(one->call + length, sizeof one->call - length,
                                       "%s%s (CUDA %s)", count > 1 ? ", " : "no ", entry.symbol,
                                       version_text(version, entry.since));
    }
    if (count > TOLD && length < sizeof one->call)
        length += (size_t)snprintf(one->call + length, sizeof one->call - length, " and %zu more",
                                   count - TOLD);
    if (count > 0 && length < sizeof one->call &&
        (size_t)snprintf(one->call + length, sizeof one->call - length,
                         ": the driver lacks what the program names%s%s",
                         failed[0] != '\0' ? "; " : "", failed) >= sizeof one->call - length)
        memcpy(one->call + sizeof one->call - sizeof "...", "...", sizeof "...");
}

void matrix_missing(const char *program, struct matrix_case *cases, size_t count)
{
    static unsigned char how[CUSHIM_ENTRY_COUNT];
    const struct scan_sink sink = {.user = how, .visit = note};
    struct mapped file;
    const char *problem;

    if (!mapped_open(&file, program, &problem))
        return;
    scan_bytes(program, file.data, file.size, &sink, &problem);
    mapped_close(&file);
    for (size_t i = 0; i < count; i++) {
        bool failed = cases[i].end == MATRIX_FAILS && cases[i].call[0] == '\0';
        if ((cases[i].end == MATRIX_CRASHES || failed) && cases[i].cuda[0] != '\0')
            explain(&cases[i], how);
    }
}
#else
void matrix_missing(const char *program, struct matrix_case *cases, size_t count)
{
    (void)program, (void)cases, (void)count;
}
#endif
