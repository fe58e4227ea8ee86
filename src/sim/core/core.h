/* SPDX-License-Identifier: MIT */
/* What every room uses: lock, clock, objects, contexts, reports, and what processes share. */
#ifndef CUSHIM_SIM_CORE_CORE_H
#define CUSHIM_SIM_CORE_CORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "core/config.h"
#include "sim.h"

/* --- Clock --- */
static inline uint64_t sim_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t sim_rounded_up(uint64_t size, uint64_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* An array with room for one more item, or NULL: no memory for it, and nothing has changed. */
static inline void *sim_grown(void *items, size_t count, size_t *capacity, size_t size)
{
    size_t more = *capacity ? 2 * *capacity : 8;
    if (count < *capacity)
        return items;
    void *grown = realloc(items, more * size);
    *capacity = grown ? more : *capacity;
    return grown;
}

/* Lists: an item goes to the end of one between `first` and `last`, or off it. */
#define SIM_LIST_ADD(first, last, item, next, previous)                                            \
    do {                                                                                           \
        (item)->next = NULL;                                                                       \
        (item)->previous = last;                                                                   \
        *((last) ? &(last)->next : &(first)) = item;                                               \
        last = item;                                                                               \
    } while (0)
#define SIM_LIST_REMOVE(first, last, item, next, previous)                                         \
    do {                                                                                           \
        *((item)->previous ? &(item)->previous->next : &(first)) = (item)->next;                   \
        *((item)->next ? &(item)->next->previous : &(last)) = (item)->previous;                    \
    } while (0)

/* --- callers.c --- Where the program called from. */
void sim_callers_prepare(void); /* reads CUSHIM_SIM_CALLERS; without the driver's lock */
extern bool sim_callers_wanted;
/* "\t/path/program+0x12\t..." from the call outwards, as many whole ones as fit: of functions whose
 * frames are above `inner`, an address on the stack. The length, 0 unless they are wanted. */
size_t sim_callers_put(char *text, size_t size, const void *inner);
/* The same of what a signal interrupted, from its handler: no lock and no memory is taken. */
size_t sim_callers_put_signal(char *text, size_t size);
/* The symbol of the thread's call, and these, from malloc; NULL: none. It is NULL unless they are
 * wanted. */
extern char *(*sim_callers_origin)(void);
static inline char *sim_callers_of_call(void)
{
    return sim_callers_origin ? sim_callers_origin() : NULL;
}

/* --- ended.c --- Where a signal ended the program. */
void sim_ended_watch(void);               /* if callers are wanted, and there is a log */
void sim_ended_hurry(void (*last)(void)); /* to do for SIGTERM, in the handler */
void sim_ended_unload(void);

/* --- object.c --- Objects behind handles: a destroyed handle is recognised, never touched. */
enum sim_kind {
#define SIM_KIND(kind, name, end) SIM_##kind,
#include "core/kinds.def"
    SIM_KIND_COUNT
};
struct sim_object { /* first member of every object */
    enum sim_kind kind;
    struct sim_context *context;        /* or NULL */
    struct sim_object *next, *previous; /* of its kind */
    struct sim_object *chain;           /* hash */
    uint64_t serial; /* no two objects have the same: a new one may get a dead one's address */
    char *origin;    /* what made it, if that is wanted (callers.c) */
    bool pinned;     /* by what owns or claims it: its look-ups do not expire (expire.c) */
};
struct sim_class { /* of a kind: context/kinds.c has the table */
    const char *name;
    void (*end)(struct sim_object *object); /* with its context; NULL: it ends with another object,
                                               or is the process's */
};
void sim_object_add(struct sim_object *object, enum sim_kind kind, struct sim_context *context);
void sim_object_remove(struct sim_object *object); /* the memory stays the caller's */
/* The live object of this kind at `handle`, or NULL. Never dereferences a dead handle. */
void *sim_object(enum sim_kind kind, const void *handle);
/* Finds it; what a call answers where there is none. */
#define SIM_FOUND(name, kind, handle)                                                              \
    (((name) = sim_object(kind, handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE)
/* Whether the object that had this handle and serial is still alive. Ask after every place that
 * gave the driver's lock up: another thread may have destroyed it. */
bool sim_object_alive(enum sim_kind kind, const void *handle, uint64_t serial);
struct sim_object *sim_object_first(enum sim_kind kind); /* first of the list, through ->next */
#define SIM_EACH(type, one, kind)                                                                  \
    for (type *one = (type *)sim_object_first(kind); one; one = (type *)one->object.next)
/* For expire.c. */
void sim_object_expire_all(void);
void sim_object_renew_all(void);

/* --- context.c --- Contexts, as every room knows them. */
/* Settings for dumps of a device's memory. */
struct sim_dumps {
    bool on_exception, of_host_too, without_memory, when_asked;
    unsigned generation;
    char file[1024], pipe[1024];
};
struct sim_context {
    struct sim_object object;
    struct sim_device *device;
    unsigned flags;
    uint64_t id;
    bool primary;
    unsigned attached; /* use count of cuCtxAttach */
    CUresult sticky;   /* error that every later call answers */
    size_t limits[16]; /* by enum CUlimit */
    CUfunc_cache cache;
    CUsharedconfig shared_config;
    struct sim_stream *legacy;     /* the NULL stream */
    struct sim_stream *per_thread; /* list, one per host thread */
    unsigned references;           /* to this memory: sim_context_retain */
    bool closing;                  /* read without the lock: what waits for memory gives up */
    size_t tickets;                /* of work that is not done */
    struct sim_ticket *awaited;    /* by all work from now on, of any stream; NULL: nothing */
    uint64_t serial;               /* of this memory: a thread's stack remembers it */
    unsigned api_version;          /* of the entry that made it: 3010, 3020, ... */
    struct sim_peer *peers;        /* contexts whose memory this one may use */
    struct sim_heap *heap;         /* of malloc in kernels (device_heap.c); NULL: none yet */
    struct sim_dumps dumps;        /* the process's when it began */
};
struct sim_peer {
    uint64_t serial; /* of the context whose memory may be used */
    struct sim_peer *next;
};
/* Memory of a context: kept while a reference is held, long after its end if need be. */
struct sim_context *sim_context_retain(struct sim_context *context);
CUresult sim_context_release(struct sim_context *context); /* its state: CUDA_SUCCESS or an error */
/* A handle of a context, also of one that is gone, or is primary and not active. */
struct sim_known {
    struct sim_context *context; /* not to be looked into before sim_stack_alive says so */
    uint64_t serial;             /* of the latest context that had the handle */
    struct sim_device *device;
};
CUresult sim_context_remember(struct sim_context *context);
struct sim_known *sim_context_known(CUcontext handle); /* NULL: it never was one */
/* The link to what `from` has about `to`; to NULL: no access was enabled. */
struct sim_peer **sim_context_peer(const struct sim_context *from, const struct sim_context *to);

/* --- current.c --- */
/* The calling thread's context, or the code to answer: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or
 * the context's sticky error. */
CUresult sim_current(struct sim_context **context);
CUresult sim_current_check(void);          /* the same code alone */
struct sim_context *sim_current_any(void); /* without the checks; NULL: none */
/* The context of a handle, where NULL means the current one; its code otherwise. */
CUresult sim_current_of(CUcontext handle, struct sim_context **context);

/* --- expire.c --- Look-ups expire. While a thread waits, or gives the driver's lock up in another
 * way, other threads may destroy any object. So a pointer that was looked up before is worth
 * nothing after: the thread looks the object up again, or has kept it alive by a reference or a
 * claim.
 *
 * A build with AddressSanitizer holds every call to that, without a second thread and without luck:
 * when a thread takes the lock back, all objects and allocations become forbidden memory, and a
 * look-up permits one of them again. The first use of an old pointer is then reported, with both
 * places. Other builds do nothing of it. */
#if defined(__SANITIZE_ADDRESS__)
#define SIM_EXPIRES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_EXPIRES 1
#endif
#endif

#ifdef SIM_EXPIRES
#define SIM_UNCHECKED __attribute__((no_sanitize("address"))) /* may touch what expired */
void sim_expire(void *block);                                 /* one block of malloc's */
/* Looked up, or kept alive by the caller; NULL: nothing. */
void sim_expire_renew(const void *block);
/* All objects are expired and renewed together, and this too. */
void sim_expire_also(void (*expire)(void), void (*renew)(void));
void sim_expire_all(void);       /* the lock was given up meanwhile */
void sim_expire_renew_all(void); /* a call begins: it holds nothing yet */
#else
#define SIM_UNCHECKED
#define sim_expire(block) ((void)(block))
#define sim_expire_renew(block) ((void)(block))
#define sim_expire_all() ((void)0)
#define sim_expire_renew_all() ((void)0)
#endif

/* --- lock.c --- */
void sim_lock_enter(void);
void sim_lock_begin(void); /* the same, of a call that begins: it holds nothing yet */
void sim_lock_leave(void);
void sim_lock_wait(pthread_cond_t *changed); /* with the lock, which it gives up meanwhile */
void sim_lock_wait_ns(pthread_cond_t *changed, uint64_t ns); /* for no longer than that */
/* Before such a wait for `*count` not to be 0, which may end before a thread can sleep and wake. */
void sim_lock_glance(const atomic_uint *count);
extern pthread_mutex_t sim_lock_mutex; /* for one that cannot wait for it */

/* --- machine.c --- What the simulated devices may take of the machine: all of it, or what the
 * process's control group leaves. */
struct sim_machine {
    uint64_t memory;     /* bytes */
    unsigned processors; /* at least one */
};

/* Read anew; `root` comes before each path, "" outside of tests. */
struct sim_machine sim_machine_read(const char *root);

/* --- registration.c --- Functions that a program registers, to be called when something happens.
 */
enum sim_registered {
    SIM_REGISTERED_LOG,
    SIM_REGISTERED_NOTIFICATION,
    SIM_REGISTERED_DUMP_START,
    SIM_REGISTERED_DUMP_COMPLETE,
};
typedef void sim_any_function(void);
struct sim_registration {
    struct sim_object object;
    enum sim_registered what;
    sim_any_function *function; /* of a type that `what` tells */
    void *data;
    int device; /* of a notification */
};

/* *handle is its handle; NULL: nobody asks for that. */
CUresult sim_registration_make(enum sim_registered what, sim_any_function *function, void *data,
                               int device, void **handle);
CUresult sim_registration_end(enum sim_registered what, int device, const void *handle);

/* --- report.c --- What is said to the user. Needs no lock. */
/* `path`: file that lines are appended to, "-" for stderr, NULL or empty for none. False: it cannot
 * be opened, and errno says why. */
bool sim_report_open(const char *path);
bool sim_report_has_log(void);
extern uint64_t sim_report_start_ns; /* when the log was opened */
extern bool sim_report_quiet;        /* no problem on standard error, but in the log alone */
/* A line without its newline to standard error, and to the log. */
void sim_report_say(const char *text);
/* The same, one sentence about a device. */
void sim_report_device(int ordinal, const char *sentence);

/* A line for the log, put together. */
struct sim_report_line {
    char text[4096];
    size_t used;
};
void sim_report_put(struct sim_report_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_report_log(struct sim_report_line *line);

/* --- shared.c --- What processes share: files in memory that have no name (memfd). The last page
 * of one says what it is. Its size is sealed, so that no process can take bytes away from another
 * that uses them.
 *
 * A file goes to another process in two ways. The program passes the file itself on, or it passes
 * on a token: the number of the process and of its file, which the other one opens by /proc. A
 * token is good as long as its maker keeps the file, and for processes of the same user. */
enum sim_shared_kind {
    SIM_SHARED_MEMORY,   /* of cuMemAlloc */
    SIM_SHARED_EVENT,    /* its counters */
    SIM_SHARED_POOL,     /* no bytes: that it is one */
    SIM_SHARED_POOLED,   /* memory of such a pool */
    SIM_SHARED_PHYSICAL, /* of cuMemCreate */
};
struct sim_shared_id { /* no two files have the same, and nobody can guess one */
    uint64_t words[2];
};
struct sim_shared_head { /* the last page */
    uint64_t magic;
    struct sim_shared_id id, owner; /* the latter of memory of a pool: the pool's */
    uint64_t size;                  /* bytes that are shared */
    int32_t process, zero;          /* that made it */
    int32_t kind, device;           /* the device's number without CUDA_VISIBLE_DEVICES; -1: host */
    unsigned char more[128];        /* what the kind adds */
};
struct sim_shared {
    struct sim_shared_head head;
    int file;
};
struct sim_shared_token { /* in the 64 bytes of a handle */
    uint64_t magic;
    struct sim_shared_id id;
    int32_t process, file, kind, zero;
};

/* A file that begins with a copy of `bytes` (NULL: with zeros); head.kind, size, device, owner and
 * more are the caller's. NULL: no memory, or no more files. */
struct sim_shared *sim_shared_make(const struct sim_shared_head *head, const void *bytes);
void sim_shared_close(struct sim_shared *shared); /* NULL: nothing */
/* Map its bytes: at `place`, instead of what is there, or anywhere (NULL). NULL: no memory. */
void *sim_shared_map(const struct sim_shared *shared, void *place);

struct sim_shared_token sim_shared_token(const struct sim_shared *shared);
bool sim_shared_is_token(const struct sim_shared_token *token, enum sim_shared_kind kind);
static inline bool sim_shared_is_own(const struct sim_shared_token *token) /* of this process */
{
    return token->process == (int32_t)getpid();
}
bool sim_shared_has_maker(const struct sim_shared_token *token); /* the process is there */
/* The file of a token of another process. NULL: its process, the file or the right to it is gone,
 * or it is none. */
struct sim_shared *sim_shared_open(const struct sim_shared_token *token);
/* The file that a program passes in, which stays the program's. NULL: it is none. */
struct sim_shared *sim_shared_take(int file);
/* A file for the program, or -1; `kept`: programs that it starts have it, too. */
int sim_shared_give(const struct sim_shared *shared, bool kept);
static inline bool sim_shared_equal(const struct sim_shared_id *a, const struct sim_shared_id *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* A file that has no last page of this kind: its bytes are all there is to it, for a program that
 * knows nothing of this driver. It may grow. -1: no more files. */
int sim_shared_plain_make(void);
/* Behind the `size` bytes of the file, move whole pages there: `bytes` are the file's from now on.
 * False: no memory. */
bool sim_shared_plain_append(int file, size_t size, char *bytes, size_t more);

/* When a process began, in units of its own; 0: there is none of that number. */
uint64_t sim_shared_process_start(int32_t process);
/* Wait until *word is no longer `value`, a tenth of a second at most; and wake all who wait. */
void sim_shared_wait(uint32_t *word, uint32_t value);
void sim_shared_wake(uint32_t *word);

/* --- stack.c --- The calling thread's stack of contexts: entries outlive the contexts they name.
 */
struct sim_known *sim_stack_top(void);               /* destroyed or not; NULL: none */
bool sim_stack_alive(const struct sim_known *entry); /* whether it is no destroyed one, and one */
void sim_stack_unload(void);                         /* sim_start_unload's part */
CUresult sim_stack_push(CUcontext context);          /* a known one */
void sim_stack_pop(void);
CUresult sim_stack_set(CUcontext context); /* replaces the top; NULL takes it off */

/* --- What the calling thread is doing --- */
extern _Thread_local bool sim_current_in_callback; /* of the host: most calls are refused */
extern _Thread_local bool sim_current_per_thread;  /* its call is a _ptsz or _ptds form */

/* --- usage.c --- What each process uses of each device, in a file that the processes of one
 * `cushim sim` share. CUSHIM_SIM_USAGE names the file; without it nothing is noted. The simulated
 * NVML reads it. */
#define SIM_USAGE_PROCESSES 256
#define SIM_USAGE_SETTINGS 16
#define SIM_USAGE_WINDOW_NS UINT64_C(200000000)

/* Of a device, for all processes: what the simulated NVML has set, and all that ever ran. */
struct sim_usage_board {
    _Atomic uint32_t settings[SIM_USAGE_SETTINGS]; /* 0: as it was made */
    _Atomic uint64_t busy_ns;
};
struct sim_usage_device {
    _Atomic uint64_t bytes;         /* of memory in use */
    _Atomic uint64_t busy_ns;       /* time in kernels that have ended */
    _Atomic uint64_t running_since; /* when the first of those that run began */
    _Atomic uint32_t running;       /* kernels */
    _Atomic uint32_t contexts;      /* whether the process has any */
    /* Busy time of the last two windows: its number in the upper half, microseconds in the lower.
     * So a reader that was not there before knows how busy a device was. */
    _Atomic uint64_t windows[2];
    _Atomic uint64_t most_bytes; /* that it ever had in use */
};
struct sim_usage {
    _Atomic int32_t process; /* 0: this place is free */
    int32_t zero;
    _Atomic uint64_t start;                           /* of the process: numbers are used again */
    struct sim_usage_device devices[SIM_MAX_DEVICES]; /* without CUDA_VISIBLE_DEVICES */
};

/* The places of all processes; NULL if there is no file. */
struct sim_usage *sim_usage_all(void);
/* One of this process's own if there is no file. */
struct sim_usage_board *sim_usage_board(int physical);
/* Busy time of a process from sim_usage_since(now) to now, kernels that run included. */
uint64_t sim_usage_recent(struct sim_usage_device *device, uint64_t now);
uint64_t sim_usage_since(uint64_t now);
/* Whether a place is of a process that is there. */
bool sim_usage_alive(struct sim_usage *place);

void sim_usage_note(int physical, uint64_t bytes, bool contexts);
void sim_usage_kernel_begin(int physical);
void sim_usage_kernel_end(int physical);

/* --- config.c --- */
/* The CUDA version whose symbols are exported: SIM_NEWEST, unless a library that stands before this
 * code says another. */
extern int sim_config_built;

#endif
