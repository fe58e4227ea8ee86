/* SPDX-License-Identifier: MIT */
/* The fault rule `late`: work begins as late as a device may begin it, so that what a program does
 * not wait for is not done. A thread has each ticket whose turn it is, and lingers.
 * The rule `early`: a call that queues work returns when it is done. With `late:from=N` all work
 * before the Nth is early: if the program fails, and does not fail from the next one on, that one
 * is the cause. The log has what came of it.
 * The rule `reorder`: as soon as one is wanted, what is ready begins one by one, the newest first,
 * and what is of one chain, such as a stream, behind all that nothing orders behind it. If each
 * chain was the last one once, each pair without an order has had the other order. A wait is one
 * for all that was queued, so that no wait is missing.
 */
#include "queue/ticket.h"

#include <stdio.h>

/* Long enough for what a program does before it reads what it did not wait for. One that waits by
 * other means, such as a callback, loses no more than 32 times that: each time makes the next one
 * shorter, down to the least. */
#define PATIENCE_NS UINT64_C(100000000)
#define LEAST_NS UINT64_C(1000000)
/* For one alone, which may wait for another's work, or for the host. Each time makes the next one
 * half as long. */
#define TURN_NS UINT64_C(1000000000)
#define MOST_STREAMS 32
#define MOST_CHAINS 63

bool sim_late_reorders, sim_late_hurries;
pthread_cond_t sim_late_changed = PTHREAD_COND_INITIALIZER;
static uint64_t patience_ns = PATIENCE_NS, turn_ns = TURN_NS, turn_end_ns;
static uint64_t newest_number;             /* when one was last wanted: what is newer stays late */
static uint64_t late_from = UINT64_MAX;    /* of the pieces of work: what is before is early */
static uint64_t late_before;               /* from there on, they run behind the first late one */
static uint64_t queued;                    /* so many there were */
static _Thread_local uint64_t call_number; /* of the thread's last ticket of the calls before */
static struct sim_ticket *first;           /* that is late, until it runs */
static bool first_told;                    /* the log has it */
static uint64_t last_chain;                /* what is ready of another one runs first */
static unsigned chains;                    /* so many there were */
static const unsigned char *source;        /* what it reads of the host's; NULL: nothing */
static size_t source_size;
static uint64_t source_sum;

/* --- What the log has of it --- */

static void tell(const char *words, const char *origin)
{
    struct sim_report_line line = {.used = 0};
    sim_report_put(&line, "cushim: %s: %s", words, origin ? origin : "");
    if (origin)
        sim_report_log(&line);
}

/* It begins, at this call; NULL: at none. */
static void tell_begin(const struct sim_ticket *ticket, const char *call)
{
    if (ticket != first || first_told)
        return;
    first_told = true;
    tell("it is late", ticket->origin);
    tell("it began at", call);
}

void sim_late_end(void)
{
    char text[16];
    if (first)
        tell_begin(first, NULL);
    snprintf(text, sizeof text, "%u", chains);
    if (sim_late_reorders && sim_report_has_log())
        tell("chains of work", text);
}

static uint64_t sum_of_source(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < source_size; i++)
        sum = (sum ^ source[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void sim_late_compare(const struct sim_ticket *ticket)
{
    if (!first || ticket != first)
        return;
    tell_begin(ticket, NULL);
    if (source && source_sum != sum_of_source())
        tell("the host changed what it reads", ticket->origin);
    source = NULL;
    first = NULL;
}

void sim_late_note(struct sim_ticket *ticket, const struct sim_item *item)
{
    if (ticket->due_ns && item->params.type == CU_GRAPH_NODE_TYPE_HOST)
        ticket->due_ns -= patience_ns / 2; /* before what it is not ordered behind */
    if (ticket != first || ticket->older || sim_late_reorders)
        return;
    source = item->reads;
    source_size = item->read_size;
    source_sum = source ? sum_of_source() : 0;
}

/* --- When work begins --- */

void sim_late_begin(bool late, bool reorders, uint64_t from, uint64_t before, uint64_t last)
{
    sim_late_reorders = reorders;
    sim_late_hurries = late && from > 1;
    late_from = late ? from : UINT64_MAX;
    late_before = before;
    last_chain = last;
    queued = 0;
    first = NULL;
    first_told = false;
    source = NULL;
}

struct sim_ticket *sim_late_make(struct sim_ticket *ticket, struct sim_ticket *before)
{
    queued += !!ticket->work;
    if (queued < late_from) { /* early: in order, such as nodes of a graph without edges */
        if (!sim_late_hurries || !ticket->work)
            return NULL;
        while (before && before->number > call_number &&
               (!before->work || before->maker != ticket->maker))
            before = before->older;
        return before && before->number > call_number ? before : NULL;
    }
    ticket->due_ns = sim_clock_ns() + patience_ns;
    if (ticket->work && (queued == late_from || queued == late_before))
        ticket->origin = sim_callers_of_call();
    if (queued == late_before && ticket->work)
        tell("this one runs behind it", ticket->origin);
    if (queued == late_from && ticket->work)
        first = ticket;
    if (late_before && queued >= late_before)
        return first;
    while (before && !before->work)
        before = before->older;
    return last_chain && !sim_late_reorders && ticket->work ? before : NULL; /* as one stream */
}

/* Waits a little, but not for ever: the work may wait for the caller. */
static bool is_before(uint64_t end, pthread_cond_t *changed)
{
    const uint64_t now = sim_clock_ns();
    if (now < end)
        sim_lock_wait_ns(changed, end - now);
    else if (turn_ns > LEAST_NS)
        turn_ns /= 2;
    return now < end;
}

void sim_late_hurry(const struct sim_ticket *last, uint64_t number, pthread_cond_t *changed)
{
    const bool own = last && last->number > call_number;
    call_number = number;
    for (uint64_t end = sim_clock_ns() + turn_ns; own && !last->done && is_before(end, changed);)
        ;
}

void sim_late_settle(struct sim_ticket *const *oldest, uint64_t newest, pthread_cond_t *changed)
{
    for (uint64_t end = sim_clock_ns() + turn_ns;
         *oldest && (*oldest)->number <= newest && is_before(end, changed);)
        ;
}

static bool is_before_wanted(const struct sim_ticket *ticket)
{
    for (const struct sim_edge *edge = ticket->waiters; edge; edge = edge->next)
        if (edge->waiter->due_ns == 0)
            return true;
    return false;
}

static void begin(struct sim_ticket *ticket, const char *call)
{
    ticket->due_ns = 0;
    tell_begin(ticket, call);
}

/* Work is a set of chains: streams, and branches of graphs. Each keeps its number. */
void sim_late_chain(struct sim_ticket *ticket, struct sim_ticket *before)
{
    if (ticket->chain)
        return;
    ticket->branches = before->followed;
    if (!before->followed)
        ticket->chain = before->chain;
    before->followed = true;
}

void sim_late_start(struct sim_ticket *ticket, const struct sim_ticket *newest)
{
    static unsigned streams;
    uint64_t taken = (UINT64_C(2) << streams) - 1;
    for (; newest && !ticket->chain; newest = newest->older)
        taken |= UINT64_C(1) << newest->chain;
    if (!ticket->chain && (ticket->branches || streams == MOST_STREAMS))
        ticket->chain = ~taken ? (unsigned char)__builtin_ctzll(~taken) : MOST_CHAINS;
    else if (!ticket->chain)
        ticket->chain = (unsigned char)++streams;
    if (ticket->chain > chains)
        chains = ticket->chain;
}

/* What comes before others is mostly older, but for the end of a graph. */
static void spread(struct sim_ticket *newest, const char *call)
{
    newest_number = newest ? newest->number : 0;
    for (bool more = true; more;) {
        more = false;
        for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
            if (ticket->due_ns && is_before_wanted(ticket)) {
                begin(ticket, call);
                more = true;
            }
    }
    pthread_cond_broadcast(&sim_late_changed);
}

void sim_late_want(const struct sim_ticket *one, const struct sim_context *context,
                   struct sim_ticket *newest)
{
    if (late_from == UINT64_MAX || (one && one->due_ns == 0))
        return;
    char *call = first && !first_told ? sim_callers_of_call() : NULL;
    for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
        if (one ? ticket == one : !context || ticket->context == context)
            begin(ticket, call);
    spread(newest, call);
    free(call);
}

/* Its time is over. */
static void lose_patience(const struct sim_ticket *ticket)
{
    if (patience_ns > LEAST_NS)
        patience_ns -= patience_ns / 32;
    tell_begin(ticket, NULL);
}

void sim_late_linger(const struct sim_ticket *ticket, const bool *stop)
{
    for (uint64_t now; !*stop && (now = sim_clock_ns()) < ticket->due_ns;) {
        sim_lock_wait_ns(&sim_late_changed, ticket->due_ns - now);
        if (ticket->due_ns && sim_clock_ns() >= ticket->due_ns)
            lose_patience(ticket);
    }
}

/* Of those that may begin, one of the last chain only if there is no other; else the newest. */
static struct sim_ticket **best_of(struct sim_ticket **link)
{
    struct sim_ticket **found = NULL;
    for (; *link; link = &(*link)->next_ready) {
        const struct sim_ticket *ticket = *link;
        const bool last = ticket->chain == last_chain;
        if (ticket->due_ns && ticket->number > newest_number)
            continue;
        if (!found ||
            (last == ((*found)->chain == last_chain) ? ticket->number > (*found)->number : !last))
            found = link;
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
    (*found)->due_ns = 0;
    return found;
}
