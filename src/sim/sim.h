/* SPDX-License-Identifier: MIT */
/* The simulated driver's core: what every family of entries builds on.
 *
 * Every entry of the registry is an exported function, generated into sim_exports.c: it calls
 * sim_begin, the behaviour sim_<symbol> where a source file here defines one, and sim_end. The
 * behaviour runs with the driver's one lock held, so the state below needs no other; what takes
 * long (kernels, copies, callbacks, waiting) gives the lock up in sim_wait or runs in the queue.
 * The ranges of device memory have a lock of their own, because running kernels ask for them. */
#ifndef CUSHIM_SIM_SIM_H
#define CUSHIM_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cushim/cuda.h>
#include <cushim/cudaEGL.h>
#include <cushim/cudaGL.h>
#include <cushim/cudaProfiler.h>
#include <cushim/cudaVDPAU.h>

#include "sim_version.h"
#include "sim_behaviours.h" /* generated: CUresult sim_<symbol>(...) of every entry */

/* --- One call (call.c) --- */
struct sim_call {
    const struct sim_entry *entry;
    const void *const *arguments; /* address of each argument */
    uint64_t number;              /* of this call in the process, from 1 */
    uint64_t start_ns;
    CUresult result;
    CUresult forced;        /* a fault's code that replaces the result at the end; 0: none */
    struct sim_call *outer; /* a call made inside another, by a callback */
};
struct sim_parameter {
    const char *name;
    uint8_t size; /* bytes */
    char kind;    /* p pointer, h handle, i int, u unsigned, f float, s string, b bytes */
    char output;  /* kind of what it points to and the call writes, t: characters; -: not known */
    uint8_t output_size;
};
struct sim_entry {
    const char *symbol, *name;
    int since;
    char stream;     /* 'l' legacy, 's' ptsz, 'd' ptds */
    bool behaviour;  /* whether there is one */
    bool superseded; /* the plain symbol of a name that every toolkit maps to another ABI */
    int abi;         /* equal for entries of one name with the same parameters */
    uint8_t parameter_count;
    const struct sim_parameter *parameters;
    void *function; /* the exported one */
    void *trap;     /* aborts: what a wrong-ABI trap hands out instead */
};
extern const struct sim_entry sim_entries[];
extern const size_t sim_entry_count; /* SIM_ENTRY_COUNT */
uint64_t sim_entry_calls(size_t entry);
extern const struct sim_new_error {
    int code, since;
} sim_new_errors[]; /* ends with code 0 */

/* False: call->result is the answer (not initialised, an injected fault, ...). Takes the lock. */
bool sim_begin(struct sim_call *call, size_t entry, const void *const *arguments);
_Noreturn void sim_trap(size_t entry);
CUresult sim_end(struct sim_call *call); /* gives the lock up */
void sim_lock(void);
void sim_unlock(void);
bool sim_per_thread(void); /* the current call is a _ptsz or _ptds form */
uint64_t sim_now_ns(void);

/* --- Settings (config.c): the environment's, read on first use, or cushim/sim.h's --- */
#define SIM_MAX_DEVICES 64
#define SIM_MAX_WORKERS 1024
#define SIM_OLDEST 6050 /* CUDA 6.5 */
struct sim_config {
    int cuda;    /* 12040 */
    int devices; /* 0 to SIM_MAX_DEVICES */
    const struct sim_profile *profile;
    size_t memory;          /* bytes per device; 0: the profile's */
    uint64_t time_limit_ns; /* of one kernel; 0: none */
    unsigned workers;       /* threads of the CPU per launch; 0: all */
    size_t grain;           /* kernels may use blocks up to a multiple of it; 0: exactly */
};
extern struct sim_config sim_config;

void sim_config_read(void);
/* Instead of the environment's; false where those were read already. */
bool sim_config_use(const struct sim_config *config);

/* --- Objects behind handles (handle.c): a destroyed handle is recognised, never touched --- */
enum sim_kind {
    SIM_CONTEXT,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_FUNCTION,
    SIM_LIBRARY,
    SIM_KERNEL,
    SIM_LINK,
    SIM_ARRAY,
    SIM_MIPMAP,
    SIM_TEXREF,
    SIM_SURFREF,
    SIM_TEXTURE, /* objects of textures and surfaces: their handle is an integer */
    SIM_SURFACE,
    SIM_POOL,
    SIM_PHYSICAL, /* cuMemCreate */
    SIM_GRAPH,
    SIM_GRAPH_NODE,
    SIM_GRAPH_EXEC,
    SIM_USER_OBJECT,
    SIM_GREEN,
    SIM_OTHER, /* what a family keeps for itself */
    SIM_KIND_COUNT
};
struct sim_object { /* first member of every object */
    enum sim_kind kind;
    struct sim_context *context;        /* or NULL */
    struct sim_object *next, *previous; /* of its kind */
    struct sim_object *chain;           /* hash */
    uint64_t serial; /* no two objects have the same: a new one may get a dead one's address */
};
void sim_object_add(struct sim_object *object, enum sim_kind kind, struct sim_context *context);
void sim_object_remove(struct sim_object *object); /* the memory stays the caller's */
/* The live object of this kind at `handle`, or NULL. Never dereferences a dead handle. */
void *sim_object(enum sim_kind kind, const void *handle);
/* Whether the object that had this handle and serial is still alive. Ask after every place that
 * gave the driver's lock up: another thread may have destroyed it. */
bool sim_object_alive(enum sim_kind kind, const void *handle, uint64_t serial);
struct sim_object *sim_objects(enum sim_kind kind); /* first of the list, through ->next */
size_t sim_object_count(enum sim_kind kind);
const char *sim_kind_name(enum sim_kind kind);

/* --- Devices (device.c, profile.c) --- */
struct sim_profile;
struct sim_device {
    int ordinal;
    const struct sim_profile *profile;
    size_t total, used;          /* bytes of memory */
    struct sim_context *primary; /* NULL: inactive */
    unsigned primary_count, primary_flags;
    bool lost;       /* injected: every call answers CUDA_ERROR_NO_DEVICE-like codes */
    CUresult failed; /* an error that nothing but the process's end mends */
    int physical;    /* its number without CUDA_VISIBLE_DEVICES */
    struct sim_context *primary_kept; /* the primary context's memory, active or not */
    bool primary_closing;             /* its end waits for its work */
};
extern struct sim_device sim_devices[SIM_MAX_DEVICES];
int sim_device_count(void);                     /* those that CUDA_VISIBLE_DEVICES leaves */
struct sim_device *sim_device(CUdevice device); /* NULL: no such device */
/* Value of an attribute; false: this driver does not know it. */
bool sim_device_attribute(const struct sim_device *device, int attribute, int *value);
int sim_architecture(const struct sim_device *device); /* 90 */

/* --- Contexts (context.c, primary.c) --- */
struct sim_stream;
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
    uint64_t serial;               /* of this memory: a thread's stack remembers it */
    unsigned api_version;          /* of the entry that made it: 3010, 3020, ... */
    struct sim_peer *peers;        /* contexts whose memory this one may use */
    struct sim_heap *heap;         /* of malloc in kernels (device_heap.c); NULL: none yet */
};
/* The calling thread's context, or the code to answer: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or
 * the context's sticky error. */
CUresult sim_current(struct sim_context **context);
struct sim_context *sim_current_any(void); /* without the checks; NULL: none */
CUresult sim_context_create(struct sim_device *device, unsigned flags, bool primary,
                            struct sim_context **context);
void sim_context_destroy(struct sim_context *context); /* with all that it owns */
CUresult sim_context_push(struct sim_context *context);
/* Each family's part of a context's end. */
void sim_modules_clear(struct sim_context *context);
void sim_memory_clear(struct sim_context *context);
CUresult sim_context_streams_make(struct sim_context *context);
void sim_context_streams_free(struct sim_context *context);

/* --- Work in order (queue.c) --- */
struct sim_ticket;                     /* one piece of work: done or not */
typedef CUresult sim_work(void *user); /* without the lock; a failure is sticky in the context */
struct sim_stream {
    struct sim_object object;
    unsigned flags;
    int priority;
    uint64_t id;
    struct sim_ticket *last;     /* of the work queued in it */
    struct sim_capture *capture; /* NULL: not capturing */
    uint64_t thread;             /* of a per-thread stream: its host thread */
    struct sim_stream *next_per_thread;
    CUaccessPolicyWindow window; /* attributes that can be set */
    CUsynchronizationPolicy sync_policy;
    CUlaunchMemSyncDomainMap domain_map;
    CUlaunchMemSyncDomain domain;
};
/* The stream that a handle means for this call (NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD or a
 * live one) in the current context. */
CUresult sim_stream(CUstream handle, struct sim_stream **stream);
/* Queue `work` after what the stream's rules say it must follow; `user` is released with `drop`
 * (may be NULL) when the work is done or given up. */
CUresult sim_enqueue(struct sim_stream *stream, sim_work *work, void *user, void (*drop)(void *));
/* The same, and wait for it; the code of the work. */
CUresult sim_enqueue_wait(struct sim_stream *stream, sim_work *work, void *user);
struct sim_ticket *sim_ticket_last(struct sim_stream *stream); /* retained; NULL: nothing queued */
struct sim_ticket *sim_ticket_retain(struct sim_ticket *ticket);
void sim_ticket_release(struct sim_ticket *ticket);
bool sim_ticket_done(const struct sim_ticket *ticket);
uint64_t sim_ticket_end_ns(const struct sim_ticket *ticket); /* when it was done */
void sim_ticket_wait(struct sim_ticket *ticket);             /* gives the lock up meanwhile */
/* Make the stream's next work follow `ticket` too. */
void sim_stream_follow(struct sim_stream *stream, struct sim_ticket *ticket);
CUresult sim_stream_wait_all(struct sim_stream *stream);
CUresult sim_context_wait_all(struct sim_context *context);
bool sim_in_callback(void); /* the calling thread runs a host callback: most calls are refused */
void sim_set_in_callback(bool in);

/* --- Memory (range.c, memory.c) --- */
enum sim_memory {
    SIM_MEMORY_DEVICE,
    SIM_MEMORY_HOST, /* cuMemHostAlloc, cuMemAllocHost */
    SIM_MEMORY_MANAGED,
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister */
    SIM_MEMORY_POOL,       /* cuMemAllocAsync */
    SIM_MEMORY_VIRTUAL,    /* a mapping of cuMemMap */
    SIM_MEMORY_MODULE,     /* a module's variable */
    SIM_MEMORY_ARRAY,      /* an array's elements: no kernel and no plain copy may touch them */
};
struct sim_allocation {
    uint64_t address;
    size_t size;
    char *host; /* where the bytes are; the address itself for host and managed memory */
    enum sim_memory kind;
    unsigned flags;
    bool readable, writable;
    uint64_t id;
    struct sim_context *context;
    struct sim_device *device; /* NULL: host memory */
    void *owner;               /* pool, physical block, module, array */
    size_t room;               /* address space taken; 0: none, the address is the host's */
    void *advice;              /* of managed memory (managed.c) */
    bool mapped;               /* the bytes are mmap's, not malloc's */
    bool ending;               /* being freed: for callers it is gone */
    bool synchronous;          /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
};
/* Memory of a device at an address where the CPU faults, as a real GPU's does. On success
 * *allocation is live until sim_memory_free. */
CUresult sim_memory_allocate(struct sim_context *context, enum sim_memory kind, size_t size,
                             size_t align, unsigned flags, struct sim_allocation **allocation);
void sim_memory_free(struct sim_allocation *allocation);
/* Blocks that the program allocated and did not free, and their bytes. */
size_t sim_memory_live(size_t *bytes);
/* Addresses of the device without memory behind them; 0: none left. */
uint64_t sim_address_reserve(size_t size, size_t align);
void sim_address_release(uint64_t address, size_t size);
/* Make `allocation` known to kernels and copies, or unknown. */
CUresult sim_range_add(struct sim_allocation *allocation);
void sim_range_remove(struct sim_allocation *allocation);
struct sim_allocation *sim_range_find(uint64_t address); /* the one that contains it, or NULL */
/* A copy of it, for threads that do not hold the driver's lock: address, size, host, kind, flags,
 * access, id, context, device and room, and nothing of the rest. */
bool sim_range_copy(uint64_t address, struct sim_allocation *copy);
/* Host pointer of `size` device bytes; NULL: not all in one live allocation. */
char *sim_range_host(uint64_t address, size_t size, bool write);

/* --- Modules and launches (module.c, launch.c) --- */
struct sim_module {
    struct sim_object object;
    struct ptx_module *ptx;
    struct ptx_image *image;
    struct sim_allocation **variables; /* of each of the module's; NULL for references */
    struct sim_reference **references; /* the others: textures and surfaces */
    struct sim_function **functions;   /* handles, made when asked for */
    struct sim_library *library;       /* that it was made for; NULL: loaded by itself */
};
struct sim_function {
    struct sim_object object;
    struct sim_module *module;
    size_t index;       /* in the PTX module */
    int dynamic_shared; /* attributes that can be set: bytes */
    int carveout;       /* per cent, -1: the default */
    int cluster[3], non_portable_cluster, cluster_policy;
    CUfunc_cache cache;
    struct { /* of cuFuncSetBlockShape, cuParamSet* and cuLaunch */
        unsigned block[3], shared, size;
        char *params;
    } old;
};

#endif
