/* SPDX-License-Identifier: MIT */
/* The fault rule `late`: work begins as late as a device may begin it, so that what a program does
 * not wait for is not done. A thread has each ticket whose turn it is, and lingers.
 * The rule `reorder`: as soon as one is wanted, what is ready begins one by one, so that work which
 * nothing orders runs in the other order, as far as one order can. The log has what came of both.
 */
#include "queue/ticket.h"

#include <stdio.h>

/* Long enough for what a program does before it reads what it did not wait for. One that waits by
 * other means, such as a callback, loses no more than 32 times that: each time makes the next one
 * shorter, down to the least. */
#define PATIENCE_NS UINT64_C(100000000)
#define LEAST_NS UINT64_C(1000000)
#define QUESTIONS 8 /* of a loop; who asks once may only flush the queue */
/* For one alone, which may wait for another's work. Each time makes the next one half as long. */
#define TURN_NS UINT64_C(1000000000)
#define MOST_TOLD 16 /* at a time */
#define MOST_LOOKED_AT 256
#define MOST_USES 16           /* of one ticket */
#define LEAST_ADDRESS 0x10000U /* smaller values are no addresses */

bool sim_late, sim_late_reorders;
pthread_cond_t sim_late_changed = PTHREAD_COND_INITIALIZER;
static uint64_t patience_ns = PATIENCE_NS, turn_ns = TURN_NS;
static uint64_t turn_end_ns;
static uint64_t newest_number; /* when one was last wanted: what is newer stays late */

/* --- What the log has of it --- */

static void tell(const char *words, const char *origin)
{
    struct sim_report_line line = {.used = 0};
    sim_report_put(&line, "cushim: %s: %s", words, origin);
    sim_report_log(&line);
}

/* What no wait made begin before this call, the oldest first; NULL: all contexts'. */
static void tell_all(const char *call, const struct sim_context *context,
                     const struct sim_ticket *ticket)
{
    char words[160];
    unsigned told = 0;
    snprintf(words, sizeof words, "not waited for before %.*s", (int)strcspn(call, "\t"), call);
    while (ticket && ticket->older)
        ticket = ticket->older;
    for (; ticket && told < MOST_TOLD; ticket = ticket->newer)
        if (ticket->due_ns && ticket->origin && (!context || ticket->context == context)) {
            tell(words, ticket->origin);
            told++;
        }
}

void sim_late_end(const struct sim_ticket *newest)
{
    if (sim_callers_origin)
        tell_all("exit", NULL, newest);
}

static void note(struct sim_ticket *ticket, uint64_t begin, size_t size, bool writes, bool copies)
{
    struct sim_use *use = ticket->uses;
    while (use->end)
        use++;
    if (begin >= LEAST_ADDRESS && use < ticket->uses + MOST_USES)
        *use = (struct sim_use){begin, begin + size, writes, copies};
}

/* Of a kernel the bytes that its arguments point to, which it may write. What is shorter than an
 * address is none. */
static void note_arguments(struct sim_ticket *ticket, char *const *values)
{
    for (uint64_t at; values && *values; values++)
        if (!values[1] || values[1] - values[0] >= (ptrdiff_t)sizeof at)
            note(ticket, *(uint64_t *)memcpy(&at, *values, sizeof at), 1, true, false);
}

void sim_late_note(struct sim_ticket *ticket, const struct sim_item *item)
{
    const CUDA_MEMCPY3D_v2 *copy = &item->params.memcpy.copyParams;
    const CUDA_MEMSET_NODE_PARAMS_v2 *fill = &item->params.memset;
    if (!ticket->origin || !(ticket->uses = calloc(MOST_USES + 1, sizeof *ticket->uses)))
        return;
    if (item->params.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        const size_t pitches = copy->Height * copy->Depth - 1, width = copy->WidthInBytes;
        bool host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
        note(ticket, host ? (uintptr_t)copy->srcHost : copy->srcDevice,
             pitches * copy->srcPitch + width, false, true);
        host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
        note(ticket, host ? (uintptr_t)copy->dstHost : copy->dstDevice,
             pitches * copy->dstPitch + width, true, true);
    } else if (item->params.type == CU_GRAPH_NODE_TYPE_MEMSET) {
        note(ticket, fill->dst, (fill->height - 1) * fill->pitch + fill->width * fill->elementSize,
             true, true);
    } else if (item->params.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        note_arguments(ticket, (char *const *)item->params.kernel.kernelParams);
    }
}

/* 2: both use the same bytes, and one may write them. 1: one is a kernel, and the other copies or
 * fills them, which may be others than those that the kernel uses. 0: neither. */
static int share(const struct sim_ticket *one, const struct sim_ticket *other)
{
    int found = 0;
    for (const struct sim_use *mine = one->uses; mine && other->uses && mine->end; mine++)
        for (const struct sim_use *use = other->uses; use->end; use++)
            if (mine->begin < use->end && use->begin < mine->end && (mine->writes || use->writes))
                found = found == 2 || mine->copies == use->copies ? 2 : 1;
    return found;
}

/* What is older and not done has changed places with `first`, which waits for nothing. Those that
 * use the same memory tell more than others, and those of one place, such as a loop over streams,
 * less. */
static void tell_swap(const struct sim_ticket *first)
{
    static int told;
    const struct sim_ticket *before = NULL, *ticket = first->origin ? first->older : NULL;
    int best = told;
    for (unsigned i = 0; ticket && best < 5 && i < MOST_LOOKED_AT; ticket = ticket->older, i++) {
        if (!ticket->origin)
            continue;
        const int shared = share(first, ticket);
        const bool loop = strcmp(first->origin, ticket->origin) == 0;
        const int weight = loop ? 1 + (shared != 0) : 3 + shared;
        if (weight > best) {
            best = weight;
            before = ticket;
        }
    }
    if (!before)
        return;
    told = best;
    tell("it ran first", first->origin);
    tell("it was queued before that", before->origin);
}

/* --- When work begins --- */

uint64_t sim_late_due(void)
{
    return sim_clock_ns() + patience_ns;
}

static bool is_before_wanted(const struct sim_ticket *ticket)
{
    for (const struct sim_edge *edge = ticket->waiters; edge; edge = edge->next)
        if (edge->waiter->due_ns == 0)
            return true;
    return false;
}

/* Of what this wait makes begin: the last copy to the host, or the last work if none had one. */
static const struct sim_ticket *begun;

static void begin(struct sim_ticket *ticket, const char *wait)
{
    static uint64_t last;
    const char *origin = ticket->origin;
    ticket->due_ns = 0;
    if (!wait || !origin || strcmp(origin, wait) == 0)
        return;
    const uint64_t rank = ticket->number + (strstr(origin, "DtoH") ? UINT64_MAX / 2 : 0);
    if (rank > last) {
        last = rank;
        begun = ticket;
    }
}

/* What comes before others is mostly older, but for the end of a graph. */
static void spread(struct sim_ticket *newest, const char *wait)
{
    newest_number = newest ? newest->number : 0;
    for (bool more = true; more;) {
        more = false;
        for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
            if (ticket->due_ns && is_before_wanted(ticket)) {
                begin(ticket, wait);
                more = true;
            }
    }
    if (begun) {
        tell("a wait made it begin", begun->origin);
        tell("this wait", wait);
    }
    begun = NULL;
    pthread_cond_broadcast(&sim_late_changed);
}

void sim_late_want(struct sim_ticket *ticket, struct sim_ticket *newest)
{
    if (ticket->due_ns == 0)
        return;
    char *wait = sim_callers_of_call();
    begin(ticket, wait);
    spread(newest, wait);
    free(wait);
}

void sim_late_want_all(const struct sim_context *context, struct sim_ticket *newest)
{
    if (!sim_late)
        return;
    char *call = sim_callers_of_call();
    const char *wait = call && strncmp(call, "cuCtxSynchronize", 16) == 0 ? call : NULL;
    if (call && !wait)
        tell_all(call, context, newest);
    for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
        if (!context || ticket->context == context)
            begin(ticket, wait);
    spread(newest, wait);
    free(call);
}

void sim_late_ask(struct sim_ticket *ticket, struct sim_ticket *newest)
{
    if (ticket->due_ns && ++ticket->asked == QUESTIONS)
        sim_late_want(ticket, newest);
}

/* Its time is over. */
static void lose_patience(const struct sim_ticket *ticket)
{
    if (patience_ns > LEAST_NS)
        patience_ns -= patience_ns / 32;
    if (ticket->origin)
        tell("not waited for in time", ticket->origin);
}

void sim_late_linger(const struct sim_ticket *ticket, const bool *stop)
{
    for (uint64_t now; !*stop && (now = sim_clock_ns()) < ticket->due_ns;) {
        sim_lock_wait_ns(&sim_late_changed, ticket->due_ns - now);
        if (ticket->due_ns && sim_clock_ns() >= ticket->due_ns)
            lose_patience(ticket);
    }
}

/* How many newer ones would still come after it, and need not. */
static unsigned stays_before(struct sim_ticket *ticket)
{
    static uint64_t mark;
    unsigned count = 0;
    ticket->mark = ++mark;
    for (unsigned i = 0; ticket && ticket->number <= newest_number && i < MOST_LOOKED_AT; i++) {
        if (ticket->mark == mark)
            for (const struct sim_edge *edge = ticket->waiters; edge; edge = edge->next)
                edge->waiter->mark = mark;
        else if (ticket->work)
            count++;
        ticket = ticket->newer;
    }
    return count;
}

/* Of those that may begin, the one that changes places with most; else the newest. */
static struct sim_ticket **best_of(struct sim_ticket **link)
{
    struct sim_ticket **found = NULL;
    unsigned least = 0;
    for (; *link; link = &(*link)->next_ready) {
        if ((*link)->due_ns && (*link)->number > newest_number)
            continue;
        const unsigned count = stays_before(*link);
        if (!found || count < least || (count == least && (*link)->number > (*found)->number)) {
            found = link;
            least = count;
        }
    }
    return found;
}

struct sim_ticket **sim_late_turn(struct sim_ticket **ready, bool busy, struct sim_ticket *newest,
                                  uint64_t *wait_ns)
{
    const uint64_t now = sim_clock_ns();
    struct sim_ticket *next = *ready, **found;
    for (struct sim_ticket *ticket = next; ticket; ticket = ticket->next_ready)
        if (ticket->due_ns < next->due_ns)
            next = ticket;
    const uint64_t until = busy && turn_end_ns > next->due_ns ? turn_end_ns : next->due_ns;
    if (until > now) {
        *wait_ns = until - now;
        return NULL;
    }
    if (next->number > newest_number && next->due_ns) {
        lose_patience(next);
        newest_number = newest->number;
    }
    next->due_ns = 0;
    if (busy && turn_ns > LEAST_NS)
        turn_ns /= 2;
    turn_end_ns = now + turn_ns;
    found = best_of(ready);
    tell_swap(*found);
    (*found)->due_ns = 0;
    return found;
}
