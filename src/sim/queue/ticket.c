/* SPDX-License-Identifier: MIT */
/* Work in order: tickets that wait for other tickets, and the threads that run what is ready.
 * A thread per piece of work that can run, made when none is free: work may block for as long as
 * it likes (a callback, a wait for memory to change) without holding other streams up. */
#include "queue/ticket.h"

#include "ptx/ptx.h"

#define IDLE_MAX 8  /* threads kept for later */
#define QUESTIONS 8 /* of a loop; who asks once may only flush the queue */

struct worker {
    pthread_t id;
    bool busy, detached; /* detached: nobody joins it */
    bool yields;         /* what it works on waits for others' work */
    struct worker *next;
};

static uint64_t newest_number;
static _Thread_local uint64_t made_number; /* of the thread's last one */
static struct sim_ticket *oldest, *newest; /* that are not done */
static struct sim_ticket *ready_first, **ready_end = &ready_first;
static atomic_uint ready_count;
static struct worker *workers, *leaving; /* the latter only have to be joined */
static _Thread_local struct worker *self;
static unsigned coming; /* workers that will look at the ready list by themselves */
static unsigned idle;   /* workers that must be woken for that */
static bool stopping;
static pthread_cond_t ready_changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done_changed = PTHREAD_COND_INITIALIZER;

/* --- Tickets --- */

struct sim_ticket *sim_ticket_retain(struct sim_ticket *ticket)
{
    if (ticket)
        ticket->references++;
    return ticket;
}

void sim_ticket_release(struct sim_ticket *ticket)
{
    if (ticket && --ticket->references == 0) {
        free(ticket->origin);
        free(ticket);
    }
}

bool sim_ticket_done(const struct sim_ticket *ticket)
{
    return ticket->done;
}

bool sim_ticket_ask(struct sim_ticket *ticket)
{
    if (!ticket->done && ++ticket->asked == QUESTIONS)
        sim_late_want(ticket, NULL, newest);
    return ticket->done;
}

uint64_t sim_ticket_end_ns(const struct sim_ticket *ticket)
{
    return ticket->end_ns;
}

static void glance(struct sim_ticket *ticket)
{
    if (ticket->done)
        return;
    sim_ticket_retain(ticket);
    sim_lock_glance(&ticket->done);
    sim_ticket_release(ticket);
}

void sim_ticket_wait(struct sim_ticket *ticket)
{
    sim_late_want(ticket, NULL, newest);
    const uint64_t number = newest_number;
    glance(ticket);
    while (!ticket->done)
        sim_lock_wait(&done_changed);
    if (sim_late_reorders && !self)
        sim_late_settle(&oldest, number, &done_changed);
    sim_expire_all(); /* also if nothing was to be waited for */
}

void sim_ticket_wait_all(const struct sim_context *context)
{
    sim_late_want(NULL, context, newest);
    if (context && context->tickets != 0)
        glance(newest);
    while (context ? context->tickets != 0 : !!oldest)
        sim_lock_wait(&done_changed);
    sim_expire_all();
}

void sim_ticket_hurry(void)
{
    struct sim_ticket *ticket = newest;
    if (!sim_late_hurries || sim_current_in_callback)
        return;
    while (ticket && (ticket->maker != &made_number || ticket->due_ns))
        ticket = ticket->older;
    sim_late_hurry(sim_ticket_retain(ticket), made_number, &done_changed);
    sim_ticket_release(ticket);
}

uint64_t sim_ticket_newest(void)
{
    return newest_number;
}

uint64_t sim_ticket_done_up_to(void)
{
    return oldest ? oldest->number - 1 : newest_number;
}

static CUresult wait_for(struct sim_ticket *ticket, struct sim_ticket *before)
{
    if (!before || before->done || before == ticket)
        return CUDA_SUCCESS;
    SIM_NEW(struct sim_edge, edge);
    edge->waiter = ticket;
    edge->next = before->waiters;
    before->waiters = edge;
    ticket->missing++;
    if (ticket->due_ns == 0) /* such as the end of a graph, which is made before its nodes */
        ticket->due_ns = before->due_ns;
    return CUDA_SUCCESS;
}

struct sim_ticket *sim_ticket_make(struct sim_context *context, sim_work *work, void *user,
                                   void (*drop)(void *))
{
    struct sim_ticket *ticket = calloc(1, sizeof *ticket);
    if (!ticket) {
        if (drop)
            drop(user);
        return NULL;
    }
    ticket->references = 2; /* the caller's, and the queue's until it is done */
    ticket->missing = 1;    /* until it is started */
    if (context) {
        ticket->context = sim_context_retain(context);
        context->tickets++;
    }
    ticket->work = work;
    ticket->user = user;
    ticket->drop = drop;
    ticket->number = made_number = ++newest_number;
    ticket->maker = &made_number;
    if (context)
        (void)wait_for(ticket, sim_late_make(ticket, self ? NULL : newest));
    SIM_LIST_ADD(oldest, newest, ticket, newer, older);
    return ticket;
}

CUresult sim_ticket_after(struct sim_ticket *ticket, struct sim_ticket *before)
{
    if (sim_late_reorders && before)
        sim_late_chain(ticket, before);
    return wait_for(ticket, before);
}

void sim_ticket_always(struct sim_ticket *ticket)
{
    ticket->always = true;
}

void sim_ticket_cancel(struct sim_ticket *ticket)
{
    if (ticket->drop)
        ticket->drop(ticket->user);
    ticket->drop = NULL;
    ticket->work = NULL;
}

bool sim_ticket_error_is_sticky(CUresult result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT ||
           result == CUDA_ERROR_ASSERT || result == CUDA_ERROR_ECC_UNCORRECTABLE ||
           (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

/* With the lock; gives it up while the work runs. A context with an error runs nothing more. */
static void execute(struct sim_ticket *ticket)
{
    struct sim_context *context = ticket->context;
    ticket->result = context ? context->sticky : CUDA_SUCCESS;
    sim_late_compare(ticket);
    if (ticket->work && (ticket->always || ticket->result == CUDA_SUCCESS)) {
        sim_lock_leave();
        CUresult result = ticket->work(ticket->user);
        sim_lock_begin(); /* what a caller holds expires in sim_ticket_run_here */
        if (context && sim_ticket_error_is_sticky(result))
            sim_device_fail(context->device, result);
        ticket->result = result;
    }
    sim_ticket_cancel(ticket);
}

/* --- Threads --- */

static bool is_busy(void)
{
    const struct worker *worker = workers;
    while (worker && (!worker->busy || worker->yields))
        worker = worker->next;
    return worker;
}

/* Under the rule `reorder`: what begins next. Gives the lock up until it may. */
static struct sim_ticket **wait_turn(void)
{
    struct sim_ticket **link = NULL;
    uint64_t wait_ns = 0;
    while (ready_first && !stopping &&
           !(link = sim_late_turn(&ready_first, is_busy(), newest, &wait_ns)))
        sim_lock_wait_ns(&sim_late_changed, wait_ns);
    return link;
}

static struct sim_ticket *take_ready(void)
{
    struct sim_ticket **link = sim_late_reorders && workers ? wait_turn() : &ready_first;
    struct sim_ticket *ticket = link ? *link : NULL;
    if (!ticket)
        return NULL;
    *link = ticket->next_ready;
    if (!*link)
        ready_end = link;
    ready_count--;
    return ticket;
}

static void finish(struct sim_ticket *ticket);

/* Takes itself off the list of workers. */
static void leave(struct worker *worker)
{
    struct worker **link = &workers;
    while (*link && *link != worker)
        link = &(*link)->next;
    if (!*link) { /* the library ends: it has the worker in hand, or has let it go */
        if (worker->detached)
            free(worker);
        return;
    }
    *link = worker->next;
    worker->next = leaving;
    leaving = worker;
}

static void *work_loop(void *user)
{
    struct worker *worker = user;
    self = worker;
    sim_lock_enter();
    for (;;) {
        struct sim_ticket *ticket = stopping ? NULL : take_ready();
        if (ticket) {
            coming--;
            if (ticket->due_ns) {
                sim_late_linger(ticket, &stopping);
                if (stopping)
                    break;
            }
            worker->busy = true;
            worker->yields = false;
            execute(ticket);
            worker->busy = false;
            coming++;
            finish(ticket);
            continue;
        }
        if (!stopping) {
            sim_lock_glance(&ready_count);
            if (ready_count != 0)
                continue;
        }
        coming--;
        if (stopping || idle >= IDLE_MAX)
            break;
        idle++;
        sim_lock_wait(&ready_changed);
        idle--;
        coming++;
    }
    leave(worker);
    sim_lock_leave();
    return NULL;
}

static void join_leaving(void)
{
    while (leaving) {
        struct worker *worker = leaving;
        leaving = worker->next;
        pthread_join(worker->id, NULL); /* it has given the lock up, and ends */
        free(worker);
    }
}

static bool start_worker(void)
{
    struct worker *worker = stopping ? NULL : calloc(1, sizeof *worker);
    if (!worker)
        return false;
    if (!ptx_thread_start(&worker->id, 1 << 20, work_loop, worker)) {
        free(worker);
        return false;
    }
    worker->next = workers;
    workers = worker;
    coming++;
    return true;
}

static void make_ready(struct sim_ticket *ticket)
{
    if (ticket->claimed) {
        pthread_cond_broadcast(&done_changed);
        return;
    }
    ticket->next_ready = NULL;
    *ready_end = ticket;
    ready_end = &ticket->next_ready;
    ready_count++;
    if (sim_late_reorders)
        pthread_cond_broadcast(&sim_late_changed);
    if (ready_count <= coming)
        return;
    if (ready_count <= coming + idle)
        pthread_cond_signal(&ready_changed);
    else
        (void)start_worker();
}

/* The queue's part in a ticket that is done. */
static void forget(struct sim_ticket *ticket)
{
    struct sim_context *context = ticket->context;
    ticket->context = NULL;
    SIM_LIST_REMOVE(oldest, newest, ticket, newer, older);
    if (context) {
        context->tickets--;
        sim_context_release(context);
    }
    sim_ticket_release(ticket);
}

static void finish(struct sim_ticket *ticket)
{
    ticket->done = true;
    ticket->end_ns = sim_clock_ns();
    for (struct sim_edge *edge = ticket->waiters, *next; edge; edge = next) {
        struct sim_ticket *waiter = edge->waiter;
        next = edge->next;
        free(edge);
        if (--waiter->missing != 0)
            continue;
        if (waiter->work || waiter->claimed) {
            make_ready(waiter);
        } else { /* nothing to run: no thread for it, and no recursion either */
            execute(waiter);
            waiter->done = true;
            waiter->end_ns = ticket->end_ns;
            for (struct sim_edge *last = waiter->waiters; last; last = last->next)
                if (!last->next) {
                    last->next = next;
                    next = waiter->waiters;
                    break;
                }
            waiter->waiters = NULL;
            forget(waiter);
        }
    }
    ticket->waiters = NULL;
    pthread_cond_broadcast(&done_changed);
    forget(ticket);
}

/* No thread could be made and none exists: the caller does the work. */
static void work_without_threads(void)
{
    struct sim_ticket *ticket;
    while (!workers && (ticket = take_ready())) {
        execute(ticket);
        finish(ticket);
    }
}

void sim_ticket_start(struct sim_ticket *ticket)
{
    if (leaving)
        join_leaving();
    if (sim_late_reorders)
        sim_late_start(ticket, newest);
    if (--ticket->missing != 0)
        return;
    if (ticket->work) {
        make_ready(ticket);
        if (!workers)
            work_without_threads();
    } else {
        execute(ticket);
        finish(ticket);
    }
}

void sim_ticket_begin(struct sim_ticket *ticket)
{
    sim_ticket_start(ticket);
    sim_ticket_release(ticket);
}

void sim_ticket_yield(void)
{
    if (!sim_late_reorders || !self)
        return;
    sim_lock_enter();
    self->yields = true;
    pthread_cond_broadcast(&sim_late_changed);
    sim_lock_leave();
}

CUresult sim_ticket_run_here(struct sim_ticket *ticket)
{
    if (sim_late_reorders) { /* in its turn, as others */
        sim_ticket_start(ticket);
        sim_ticket_wait(ticket);
        return ticket->result;
    }
    ticket->claimed = true;
    sim_late_want(ticket, NULL, newest);
    ticket->missing--;
    while (ticket->missing != 0)
        sim_lock_wait(&done_changed);
    execute(ticket);
    finish(ticket);
    if (!workers)
        work_without_threads();
    sim_expire_all();
    return ticket->result;
}

/* --- The process's other moments --- */

static void in_child(void)
{
    /* None of the threads is here, and nothing of the parent's work may run twice. */
    ready_first = oldest = newest = NULL;
    ready_end = &ready_first;
    self = NULL;
    ready_count = coming = idle = 0;
    workers = leaving = NULL;
    ready_changed = done_changed = sim_late_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    sim_lock_leave();
}

static void watch_fork(void)
{
    sim_callers_prepare();
    (void)pthread_atfork(sim_lock_enter, sim_lock_leave, in_child);
}

void sim_ticket_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch_fork);
}

/* The process ends, or the library is unloaded without having had threads. A thread that still
 * works is left alone: waiting for it could take for ever. What has not begun never begins. */
void sim_ticket_unload(void)
{
    bool all_done = true; /* nobody works any more */
    sim_lock_enter();
    stopping = true;
    sim_late_end();
    pthread_cond_broadcast(&ready_changed);
    pthread_cond_broadcast(&sim_late_changed);
    while (workers) {
        struct worker *worker = workers;
        workers = worker->next;
        if (worker->busy) {
            pthread_detach(worker->id);
            worker->detached = true;
            all_done = false;
            continue;
        }
        sim_lock_leave();
        pthread_join(worker->id, NULL);
        sim_lock_enter();
        free(worker);
    }
    join_leaving();
    sim_expire_renew_all(); /* a search for leaks looks into what is not forbidden alone */
    sim_lock_leave();
    if (all_done)
        ptx_pool_close();
}
