/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The whole CUDA driver API at run time, without linking to it.
 *
 *     const struct cushim_api *cu = cushim_load(NULL);
 *     if (cu->cuInit(0) != CUDA_SUCCESS)
 *         use_the_cpu(cushim_message(cushim_load(NULL)));
 *
 * Every slot of the table can be called, always: it holds the address of exactly the ABI symbol it
 * is named after, or a stub of the same type that returns an error code. Without a driver the
 * process looks like one whose driver found no device.
 *
 * A load never calls cuInit, creates no context, prints nothing and changes no environment
 * variable.
 *
 * C99, C11 and C++11. Works without a CUDA toolkit (with cushim's own cuda.h) and after the
 * toolkit's cuda.h, whichever its version.
 */
#ifndef CUSHIM_CUSHIM_H
#define CUSHIM_CUSHIM_H

#include <stdbool.h>
#include <stddef.h>

#include <cushim/api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUSHIM_VERSION_MAJOR 0
#define CUSHIM_VERSION_MINOR 1
#define CUSHIM_VERSION_PATCH 0

/* Marks what a shared library exports; empty in a static one. */
#if defined(CUSHIM_SHARED) && defined(_WIN32)
#ifdef CUSHIM_BUILDING
#define CUSHIM_PUBLIC __declspec(dllexport)
#else
#define CUSHIM_PUBLIC __declspec(dllimport)
#endif
#elif defined(CUSHIM_SHARED) && defined(__GNUC__)
#define CUSHIM_PUBLIC __attribute__((visibility("default")))
#else
#define CUSHIM_PUBLIC
#endif

/** One open driver (or the reason why there is none) and its table. */
struct cushim_instance;

/** How a load ended. Values never change; new ones are added at the end. */
enum cushim_status {
    CUSHIM_OK = 0,
    CUSHIM_ERROR_INVALID_ARGUMENT,   /* an option contradicts another or has an unknown value */
    CUSHIM_ERROR_OUT_OF_MEMORY,      /* the process has no memory left */
    CUSHIM_ERROR_NOT_FOUND,          /* no such file, or no libcuda anywhere */
    CUSHIM_ERROR_EMPTY_PATH,         /* the path, or CUSHIM_LIBCUDA, is an empty string */
    CUSHIM_ERROR_NOT_A_FILE,         /* a folder or a device, not a file */
    CUSHIM_ERROR_UNREADABLE,         /* the file exists and may not be read */
    CUSHIM_ERROR_EMPTY_FILE,         /* the file has no bytes */
    CUSHIM_ERROR_NOT_A_LIBRARY,      /* not a shared library of this system's format */
    CUSHIM_ERROR_TRUNCATED,          /* the file ends before its headers say */
    CUSHIM_ERROR_WRONG_CLASS,        /* 32-bit library in a 64-bit process, or the reverse */
    CUSHIM_ERROR_WRONG_MACHINE,      /* library for another processor */
    CUSHIM_ERROR_DEPENDENCY,         /* a library that it needs is missing */
    CUSHIM_ERROR_OPEN_FAILED,        /* the system's loader refused it for another reason */
    CUSHIM_ERROR_NOT_CUDA,           /* a library, but not a CUDA driver */
    CUSHIM_ERROR_STUB,               /* the toolkit's link-time stub */
    CUSHIM_ERROR_VERSION_FAILED,     /* its cuDriverGetVersion fails */
    CUSHIM_ERROR_VERSION_INVALID,    /* its cuDriverGetVersion says 0 or less */
    CUSHIM_ERROR_NO_DEVICE,          /* cuInit: 100, the driver found no device */
    CUSHIM_ERROR_NOT_READY,          /* cuInit: 802, the system is not ready yet */
    CUSHIM_ERROR_DRIVER_MISMATCH,    /* cuInit: 803, user driver and kernel module differ */
    CUSHIM_ERROR_COMPAT_UNSUPPORTED, /* cuInit: 804, compat libraries not supported here */
    CUSHIM_ERROR_INIT_UNKNOWN,       /* cuInit: 999, the driver does not say why */
    CUSHIM_ERROR_INIT_FAILED,        /* cuInit: any other code */
    CUSHIM_ERROR_FORKED,             /* cuInit ran in the parent of this process */
    CUSHIM_ERROR_HEADER_MISMATCH     /* the caller's header is newer than the library */
};

/** Facts about a driver that loads all the same; a set of bits. */
enum cushim_remark {
    CUSHIM_REMARK_NEWER_THAN_REGISTRY = 1 << 0, /* it may have entries this build does not know */
    CUSHIM_REMARK_PROC_FAILED = 1 << 1,         /* its cuGetProcAddress failed; dlsym was used */
    CUSHIM_REMARK_NO_PER_THREAD_STREAM = 1 << 2 /* asked for, but it lacks the entries: legacy */
};

/** In which order the two routes to an entry are tried. */
enum cushim_order {
    CUSHIM_ORDER_PROC = 0, /* cuGetProcAddress, then the symbol (default) */
    CUSHIM_ORDER_DLSYM,    /* the symbol, then cuGetProcAddress */
    CUSHIM_ORDER_DLSYM_ONLY
};

/** Where a candidate came from. */
enum cushim_source {
    CUSHIM_SOURCE_OPTION = 0,  /* cushim_options.path */
    CUSHIM_SOURCE_ENVIRONMENT, /* CUSHIM_LIBCUDA */
    CUSHIM_SOURCE_RESOLVER,    /* cushim_options.resolver */
    CUSHIM_SOURCE_COMPAT,      /* the toolkit's compat folder; only where allowed */
    CUSHIM_SOURCE_PROCESS,     /* already loaded in this process */
    CUSHIM_SOURCE_SYSTEM,      /* the system's own library search */
    CUSHIM_SOURCE_LIST         /* the documented list of folders */
};

enum cushim_log_level { CUSHIM_LOG_DEBUG = 0, CUSHIM_LOG_INFO, CUSHIM_LOG_WARNING };

/**
 * Find one exported symbol of a driver. Must not call cushim: it runs within a load.
 *
 * @param user    cushim_options.user
 * @param symbol  exact exported name, such as "cuMemAlloc_v2"
 * @return its address, or NULL where there is none
 */
typedef void *cushim_resolver_fn(void *user, const char *symbol);

/**
 * Receive one line without newline, valid during the call. Called on the loading thread, within the
 * load: it must not call cushim.
 */
typedef void cushim_log_fn(void *user, enum cushim_log_level level, const char *line);

/**
 * What to open and how. All zero is the default; set `size` to sizeof(struct cushim_options).
 * Nothing in it is kept beyond the call but `resolver` (until cushim_close).
 */
struct cushim_options {
    size_t size;                  /* of this structure, as the caller knows it */
    const char *path;             /* library to use exactly; NULL: search. Without a slash the
                                     system's own search finds it */
    cushim_resolver_fn *resolver; /* instead of a library; `path` must be NULL */
    void *user;                   /* for `resolver` and `log` */
    cushim_log_fn *log;           /* NULL: silent */
    enum cushim_order order;
    bool per_thread_default_stream; /* plain slots hold their _ptsz/_ptds twins, all or none */
    bool allow_compat;              /* try the toolkit's compat folder before the system's driver */
};

/** One candidate that was tried. Strings live as long as the instance. */
struct cushim_attempt {
    const char *path; /* as given to the system's loader */
    enum cushim_source source;
    enum cushim_status status;
    const char *message; /* the loader's own words, or what was wrong with the candidate */
};

enum cushim_stream { CUSHIM_STREAM_LEGACY = 0, CUSHIM_STREAM_PTSZ, CUSHIM_STREAM_PTDS };

/** Whether a slot holds the driver's function, and if not, why. */
enum cushim_state {
    CUSHIM_STATE_AVAILABLE = 0,
    CUSHIM_STATE_NO_DRIVER, /* there is no driver at all */
    CUSHIM_STATE_NEWER,     /* its release is newer than the driver */
    CUSHIM_STATE_ABSENT,    /* the driver's release should have it, but does not export it */
    CUSHIM_STATE_PLATFORM,  /* it exists on another platform only */
    CUSHIM_STATE_UNKNOWN    /* this build of cushim knows no such symbol */
};

/** By which route a slot was filled. */
enum cushim_via { CUSHIM_VIA_NONE = 0, CUSHIM_VIA_PROC, CUSHIM_VIA_DLSYM };

/** One entry of the registry. Strings are static. */
struct cushim_entry {
    const char *symbol; /* exported name: "cuMemAlloc_v2" */
    const char *name;   /* "cuMemAlloc" */
    const char *header; /* "cuda.h", "cudaGL.h", ... */
    int since;          /* release that introduced this ABI: 3020 is 3.2 */
    enum cushim_stream stream;
};

/** What an instance has for one entry. */
struct cushim_slot {
    enum cushim_state state;
    enum cushim_via via;
    void *address; /* of the driver's function; NULL unless available */
};

/**
 * Open the process-wide instance, once, and return its table.
 *
 * The first call decides: later calls, from any thread, return the same table and ignore their
 * options. How it went is in cushim_status(cushim_load(NULL)) and
 * cushim_message(cushim_load(NULL)).
 *
 * @param options  NULL for the defaults
 * @return the table, never NULL; it lives until the process ends
 *
 * Threads: safe; concurrent first calls load once. Since: 0.1.
 */
CUSHIM_PUBLIC const struct cushim_api *cushim_load(const struct cushim_options *options);
#define cushim_load(options) cushim_load_sized((options), sizeof(struct cushim_api))

/**
 * Open an independent instance with a table of its own: another driver version, a driver at a
 * given path, a simulated one, a custom resolver.
 *
 * @param options  NULL for the defaults
 * @return an instance, which the caller closes; also when no driver was found: its
 *         cushim_status() then says why and its table holds stubs. NULL only for contradicting
 *         options or for want of memory: cushim_last_error() says which.
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const struct cushim_api *cushim_open(const struct cushim_options *options);
#define cushim_open(options) cushim_open_sized((options), sizeof(struct cushim_api))

/**
 * What the three functions above are called through, so that a library of one release notices the
 * header of another. A table only grows at its end: a newer library serves an older header. With a
 * newer header than the library's the status is CUSHIM_ERROR_HEADER_MISMATCH and every slot of the
 * table that the header knows is a stub (cushim_open: NULL).
 *
 * @param table_size  sizeof(struct cushim_api) in the caller's header
 */
CUSHIM_PUBLIC const struct cushim_api *cushim_load_sized(const struct cushim_options *options,
                                                         size_t table_size);
CUSHIM_PUBLIC const struct cushim_api *cushim_open_sized(const struct cushim_options *options,
                                                         size_t table_size);

/**
 * Release an instance and its table. The driver stays loaded in the process, because unloading
 * one whose threads may still run is not safe.
 *
 * @param cu  from cushim_open; NULL does nothing; the process-wide one is left as it is
 *
 * Threads: no other thread may use the instance or its table any more. Since: 0.1.
 */
CUSHIM_PUBLIC void cushim_close(const struct cushim_api *cu);

/**
 * Like cushim_close, and drop the instance's hold on the driver, so that the system may unload
 * it. Only for a driver on which cuInit was never called, or one that is known to survive it.
 *
 * Threads: as cushim_close. Since: 0.1.
 */
CUSHIM_PUBLIC void cushim_close_unload(const struct cushim_api *cu);

/** How the load ended: CUSHIM_OK or the reason why there is no driver. Threads: safe. */
CUSHIM_PUBLIC enum cushim_status cushim_status(const struct cushim_api *cu);

/**
 * The same as a sentence that names the path, the cause and what to do; for CUSHIM_OK one that
 * names the driver and any remark. Lives as long as the instance. Threads: safe.
 */
CUSHIM_PUBLIC const char *cushim_message(const struct cushim_api *cu);

/** Constant's name without prefix in lower case ("not-found"); "unknown" for no status. */
CUSHIM_PUBLIC const char *cushim_status_name(enum cushim_status status);

/** What is special about the driver: a set of enum cushim_remark. Threads: safe. */
CUSHIM_PUBLIC unsigned cushim_remarks(const struct cushim_api *cu);

/**
 * Every candidate that was tried, in order; the last one is the one in use where the status is
 * CUSHIM_OK.
 *
 * @param count  number of elements; not NULL
 * @return array that lives as long as the instance
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const struct cushim_attempt *cushim_attempts(const struct cushim_api *cu,
                                                           size_t *count);

/** Path of the library in use as the system resolved it; NULL without one. Threads: safe. */
CUSHIM_PUBLIC const char *cushim_path(const struct cushim_api *cu);

/** Address at which that library is loaded, to relate addresses to its file; NULL without one. */
CUSHIM_PUBLIC const void *cushim_base(const struct cushim_api *cu);

/** The driver's CUDA version (12040 is 12.4); 0 without a driver. Threads: safe. */
CUSHIM_PUBLIC int cushim_driver_version(const struct cushim_api *cu);

/** Newest CUDA release whose entries this build knows (13000 is 13.0). Threads: safe. */
CUSHIM_PUBLIC int cushim_registry_version(void);

/** Number of entries in the registry, and of slots in every table. Threads: safe. */
CUSHIM_PUBLIC size_t cushim_entry_count(void);

/**
 * @param index  0 to cushim_entry_count() - 1, in the table's order
 * @param entry  written on success
 * @return false where the index is out of range
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_entry_at(size_t index, struct cushim_entry *entry);

/**
 * What the instance has for the entry with this index. An index out of range gives
 * CUSHIM_STATE_UNKNOWN. Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC struct cushim_slot cushim_slot_at(const struct cushim_api *cu, size_t index);

/**
 * Whether the driver has an entry.
 *
 * @param symbol  the ABI's exported name, as in the table: "cuMemAlloc_v2"; "cuMemAlloc_v1" also
 *                names the first ABI where a name has several
 * @return true where the slot holds the driver's own function
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_has(const struct cushim_api *cu, const char *symbol);

/**
 * Why it has it, or has not, as a sentence.
 *
 * @param symbol  as for cushim_has
 * @param state   may be NULL; the reason as a value
 * @return this thread's buffer, valid until its next call of this function
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_reason(const struct cushim_api *cu, const char *symbol,
                                        enum cushim_state *state);

/** What cushim_proc could say about its answer. */
enum cushim_proc_status {
    CUSHIM_PROC_EXACT = 0,  /* the ABI that was asked for, by the registry */
    CUSHIM_PROC_UNVERIFIED, /* the driver's own answer: this build cannot tell which ABI it is */
    CUSHIM_PROC_NO_DRIVER,  /* NULL: there is no driver */
    CUSHIM_PROC_NEWER,    /* NULL: the driver is older than the ABI, and has an older one or none */
    CUSHIM_PROC_NOT_FOUND /* NULL: the driver does not have it */
};

/**
 * Find an entry point by name, version and kind of stream, also one that this build does not know:
 * the safe form of cuGetProcAddress, which on an older driver hands back an older ABI and calls
 * that a success.
 *
 * The ABI asked for is the newest of that name up to `version`. Where the registry knows it, the
 * answer is exactly that or NULL. Where it does not (a name that it lacks, or a driver and a
 * version newer than it) the driver's answer is passed on as CUSHIM_PROC_UNVERIFIED, unless it is
 * an older ABI that the registry does know.
 *
 * @param name     without suffix: "cuMemAlloc"
 * @param version  release whose ABI is wanted (12040 is 12.4), such as CUDA_VERSION
 * @param stream   LEGACY, or PTSZ or PTDS (which mean the same here) for the per-thread form;
 *                 names that have no such form give their only one
 * @param why      may be NULL; always written
 * @return address to call through the type of that ABI, or NULL; cushim_last_error() then has the
 *         sentence
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC void *cushim_proc(const struct cushim_api *cu, const char *name, int version,
                                enum cushim_stream stream, enum cushim_proc_status *why);

/**
 * Call cuInit(0) and say what its answer means. The first answer of a process is kept for each
 * instance and repeated, because a driver itself answers a second call after a failure otherwise.
 * A child of a process that had called it gets CUSHIM_ERROR_FORKED: CUDA does not survive fork.
 *
 * @param message  may be NULL; set to a sentence that says what to do, valid until this thread's
 *                 next call of this function
 * @return CUSHIM_OK, a status of the load, or one of the CUSHIM_ERROR_* that name cuInit
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_status cushim_init(const struct cushim_api *cu, const char **message);

/**
 * Name of a driver error code ("CUDA_ERROR_NOT_INITIALIZED"), with no driver needed; NULL for a
 * code this build does not know. Static string. Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_error_name(CUresult code);

/** What the code means, in a few words; as cushim_error_name. */
CUSHIM_PUBLIC const char *cushim_error_string(CUresult code);

/**
 * The last thing that went wrong in cushim on this thread, as a sentence: a failed load, or an
 * unavailable entry that was called and why it is missing. Empty where nothing did.
 *
 * @return this thread's buffer, valid until the next call of a function of cushim or of an
 *         unavailable entry on this thread
 *
 * Threads: each has its own. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_last_error(void);

/** Forget this thread's last error. */
CUSHIM_PUBLIC void cushim_clear_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
