/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The whole CUDA driver API at run time, without linking to libcuda: load a driver, and say why
 * not.
 *
 *     const struct cushim_api *cu = cushim_load(NULL);
 *     if (cushim_init(cu) != CUSHIM_OK)
 *         use_the_cpu(cushim_message(cu));
 *
 * The table is the one handle: every function takes it. Every slot of it can be called, always. A
 * slot holds the address of the ABI symbol that it is named after, as the system gives it, or a
 * stub that returns an error code; with per_thread_default_stream a plain slot holds its per-thread
 * form. Without a driver the process looks like one whose driver found no device.
 *
 * A signal handler may call a stub if cushim is in the program or was loaded with it. If dlopen
 * loaded cushim, the thread calls cushim_last_error_clear once before: the C library allocates a
 * thread's variables at their first use.
 *
 * A load never calls cuInit, creates no context, prints nothing and changes no environment
 * variable. No lock is held while a driver loads or initialises.
 *
 * Two sentences explain what went wrong. cushim_message(cu) is about the driver: how its load ended
 * and then how its cuInit ended. cushim_last_error() is about the calls of this thread.
 *
 * NULL for a table or a name is refused with a sentence, and never crashes.
 *
 * C99, C11 and C++11. Works without a CUDA toolkit (with types of cushim's own) and after the
 * toolkit's cuda.h of any release from 11.0 on. The functions of the driver are not declared here:
 * a file that calls them by name, for the drop-in, includes cuda.h first or defines CUSHIM_DROPIN.
 */
#ifndef CUSHIM_CUSHIM_H
#define CUSHIM_CUSHIM_H

#include <stdbool.h>
#include <stddef.h>

#include <cushim/api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUSHIM_VERSION_MAJOR 0 /**< of this header */
#define CUSHIM_VERSION_MINOR 1 /**< of this header */
#define CUSHIM_VERSION_PATCH 0 /**< of this header */
#define CUSHIM_VERSION "0.1.0" /**< of this header; cushim_version() is the library's */

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

/** How a load ended. Values never change; new ones are added at the end. */
enum cushim_status {
    CUSHIM_OK = 0,
    CUSHIM_ERROR_INVALID_ARGUMENT,   /**< an option contradicts another or has an unknown value */
    CUSHIM_ERROR_OUT_OF_MEMORY,      /**< the process has no memory left */
    CUSHIM_ERROR_NOT_FOUND,          /**< no such file, or no libcuda anywhere */
    CUSHIM_ERROR_EMPTY_PATH,         /**< the path, or CUSHIM_LIBCUDA, is an empty string */
    CUSHIM_ERROR_NOT_A_FILE,         /**< a folder or a device, not a file */
    CUSHIM_ERROR_UNREADABLE,         /**< the file exists and may not be read */
    CUSHIM_ERROR_EMPTY_FILE,         /**< the file has no bytes */
    CUSHIM_ERROR_NOT_A_LIBRARY,      /**< not a shared library of this system's format */
    CUSHIM_ERROR_TRUNCATED,          /**< the file ends before its headers say */
    CUSHIM_ERROR_WRONG_CLASS,        /**< 32-bit library in a 64-bit process, or the reverse */
    CUSHIM_ERROR_WRONG_MACHINE,      /**< library for another processor */
    CUSHIM_ERROR_DEPENDENCY,         /**< a library that it needs is missing */
    CUSHIM_ERROR_OPEN_FAILED,        /**< the system's loader refused it for another reason */
    CUSHIM_ERROR_NOT_CUDA,           /**< a library, but not a CUDA driver */
    CUSHIM_ERROR_STUB,               /**< the toolkit's link-time stub */
    CUSHIM_ERROR_VERSION_FAILED,     /**< its cuDriverGetVersion fails */
    CUSHIM_ERROR_VERSION_INVALID,    /**< its cuDriverGetVersion returns 0 or less */
    CUSHIM_ERROR_NO_DEVICE,          /**< cuInit: 100, the driver found no device */
    CUSHIM_ERROR_NOT_READY,          /**< cuInit: 802, the system is not ready yet */
    CUSHIM_ERROR_DRIVER_MISMATCH,    /**< cuInit: 803, user driver and kernel module differ */
    CUSHIM_ERROR_COMPAT_UNSUPPORTED, /**< cuInit: 804, compat libraries not supported here */
    CUSHIM_ERROR_INIT_UNKNOWN,       /**< cuInit: 999, the driver gives no reason */
    CUSHIM_ERROR_INIT_FAILED,        /**< cuInit: any other code */
    CUSHIM_ERROR_FORKED,             /**< cuInit ran in the parent of this process */
    CUSHIM_ERROR_HEADER_MISMATCH,    /**< the caller's header is newer than the library */
    CUSHIM_ERROR_NO_DESCRIPTORS,     /**< the process or the system has too many open files */
    CUSHIM_ERROR_READ_FAILED,        /**< the file exists, and reading it fails */
    CUSHIM_ERROR_NO_DLOPEN,          /**< a static program whose C library cannot load libraries */
    CUSHIM_ERROR_FORBIDDEN,          /**< the system's rules forbid it: noexec, SELinux, seccomp */
    CUSHIM_ERROR_INCOMPLETE,         /**< it lacks functions that every driver of its release has */
    CUSHIM_ERROR_TOO_OLD             /**< cushim_require: the driver lacks what the program needs */
};

/** Facts about a driver that loads all the same; a set of bits. */
enum cushim_remark {
    CUSHIM_REMARK_NEWER_THAN_REGISTRY = 1 << 0, /**< it may have entries this build does not know */
    CUSHIM_REMARK_INTERPOSED = 1 << 1, /**< another library answers for some entries: a tool that
                                            traces or shares the GPU, or a wrapper */
    CUSHIM_REMARK_NO_PER_THREAD_STREAM = 1 << 2 /**< asked for, but it lacks the entries: legacy */
};

/**
 * Which of the two routes to an entry are taken: the symbols that the library exports, and the
 * driver's own look-up, cuGetProcAddress. On a driver both give the same address. They differ if a
 * tool that traces or shares the GPU hooks one of them, and then the tool's answer is taken.
 */
enum cushim_order {
    CUSHIM_ORDER_DEFAULT = 0, /**< both, from CUDA 11.3 on */
    CUSHIM_ORDER_SYMBOLS      /**< the symbols alone */
};

/** Where a candidate came from. */
enum cushim_source {
    CUSHIM_SOURCE_OPTION = 0,  /**< cushim_options.path */
    CUSHIM_SOURCE_ENVIRONMENT, /**< CUSHIM_LIBCUDA */
    CUSHIM_SOURCE_RESOLVER,    /**< cushim_options.resolver */
    CUSHIM_SOURCE_COMPAT,      /**< the toolkit's compat folder, if the options allow it */
    CUSHIM_SOURCE_SYSTEM,      /**< the system's own library search, or what is loaded already */
    CUSHIM_SOURCE_LIST         /**< the documented list of folders */
};

/** How much a line of the log matters. */
enum cushim_log_level { CUSHIM_LOG_DEBUG = 0, CUSHIM_LOG_INFO, CUSHIM_LOG_WARNING };

/**
 * Find one exported symbol of a driver. It runs within a load, and later for cushim_proc.
 *
 * @param user    cushim_options.user
 * @param symbol  exact exported name, such as "cuMemAlloc_v2"
 * @return its address, or NULL if there is none
 */
typedef void *cushim_resolver_fn(void *user, const char *symbol);

/**
 * Receive one line without newline, valid during the call. It runs on the loading thread, within
 * the load. It may call cushim, but a load with the same log within it would never end. A C++
 * exception out of it ends the load and leaks its memory.
 */
typedef void cushim_log_fn(void *user, enum cushim_log_level level, const char *line);

/**
 * What to open and how. All zero is the default; set `size` to sizeof(struct cushim_options).
 * Nothing in it is used after the call but `resolver` and `user` (until cushim_close).
 */
struct cushim_options {
    size_t size;                  /**< of this structure, as the caller knows it */
    const char *path;             /**< library to use exactly; NULL: search. A name without a slash
                                     is looked for by the system's own search */
    cushim_resolver_fn *resolver; /**< instead of a library; `path` must be NULL */
    void *user;                   /**< for `resolver` and `log` */
    cushim_log_fn *log;           /**< NULL: silent */
    enum cushim_order order;      /**< which routes to an entry are taken */
    bool per_thread_default_stream; /**< plain slots hold their _ptsz/_ptds twins, all or none */
    bool allow_compat; /**< try the toolkit's compat folder before the system's driver */
    bool retry;        /**< cushim_load: if the last load failed, try again */
    char reserved;     /**< 0 */
};

/** One candidate that was tried. Strings live as long as the table. */
struct cushim_attempt {
    size_t size;               /**< of this structure, as the caller knows it */
    const char *path;          /**< as given to the system's loader */
    const char *message;       /**< the system's own words, or what was wrong with the candidate;
                                    of the one in use, the library's file */
    enum cushim_source source; /**< where the candidate came from */
    enum cushim_status status; /**< why it was not taken; CUSHIM_OK if it was */
};

/** Which default stream an entry uses: the legacy one, or each thread's own. */
enum cushim_stream { CUSHIM_STREAM_LEGACY = 0, CUSHIM_STREAM_PTSZ, CUSHIM_STREAM_PTDS };

/** Whether a slot holds the driver's function, and if not, why. */
enum cushim_state {
    CUSHIM_STATE_AVAILABLE = 0,
    CUSHIM_STATE_NO_DRIVER, /**< there is no driver at all */
    CUSHIM_STATE_NEWER,     /**< its release is newer than the driver */
    CUSHIM_STATE_ABSENT,    /**< the driver's release should have it, but does not export it */
    CUSHIM_STATE_PLATFORM,  /**< it exists on another platform only */
    CUSHIM_STATE_UNKNOWN    /**< this build of cushim knows no such symbol */
};

/** By which route a slot was filled. CALLER: by the caller, in a copy of the table. */
enum cushim_via { CUSHIM_VIA_NONE = 0, CUSHIM_VIA_PROC, CUSHIM_VIA_DLSYM, CUSHIM_VIA_CALLER };

/** One entry of the registry. `header` is a static string. */
struct cushim_entry {
    char symbol[56];           /**< exported name: "cuMemAlloc_v2" */
    char name[56];             /**< "cuMemAlloc" */
    const char *header;        /**< "cuda.h", "cudaGL.h", ... */
    int since;                 /**< release that introduced this ABI: 3020 is 3.2 */
    enum cushim_stream stream; /**< of its default stream */
};

/** What an instance has for one entry. */
struct cushim_slot {
    enum cushim_state state; /**< whether it holds the driver's function, or why not */
    enum cushim_via via;     /**< by which route it was found */
    void *address;           /**< the driver's function; NULL unless it is available */
};

/**
 * What the macros cushim_load and cushim_open call, so that a library of one release notices the
 * header of another. A table only grows at its end: a newer library serves an older header. With a
 * newer header than the library's, the status is CUSHIM_ERROR_HEADER_MISMATCH and every slot that
 * the header knows is a stub; cushim_open returns NULL.
 *
 * @param table_size  sizeof(struct cushim_api) in the caller's header
 */
CUSHIM_PUBLIC const struct cushim_api *cushim_connect_(const struct cushim_options *options,
                                                       size_t table_size, bool independent);

/**
 * Open the driver for the whole process, once, and return its table.
 *
 * The first load that succeeds decides: later calls, from any thread, return the same table and
 * ignore their options. If several threads load at once, each builds a table, one of them is
 * published, and all return that one. cushim_status() and cushim_message() report how the load
 * ended.
 *
 * A load that failed is not repeated, because programs call this function often. With
 * options.retry it is, so that a daemon may start before its driver. If the new load succeeds or
 * fails in another way, this call and all later ones return a new table; the old table stays valid,
 * and its slots stay stubs.
 *
 * @param options  NULL for the defaults. Options that contradict themselves are refused: this call
 *                 returns a table without a driver, cushim_last_error() has the sentence, and the
 *                 next call with good options loads.
 * @return the table, which lives until the process ends: a plug-in that has cushim in itself and is
 *         unloaded again and again uses cushim_open and cushim_close. NULL only for want of memory
 *         in a program whose header is newer than the library.
 *
 * It is a function of the library, for other languages; in C and C++ a macro of the same name adds
 * the size of the caller's table. Who calls the function compares the table's `size` with the table
 * that it was built for.
 *
 * Threads: safe. May be called within a load, by a callback or a library's constructor. Since: 0.1.
 */
CUSHIM_PUBLIC const struct cushim_api *cushim_load(const struct cushim_options *options);
/** cushim_load, with the size of the caller's table. */
#define cushim_load(...) cushim_connect_((__VA_ARGS__), sizeof(struct cushim_api), false)

/**
 * Open an independent table: of another driver version, of a driver at a given path, of a
 * simulated one, or of a custom resolver.
 *
 * @param options  NULL for the defaults
 * @return a table, which the caller closes; also if no driver was found: cushim_status() then
 *         reports why, and its slots are stubs. NULL only for options that contradict themselves
 *         or for want of memory; cushim_last_error() has the sentence.
 *
 * A function and a macro, as cushim_load.
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const struct cushim_api *cushim_open(const struct cushim_options *options);
/** cushim_open, with the size of the caller's table. */
#define cushim_open(...) cushim_connect_((__VA_ARGS__), sizeof(struct cushim_api), true)

/**
 * Free a table and all that belongs to it. The driver stays loaded in the process, because
 * unloading one whose threads may still run is not safe.
 *
 * @param cu  from cushim_open. NULL does nothing, and the process-wide table is left as it is. A
 *            table that is closed already, or a copy, is refused: cushim_last_error() reports it.
 *
 * Threads: no other thread may use the table any more. Since: 0.1.
 */
CUSHIM_PUBLIC void cushim_close(const struct cushim_api *cu);

/**
 * Like cushim_close, and drop the hold on the driver, so that the system may unload it. Only for a
 * driver on which cuInit was never called, or one that is known to survive it.
 *
 * Threads: as cushim_close. Since: 0.1.
 */
CUSHIM_PUBLIC void cushim_close_unload(const struct cushim_api *cu);

/**
 * How the load ended.
 *
 * @return CUSHIM_OK, or the reason why there is no driver; CUSHIM_ERROR_INVALID_ARGUMENT for a
 *         table of NULL
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_status cushim_status(const struct cushim_api *cu);

/**
 * A sentence about the driver: how cuInit ended if the last cushim_init failed, else how the
 * load ended. It names the path, the cause and what to do; for CUSHIM_OK, the driver and any
 * remark.
 *
 * @return a string that lives as long as the table
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_message(const struct cushim_api *cu);

/**
 * A status as a word: the constant's name without its prefix, in lower case.
 *
 * @param status  any value
 * @return "not-found", for example; "unknown" for a value that is no status. A static string
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_status_name(enum cushim_status status);

/**
 * What is special about the driver.
 *
 * @return a set of enum cushim_remark; 0 if nothing is
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC unsigned cushim_remarks(const struct cushim_api *cu);

/**
 * A candidate that was tried, in order. If the status is CUSHIM_OK, the last one is in use.
 *
 * @param index    from 0 on
 * @param attempt  its size is set by the caller; the rest is written on success
 * @return false if there is no such attempt
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_attempt_at(const struct cushim_api *cu, size_t index,
                                     struct cushim_attempt *attempt);

/**
 * Path of the library in use, without symbolic links, as it was when the library was opened.
 *
 * @return a string that lives as long as the table; NULL without a library
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_path(const struct cushim_api *cu);

/**
 * Address at which that library is loaded, to relate addresses to its file.
 *
 * @return an address in this process; NULL without a library
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const void *cushim_base(const struct cushim_api *cu);

/**
 * The driver's CUDA version.
 *
 * @return 12040 for 12.4; 0 without a driver
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC int cushim_driver_version(const struct cushim_api *cu);

/**
 * Version of this library; CUSHIM_VERSION is the header's.
 *
 * @return "0.1.0", for example; a static string
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_version(void);

/**
 * Newest CUDA release whose entries this build knows.
 *
 * @return 13000 for 13.0
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC int cushim_registry_version(void);

/**
 * Number of entries in the registry, and of slots in every table.
 *
 * @return the same number for every table
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC size_t cushim_entry_count(void);

/**
 * @param index  0 to cushim_entry_count() - 1, in the table's order
 * @param entry  written on success
 * @return false if the index is out of range
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_entry_at(size_t index, struct cushim_entry *entry);

/**
 * What the driver has for the entry with this index.
 *
 * @param index  0 to cushim_entry_count() - 1
 * @return what the slot holds; the state of an index out of range is CUSHIM_STATE_UNKNOWN
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC struct cushim_slot cushim_slot_at(const struct cushim_api *cu, size_t index);

/**
 * Whether the driver has an entry: CUSHIM_HAS(cu, cuMemAllocAsync). The entry is named as a member
 * of the table, so a typing error does not compile, and the macros of cuda.h lead the name to the
 * same member as in a call.
 */
#define CUSHIM_HAS(cu, member) cushim_has_member_((cu), offsetof(struct cushim_api, member))
CUSHIM_PUBLIC bool cushim_has_member_(const struct cushim_api *cu, size_t offset);

/**
 * The same for a name that is known at run time.
 *
 * @param symbol  the ABI's exported name: "cuMemAlloc_v2". "cuMemAlloc_v1" also names the first
 *                ABI if a name has several.
 * @return true if the slot holds the driver's own function
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_has(const struct cushim_api *cu, const char *symbol);

/**
 * Why the driver has an entry or has not, as a sentence.
 *
 * @param symbol  as for cushim_has
 * @param state   written: the reason as a value; may be NULL
 * @param text    written: the sentence, cut off at `size` bytes with its end; may be NULL
 * @param size    of `text`, in bytes
 * @return text
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_reason(const struct cushim_api *cu, const char *symbol,
                                        enum cushim_state *state, char *text, size_t size);

/** What is known of an answer of cushim_proc. */
enum cushim_proc_status {
    CUSHIM_PROC_EXACT = 0,  /**< the ABI that was asked for, by the registry */
    CUSHIM_PROC_UNVERIFIED, /**< the driver's own answer: this build cannot tell which ABI it is */
    CUSHIM_PROC_NO_DRIVER,  /**< NULL: there is no driver */
    CUSHIM_PROC_NEWER, /**< NULL: the driver is older than the ABI, and has an older one or none */
    CUSHIM_PROC_NOT_FOUND /**< NULL: the driver does not have it */
};

/**
 * Find an entry point by name, version and kind of stream, also one that this build does not know:
 * the safe form of cuGetProcAddress, which on an older driver hands back an older ABI and calls
 * that a success.
 *
 * The ABI asked for is the newest of that name up to `version`. If the registry knows it, the
 * answer is exactly that or NULL. If it does not (a name that it lacks, or a driver and a version
 * newer than it), the driver's answer is passed on as CUSHIM_PROC_UNVERIFIED, unless it is an older
 * ABI that the registry does know.
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
 * Call cuInit(0) and name what it returned. Each call asks the driver: it answers at once if it is
 * initialised, and a system that was not ready may be ready later. CUDA does not survive a fork: in
 * a child of a process that initialised this driver, drivers return 3, and the result is
 * CUSHIM_ERROR_FORKED.
 *
 * @return CUSHIM_OK, a status of the load, or one of the CUSHIM_ERROR_* that name cuInit. On
 *         failure cushim_message(cu) and cushim_last_error() have a sentence that names what to do.
 *         A copy's own cuInit is called without a driver too, and cushim_last_error() alone tells.
 *
 * Threads: safe; two threads may call cuInit at the same time, as drivers allow. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_status cushim_init(const struct cushim_api *cu);

/**
 * Check what a program needs, once, instead of before each call.
 *
 * @param release  oldest release of the driver that will do, such as 11020; 0: any
 * @param symbols  exported names as for cushim_has, ending with NULL; NULL: none
 * @return CUSHIM_OK, a status of the load, or CUSHIM_ERROR_TOO_OLD: the driver is older than the
 *         release, or lacks one of the symbols; CUSHIM_ERROR_INVALID_ARGUMENT: cushim knows no such
 *         symbols, or the release is below 0 or from 1 to 999. cushim_last_error() has one sentence
 *         that names all of them, as far as it has room.
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_status cushim_require(const struct cushim_api *cu, int release,
                                                const char *const *symbols);

/**
 * Name of a driver error code, with no driver needed.
 *
 * @param code  any value
 * @return "CUDA_ERROR_NOT_INITIALIZED", for example; NULL for a code that this build does not know.
 *         A static string
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_error_name(CUresult code);

/**
 * What a driver error code means, in a few words, with no driver needed.
 *
 * @param code  any value
 * @return a static string; NULL for a code that this build does not know
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_error_string(CUresult code);

/**
 * The last thing that went wrong in cushim on this thread, as a sentence: a load, a helper, or an
 * unavailable entry that was called and why it is missing. Empty if nothing did. It never waits for
 * another thread.
 *
 * @return this thread's buffer, valid until the next call of a function of cushim or of an
 *         unavailable entry on this thread
 *
 * Threads: each has its own. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_last_error(void);

/**
 * Forget this thread's last error.
 *
 * Threads: each has its own. Since: 0.1.
 */
CUSHIM_PUBLIC void cushim_last_error_clear(void);

#ifdef __cplusplus
}
#endif

#endif
