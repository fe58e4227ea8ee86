/* SPDX-License-Identifier: MIT */
/* What is remembered of the accesses to memory: pages, their lines, and cells of those that are
 * split. */
#include "ptx/memory/check_state.h"

#include <stdlib.h>
#include <string.h>

/* Of a launch; what older ones left is given up for it. */
#define MOST_PAGES 131072  /* then memory that comes new is not looked at */
#define MOST_LINED 32768   /* nor that which is used irregularly */
#define MOST_SPLITS 262144 /* nor lines that are to be split */
#define LARGE 4            /* as many of them is one of which each byte is a cell */

/* Give up what is older than the launch; true: all of the page. */
static bool sweep_page(struct check *check, struct check_page *page)
{
    bool old = true;

    for (size_t i = 0; i < CHECK_LINES; i++) {
        struct check_line *line = page->lines ? &page->lines[i] : NULL;
        const struct check_quick *chunk = &page->chunks[i * CHECK_LINE / CHECK_CHUNK];

        if ((chunk->what & CHECK_LINE_COUNTS ? page->quick[i] : *chunk).serial >= check->first) {
            old = false;
        } else if (line && line->cells) {
            check->splits -= line->large ? LARGE : 1;
            free(line->cells);
            *line = (struct check_line){0};
        }
    }
    check->lined -= old && page->lines;
    check->shared -= old && page->older;
    if (old) {
        free(page->lines);
        free(page->older);
        free(page->quick);
    }
    return old;
}

/* Is there no more to be had? Once a launch, what is older than it is given up first. */
static bool is_full(struct check *check, const uint32_t *used, uint32_t most)
{
    if (check->which & PTX_CHECK_LITTLE)
        most /= 64;
    if (*used < most || check->swept == check->first)
        return *used >= most;
    check->swept = check->first;
    memset(check->recent, 0, sizeof check->recent);
    for (size_t i = 0; i < CHECK_BUCKETS; i++)
        for (struct check_page **at = &check->buckets[i], *page; (page = *at);) {
            if (!sweep_page(check, page)) {
                at = &page->next;
                continue;
            }
            *at = page->next;
            check->pages--;
            free(page);
        }
    return *used >= most;
}

static struct check_page **bucket_of(struct check *check, uintptr_t number)
{
    return &check->buckets[(number ^ number >> 16) % CHECK_BUCKETS]; /* neighbours side by side */
}

/* NULL: nobody was there. */
static struct check_page *page_of(struct check *check, uintptr_t number)
{
    struct check_page *page = *bucket_of(check, number);

    while (page && page->number != number)
        page = page->next;
    return page;
}

struct check_page *check_line_page(struct check *check, uintptr_t at)
{
    const uintptr_t number = at / CHECK_PAGE;
    struct check_page **recent = &check->recent[check_slot(number)], **bucket, *page = *recent;

    if (page && page->number == number)
        return page;
    page = page_of(check, number);
    if (!page) {
        if (is_full(check, &check->pages, MOST_PAGES) || !(page = calloc(1, sizeof *page)))
            return NULL;
        bucket = bucket_of(check, number);
        check->pages++;
        page->number = number;
        page->next = *bucket;
        *bucket = page;
    }
    return *recent = page;
}

static struct check_seen seen_in(const struct check_quick *quick)
{
    const unsigned shift = quick->what >> 2 & 15; /* of a cell: 2 */

    return (struct check_seen){.serial = quick->serial,
                               .block = quick->block,
                               .thread = (uint16_t)(quick->what >> 6 & 1023),
                               .bytes = (1U << CHECK_CELL) - 1,
                               .spread = shift < 2 ? (2 - shift) & 3 : 0,
                               .shift = shift < 2 ? 0 : (shift - 2) & 15,
                               .step = (const struct ptx_step *)(uintptr_t)(quick->what >> 16)};
}

/* What the entry for all of the line says, for its line. */
static void from_quick(struct check_line *line, const struct check_quick *quick,
                       const struct check_quick *older, uint32_t since)
{
    const struct check_seen seen = seen_in(quick);

    line->whole = (struct check_cell){0};
    line->split = line->fine = false;
    if (older && older->serial >= since)
        line->whole.reads[1] = seen_in(older);
    if (quick->what & CHECK_WHAT_WRITE)
        line->whole.write = seen;
    else
        line->whole.reads[0] = seen;
}

struct check_quick *check_line_quick(struct check *check, struct check_page *page, uintptr_t at)
{
    struct check_quick *chunk = &page->chunks[at % CHECK_PAGE / CHECK_CHUNK], next = *chunk, *first;

    if (!page->quick && !(page->quick = calloc(CHECK_LINES, sizeof *page->quick)))
        return NULL;
    if (chunk->serial >= check->first && !(chunk->what & CHECK_LINE_COUNTS)) {
        first = &page->quick[(at % CHECK_PAGE & ~(uintptr_t)(CHECK_CHUNK - 1)) / CHECK_LINE];
        for (size_t i = 0; i < CHECK_CHUNK / CHECK_LINE; i++) {
            first[i] = next;
            next = check_quick_next(next, CHECK_LINE);
        }
    }
    chunk->what = CHECK_LINE_COUNTS;
    chunk->serial = check->serial;
    return &page->quick[at % CHECK_PAGE / CHECK_LINE];
}

/* The line of an address, where what is older than `since` is forgotten; NULL: no memory for it. */
struct check_line *check_line_of(struct check *check, uintptr_t at, uint32_t since)
{
    struct check_page *page = check_line_page(check, at);
    struct check_quick *quick;
    struct check_line *line;

    if (!page)
        return NULL;
    if (!page->lines) {
        const bool full = is_full(check, &check->lined, MOST_LINED);

        page = check_line_page(check, at);
        if (full || !page || !(page->lines = calloc(CHECK_LINES, sizeof *page->lines)))
            return NULL;
        check->lined++;
    }
    line = &page->lines[at % CHECK_PAGE / CHECK_LINE];
    quick = check_line_quick(check, page, at);
    if (!quick)
        return NULL;
    if (quick->serial < since) {
        line->whole = (struct check_cell){0};
        line->split = line->fine = false;
    } else if (!(quick->what & CHECK_LINE_COUNTS)) {
        from_quick(line, quick, page->older ? &page->older[at % CHECK_PAGE / CHECK_LINE] : NULL,
                   since);
    }
    quick->what = CHECK_LINE_COUNTS;
    quick->serial = check->serial;
    return line;
}

static void of_cell(struct check_seen *seen, unsigned cell)
{
    seen->thread = (uint16_t)(seen->thread + (cell << seen->spread >> seen->shift));
    seen->shift = 0;
}

/* The cell of a line that is split from now on; NULL: no memory. */
struct check_cell *check_line_cell(struct check *check, struct check_line *line, uintptr_t at)
{
    struct check_cell *cells = line->cells;

    if (line->split)
        return &cells[at % CHECK_LINE / (line->fine ? 1 : CHECK_CELL)];
    if (!cells) {
        if (is_full(check, &check->splits, MOST_SPLITS) ||
            !(cells = malloc(CHECK_CELLS * sizeof *cells)))
            return NULL;
        check->splits++;
        line->cells = cells;
    }
    for (unsigned i = 0; i < CHECK_CELLS; i++) {
        cells[i] = line->whole;
        of_cell(&cells[i].write, i);
        of_cell(&cells[i].reads[0], i);
        of_cell(&cells[i].reads[1], i);
    }
    line->split = true;
    return &cells[at % CHECK_LINE / CHECK_CELL];
}

/* What is known of a byte of a cell. */
static struct check_seen of_byte(struct check_seen seen, unsigned byte)
{
    seen.bytes &= (uint8_t)(1U << byte);
    seen.thread = (uint16_t)(seen.thread + (byte << seen.spread) / CHECK_CELL);
    seen.spread = 0;
    return seen.bytes ? seen : (struct check_seen){0};
}

void check_line_refine(struct check *check, struct check_line *line)
{
    struct check_cell *cells;

    if (line->fine || !check_line_cell(check, line, 0))
        return;
    if (!line->large) {
        cells = is_full(check, &check->splits, MOST_SPLITS)
                    ? NULL
                    : realloc(line->cells, CHECK_LINE * sizeof *line->cells);
        if (!cells)
            return;
        check->splits += LARGE - 1;
        line->cells = cells;
        line->large = true;
    }
    line->fine = true;
    cells = line->cells;
    for (unsigned i = CHECK_LINE; i-- > 0;) {
        const struct check_cell *cell = &cells[i / CHECK_CELL];
        const unsigned byte = i % CHECK_CELL;

        cells[i] =
            (struct check_cell){of_byte(cell->write, byte),
                                {of_byte(cell->reads[0], byte), of_byte(cell->reads[1], byte)}};
    }
}

void check_line_forget(struct check *check, uintptr_t at, uint64_t size)
{
    const uintptr_t end = at + size;

    while (at < end) {
        struct check_page *page = page_of(check, at / CHECK_PAGE);
        struct check_quick *quick;
        struct check_line *line;
        struct check_cell *cell;

        if (!page) {
            at = (at | (CHECK_PAGE - 1)) + 1;
        } else if (at % CHECK_LINE == 0 && end - at >= CHECK_LINE) {
            quick = check_line_quick(check, page, at);
            if (quick)
                quick->serial = 0;
            at += CHECK_LINE;
        } else {
            line = check_line_of(check, at, check->first);
            cell = line ? check_line_cell(check, line, at) : NULL;
            if (cell)
                *cell = (struct check_cell){0};
            at = line && line->fine ? at + 1 : (at | (CHECK_CELL - 1)) + 1;
        }
    }
}

void check_line_free(struct check *check)
{
    for (size_t i = 0; i < CHECK_BUCKETS; i++)
        for (struct check_page *page = check->buckets[i], *next; page; page = next) {
            next = page->next;
            for (size_t l = 0; page->lines && l < CHECK_LINES; l++)
                free(page->lines[l].cells);
            free(page->lines);
            free(page->older);
            free(page->quick);
            free(page);
        }
    for (size_t i = 0; i < CHECK_MEETINGS; i++)
        for (struct check_meeting *one = check->meetings[i], *next; one; one = next) {
            next = one->next;
            free(one);
        }
}

void check_line_keep(const struct check *check, struct check_cell *cell,
                     const struct check_seen *seen, bool write)
{
    if (write) {
        cell->write = *seen;
        return;
    }
    if (!check_seen_alike(&cell->reads[0], seen) || cell->reads[0].serial < check->first)
        cell->reads[1] = cell->reads[0];
    cell->reads[0] = *seen;
}

bool check_line_read(struct check *check, struct check_page *page, uintptr_t at,
                     struct check_quick *quick, const struct check_quick *now)
{
    const struct check_seen seen = seen_in(now);
    struct check_line *line;

    if (quick->what & CHECK_LINE_COUNTS) {
        line = check_line_of(check, at, check->first);
        if (!line || line->split || line->whole.write.serial >= check->first)
            return false;
        check_line_keep(check, &line->whole, &seen, false);
        return true;
    }
    if (!page->older && (page->older = calloc(CHECK_LINES, sizeof *page->older)))
        check->shared++;
    if (quick->what & CHECK_WHAT_WRITE || !page->older)
        return false;
    page->older[at % CHECK_PAGE / CHECK_LINE] = *quick;
    *quick = *now;
    return true;
}
