/* SPDX-License-Identifier: MIT */
/* Why a program may have crashed or failed: it wanted an entry that was not there. */
#include "matrix.h"

#include "known.h"
#include "names.h"
#include "output.h"
#include "sim_check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ELF
#include "mapped.h"
#include "scan_file.h"
#endif

enum { TOLD = 3 };

/* What the program wants. */
struct wants {
    unsigned char named[CUSHIM_ENTRY_COUNT]; /* in its file, in any way */
    const struct matrix_used *called;        /* under the newest release */
    bool cushim;                             /* it has cushim in it, or is linked to it */
    char misspelt[64];                       /* a name that no driver has; empty: none */
};

static bool is_lookup(const char *symbol)
{
    return strncmp(symbol, "cuGetProcAddress", strlen("cuGetProcAddress")) == 0;
}

/* Whether the driver of a run lacks an entry that the program wants. A look-up that is not there is
 * no cause of a call that was seen: another one was. */
static bool is_wanted(const struct matrix_case *one, const struct wants *wants, size_t index,
                      bool calls)
{
    struct cushim_entry entry = known_entry(index);

    return (calls || wants->named[index] != 0) && known_on(index, KNOWN_HERE) &&
           entry.since > version_parse(one->cuda) && !(calls && is_lookup(entry.symbol));
}

/* Behind the last call of the run, among those of the newest release. */
static size_t place_of_end(const struct matrix_case *one, const struct matrix_used *called)
{
    size_t place = 0;

    while (place < called->count && called->index[place] != one->last)
        place++;
    return place < called->count ? place + 1 : 0;
}

/* "no cuMemAllocAsync (CUDA 11.2): the driver lacks what the program looks up" in front of the
 * call, of what the driver of `as` lacks; false where it lacks nothing. Of what it calls the next
 * is the cause, if it is known which is the next; it may ask for others. */
static bool explain(struct matrix_case *one, const struct matrix_case *as,
                    const struct wants *wants, bool calls)
{
    char version[VERSION_TEXT_SIZE], text[2 * MATRIX_CALL_SIZE] = "";
    size_t all = calls ? wants->called->count : CUSHIM_ENTRY_COUNT;
    size_t count = 0, length = 0, from = calls ? place_of_end(as, wants->called) : 0;
    size_t most = from > 0 ? 1 : TOLD;

    for (size_t i = 0; i < all; i++) {
        size_t index = calls ? wants->called->index[(from + i) % all] : i;
        struct cushim_entry entry = known_entry(index);
        if (!is_wanted(as, wants, index, calls) || strstr(as->call, entry.symbol) ||
            count++ >= most)
            continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s (CUDA %s)",
                                   count > 1 ? ", " : "no ", entry.symbol,
                                   version_text(version, entry.since));
    }
    if (count == 0)
        return false;
    if (count > most && most == TOLD)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, " and %zu more", count - most);
    length +=
        (size_t)snprintf(text + length, sizeof text - length,
                         ": the driver lacks what the program %s", calls ? "looks up" : "names");
    one->told = true;
    matrix_put_before(one, text);
    return true;
}

/* "no cuMemAlocc: no known driver has this name (did you mean cuMemAlloc?)" in front of the call,
 * if it may have called what is not there. */
static bool explain_misspelt(struct matrix_case *one, const struct wants *wants)
{
    char text[MATRIX_CALL_SIZE];

    if (wants->misspelt[0] == '\0' || one->end != MATRIX_CRASHES ||
        (one->code != SIGSEGV && one->code != SIGBUS))
        return false;
    snprintf(text, sizeof text, "no %s: no known driver has this name (did you mean %s?)",
             wants->misspelt, known_near(wants->misspelt));
    one->told = true;
    matrix_put_before(one, text);
    return true;
}

/* What is the same under the newest release has another cause. `as` is the newest that ended as
 * this one did: what that one lacks is the cause of both, and what else an older one lacks is not.
 */
static void explain_case(struct matrix_case *one, const struct matrix_case *as,
                         const struct wants *wants, const struct matrix_case *newest)
{
    bool crashed = one->end == MATRIX_CRASHES;
    bool good = one->check[0] != '\0' && one->code == COMMAND_CHECK; /* but for the check */

    /* With cushim in it, which names all entries, the driver was told of each call of a stub, none
     * of which crashes. */
    if (one->cuda[0] == '\0' || one->told || wants->cushim ||
        (!crashed && one->end != MATRIX_FAILS))
        return;
    if (one->end == newest->end && one->code == newest->code &&
        (explain_misspelt(one, wants) || one != newest))
        return;
    if ((crashed || !one->named) && explain(one, as, wants, true))
        return;
    if (!good && (crashed || one->call[0] == '\0'))
        explain(one, as, wants, false);
}

static bool is_same_place(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* The number of the newest release that ended as this one did; of another run its own. */
static size_t newest_alike(const struct matrix_case *cases, size_t count, size_t number)
{
    const struct matrix_case *one = &cases[number];
    size_t found = number;

    for (size_t i = 0; i < count && matrix_is_release(one); i++) {
        const struct matrix_case *other = &cases[i];
        if (matrix_is_release(other) &&
            version_parse(other->cuda) > version_parse(cases[found].cuda) &&
            is_same_place(one->ended_by, other->ended_by) && matrix_is_same(one, other))
            found = i;
    }
    return found;
}

#ifdef HAVE_ELF
static void note(void *user, struct scan_file *file)
{
    struct wants *wants = user;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        wants->named[i] |= file->how[i];
    wants->cushim |= file->cushim;
    if (file->misspelt[0] != '\0')
        memcpy(wants->misspelt, file->misspelt, sizeof wants->misspelt);
}

static void read_program(const char *program, struct wants *wants)
{
    const struct scan_sink sink = {.user = wants, .visit = note};
    struct mapped file;
    const char *problem;

    if (!mapped_open(&file, program, &problem))
        return;
    scan_bytes(program, file.data, file.size, &sink, &problem);
    mapped_close(&file);
}
#else
static void read_program(const char *program, struct wants *wants)
{
    (void)program, (void)wants;
}
#endif

static struct wants wants;

void matrix_missing_read(const char *program)
{
    read_program(program, &wants);
}

bool matrix_missing_has_cushim(void)
{
    return wants.cushim;
}

void matrix_missing(struct matrix_case *cases, size_t count, const struct matrix_used *used,
                    size_t newest)
{
    size_t *alike = calloc(count + 1, sizeof *alike);

    if (!alike)
        output_no_memory();
    wants.called = used;
    for (size_t i = 0; i < count; i++)
        alike[i] = newest_alike(cases, count, i);
    for (int own = 0; own < 2; own++) { /* before the words of the newest are its reason */
        for (size_t i = 0; i < count; i++) {
            if ((alike[i] == i) == own)
                explain_case(&cases[i], &cases[alike[i]], &wants, &cases[newest]);
        }
    }
    free(alike);
}
