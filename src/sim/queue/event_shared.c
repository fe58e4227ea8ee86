/* SPDX-License-Identifier: MIT */
#include "queue/queue.h"

#include <sys/mman.h>

enum { SLOTS = 16 };

struct recorder { /* who made a record: if that process is gone, its work is */
    uint64_t number, start;
    int64_t process;
};
struct page {                /* what the processes share */
    uint64_t recorded, done; /* numbers of records, from 1 */
    uint32_t changes, zero;  /* waited for */
    struct recorder recorders[SLOTS];
};
struct sim_event_shared {
    struct page *page;
    struct sim_shared *file; /* kept by the maker alone: tokens name it */
    uint64_t own;            /* the latest record of this process's */
    unsigned references;     /* the event's, and those of work; with the driver's lock */
};

static struct sim_event_shared *make(struct sim_shared *file)
{
    bool fits = file && file->head.size == sizeof(struct page);
    struct sim_event_shared *made = fits ? calloc(1, sizeof *made) : NULL;
    struct page *page = made ? sim_shared_map(file, NULL) : NULL;
    if (!page) {
        free(made);
        sim_shared_close(file);
        return NULL;
    }
    made->page = page;
    made->file = file;
    made->references = 1;
    return made;
}

void sim_event_shared_release(struct sim_event_shared *shared)
{
    if (!shared || --shared->references)
        return;
    munmap(shared->page, sizeof *shared->page);
    sim_shared_close(shared->file);
    free(shared);
}

CUresult sim_event_shared_begin(struct sim_event *event, struct sim_shared_token *token)
{
    if (!event->shared) {
        struct sim_shared_head head = {
            .kind = SIM_SHARED_EVENT, .size = sizeof(struct page), .device = -1};
        event->shared = make(sim_shared_make(&head, NULL));
        SIM_FAIL(OUT_OF_MEMORY, !event->shared);
        if (event->ticket) { /* recorded before */
            struct sim_ticket *before = event->ticket;
            event->ticket = sim_event_shared_record(event, before);
            sim_ticket_release(before);
        }
    }
    SIM_FAIL(INVALID_HANDLE, !event->shared->file); /* it is another process's */
    *token = sim_shared_token(event->shared->file);
    return CUDA_SUCCESS;
}

struct sim_event_shared *sim_event_shared_open(const struct sim_shared_token *token)
{
    struct sim_event_shared *made = make(sim_shared_open(token));
    if (made) {
        sim_shared_close(made->file);
        made->file = NULL;
    }
    return made;
}

/* --- Records --- */

static void raise_to(uint64_t *place, uint64_t number)
{
    uint64_t now = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    while (now < number && !__atomic_compare_exchange_n(place, &now, number, false,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
}

static void finish(struct page *page, uint64_t number)
{
    raise_to(&page->done, number);
    sim_shared_wake(&page->changes);
}

struct record { /* a record as work, or the wait for one */
    struct sim_event_shared *shared;
    struct sim_context *context; /* of the wait: it gives up when that closes */
    uint64_t number;
};

static CUresult finish_record(void *user)
{
    const struct record *record = user;
    finish(record->shared->page, record->number);
    return CUDA_SUCCESS;
}

static void drop_record(void *user)
{
    struct record *record = user;
    sim_event_shared_release(record->shared);
    if (record->context)
        sim_context_release(record->context);
    free(record);
}

static struct record *record_of(struct sim_event_shared *shared, uint64_t number,
                                struct sim_context *context)
{
    struct record *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    shared->references++;
    *made = (struct record){shared, context ? sim_context_retain(context) : NULL, number};
    return made;
}

struct sim_ticket *sim_event_shared_record(struct sim_event *event, struct sim_ticket *ticket)
{
    struct page *page = event->shared->page;
    uint64_t number = __atomic_add_fetch(&page->recorded, 1, __ATOMIC_ACQ_REL);
    struct recorder *recorder = &page->recorders[number % SLOTS];
    recorder->process = getpid();
    recorder->start = sim_shared_process_start((int32_t)getpid());
    __atomic_store_n(&recorder->number, number, __ATOMIC_RELEASE);
    event->shared->own = number;
    struct record *record = record_of(event->shared, number, NULL);
    struct sim_ticket *made =
        record ? sim_ticket_make(event->object.context, finish_record, record, drop_record) : NULL;
    if (!made || sim_ticket_after(made, ticket) != CUDA_SUCCESS) {
        /* No memory to tell when: better early than never. */
        finish(page, number);
        if (made) {
            sim_ticket_cancel(made);
            sim_ticket_begin(made);
        }
        return sim_ticket_retain(ticket);
    }
    sim_ticket_always(made);
    sim_ticket_start(made);
    return made;
}

/* --- Waits --- */

static uint64_t latest(const struct sim_event *event)
{
    return __atomic_load_n(&event->shared->page->recorded, __ATOMIC_ACQUIRE);
}

bool sim_event_shared_is_foreign(const struct sim_event *event)
{
    return event->shared && latest(event) != event->shared->own;
}

static bool is_lost(const struct page *page, uint64_t number)
{
    const struct recorder *recorder = &page->recorders[number % SLOTS];
    return __atomic_load_n(&recorder->number, __ATOMIC_ACQUIRE) == number &&
           sim_shared_process_start((int32_t)recorder->process) != recorder->start;
}

static bool is_done(struct page *page, uint64_t number)
{
    if (__atomic_load_n(&page->done, __ATOMIC_ACQUIRE) >= number)
        return true;
    if (!is_lost(page, number))
        return false;
    finish(page, number);
    return true;
}

bool sim_event_shared_done(const struct sim_event *event)
{
    return is_done(event->shared->page, latest(event));
}

/* Without the lock. */
static CUresult wait_record(void *user)
{
    const struct record *record = user;
    struct page *page = record->shared->page;
    while (!__atomic_load_n(&record->context->closing, __ATOMIC_RELAXED)) {
        uint32_t changes = __atomic_load_n(&page->changes, __ATOMIC_ACQUIRE);
        if (is_done(page, record->number))
            break;
        sim_ticket_yield();
        sim_shared_wait(&page->changes, changes);
    }
    return CUDA_SUCCESS;
}

CUresult sim_event_shared_ticket(const struct sim_event *event, struct sim_context *context,
                                 struct sim_ticket **ticket)
{
    *ticket = NULL;
    if (!sim_event_shared_is_foreign(event)) {
        *ticket = sim_ticket_retain(event->ticket);
    } else if (!sim_event_shared_done(event)) {
        SIM_MADE(struct record *, record, record_of(event->shared, latest(event), context));
        *ticket = sim_ticket_make(context, wait_record, record, drop_record);
        SIM_FAIL(OUT_OF_MEMORY, !*ticket);
        sim_ticket_start(*ticket);
    }
    return CUDA_SUCCESS;
}
