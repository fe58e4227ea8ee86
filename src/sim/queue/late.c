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

static void tell(const char *words, const struct sim_ticket *ticket)
{
    struct sim_report_line line = {.used = 0};
    sim_report_put(&line, "cushim: %s: %s", words, ticket->origin);
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
            tell(words, ticket);
            told++;
        }
}

void sim_late_end(const struct sim_ticket *newest)
{
    if (sim_callers_origin)
        tell_all("exit", NULL, newest);
}

void sim_late_note(struct sim_ticket *ticket, const struct sim_item *item)
{
    const CUDA_MEMCPY3D_v2 *copy = &item->params.memcpy.copyParams;
    void **values = item->params.kernel.kernelParams;
    if (!ticket->origin || !(ticket->uses = calloc(MOST_USES + 1, sizeof *ticket->uses)))
        return;
    switch ((int)item->params.type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        ticket->uses[0] =
            copy->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy->srcHost : copy->srcDevice;
        ticket->uses[1] =
            copy->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy->dstHost : copy->dstDevice;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        ticket->uses[0] = item->params.memset.dst;
        break;
    case CU_GRAPH_NODE_TYPE_KERNEL:
        for (size_t i = 0; values && values[i] && i < MOST_USES; i++)
            memcpy(&ticket->uses[i], values[i], sizeof *ticket->uses);
        break;
    default:
        break;
    }
}

static bool share(const struct sim_ticket *one, const struct sim_ticket *other)
{
    for (size_t i = 0; one->uses && other->uses && i < MOST_USES; i++)
        for (size_t k = 0; one->uses[i] >= LEAST_ADDRESS && k < MOST_USES; k++)
            if (one->uses[i] == other->uses[k])
                return true;
    return false;
}

/* What is older and not done has changed places with `first`, which waits for nothing. Those that
 * use one address tell more than others, and those of one place, such as a loop over streams, less.
 */
static void tell_swap(const struct sim_ticket *first)
{
    static int told;
    const struct sim_ticket *before = NULL, *ticket = first->origin ? first->older : NULL;
    int best = told;
    for (unsigned i = 0; ticket && best < 3 && i < MOST_LOOKED_AT; ticket = ticket->older, i++) {
        if (!ticket->origin)
            continue;
        const int weight = share(first, ticket)                         ? 3
                           : strcmp(first->origin, ticket->origin) != 0 ? 2
                                                                        : 1;
        if (weight > best) {
            best = weight;
            before = ticket;
        }
    }
    if (!before)
        return;
    told = best;
    tell("it ran first", first);
    tell("it was queued before that", before);
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

/* What comes before others is mostly older, but for the end of a graph. */
static void spread(struct sim_ticket *newest)
{
    newest_number = newest ? newest->number : 0;
    for (bool more = true; more;) {
        more = false;
        for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
            if (ticket->due_ns && is_before_wanted(ticket)) {
                ticket->due_ns = 0;
                more = true;
            }
    }
    pthread_cond_broadcast(&sim_late_changed);
}

void sim_late_want(struct sim_ticket *ticket, struct sim_ticket *newest)
{
    if (ticket->due_ns == 0)
        return;
    ticket->due_ns = 0;
    spread(newest);
}

void sim_late_want_all(const struct sim_context *context, struct sim_ticket *newest)
{
    if (!sim_late)
        return;
    char *call = sim_callers_of_call();
    if (call)
        tell_all(call, context, newest);
    free(call);
    for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
        if (!context || ticket->context == context)
            ticket->due_ns = 0;
    spread(newest);
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
        tell("not waited for in time", ticket);
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
