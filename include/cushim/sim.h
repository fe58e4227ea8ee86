/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A simulated driver in this process, with faults and reports of leaks: for unit tests without a
 * GPU.
 *
 *     struct cushim_sim_options options = {sizeof options, .cuda = 12040, .devices = 2};
 *     const struct cushim_api *cu = cushim_sim_open(&options);
 *     cushim_sim_fault("cuMemAlloc:call=3,error=OUT_OF_MEMORY");
 *
 * It is in a library of its own, cushim-sim. A process has one such driver at a time; programs that
 * are to run unchanged under one get it from the command `cushim sim`, with the same settings. The
 * CUDA versions, the devices and what is simulated are listed in docs/simulated-driver.md.
 *
 * C99, C11 and C++11.
 */
#ifndef CUSHIM_SIM_H
#define CUSHIM_SIM_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is zero or NULL is as the CUSHIM_SIM_* variables of the environment have it, else the
 * default. Set `size` to sizeof(struct cushim_sim_options). Strings are copied. */
struct cushim_sim_options {
    size_t size;            /**< of this structure; set by the caller */
    int cuda;               /**< version to present, 12040 is 12.4; 0: the newest */
    int devices;            /**< how many; 0: one; -1: none */
    const char *profile;    /**< "ampere" and others that `cushim sim --list` names; NULL: ampere,
                                 or before CUDA 11.0 the newest device that there was */
    size_t memory;          /**< bytes of each device; 0: a share of the machine's */
    unsigned workers;       /**< CPU threads that run a kernel; 0: all */
    unsigned time_limit_ms; /**< of one kernel, in wall time; 0: none */
    const char *faults;     /**< as for cushim_sim_fault; NULL: none */
    const char *log;        /**< file that every call is appended to, "-": stderr; NULL: none */
    unsigned grain;         /**< kernels and copies may use blocks up to a multiple of so many
                               bytes, at most 512, as on a device; 0: to the byte */
    const char *check;      /**< "race,init,sync" or some of them: what is looked for in kernels,
                                 as the manual describes; NULL: nothing. cushim_sim_found counts */
};

/**
 * Open the simulated driver.
 *
 * @param options  NULL for all zero. Where the driver is open already, the faults are added to
 *                 those in force, and another version, number of devices, profile or memory is
 *                 refused: see cushim_sim_reset
 * @return an instance as from cushim_open, which the caller closes; its objects live on in the
 *         process. NULL for a setting that cannot be used, or for want of memory:
 *         cushim_last_error() says which
 *
 * Threads: safe. Since: 0.1.
 */
const struct cushim_api *cushim_sim_open(const struct cushim_sim_options *options);

/**
 * Add fault rules, separated by semicolons:
 *
 *     NAME[:OPTION,...]  calls of NAME (a name, an exported symbol, or * for all):
 *         error=CODE                the answer, by number or name (default 999)
 *         call=N, from=N, every=N   only the Nth matching call, from the Nth on, each Nth
 *         probability=P, seed=S     each with probability P, in a sequence that S decides
 *         device=D                  only calls about device D
 *         slow=MS                   wait before; without error= the call then goes on
 *         after                     the call happens, and then answers the error
 *     out-of-memory:after=BYTES     allocations beyond so many bytes fail; K, M, G, T behind
 *     device-lost:device=D,call=N   from the Nth call on, calls about D fail
 *     missing:SYMBOL                the driver lacks it (for instances opened afterwards)
 *     wrong-abi                     a call through a wrongly resolved pointer aborts, naming it
 *     late                          queued work runs as late as a device may run it
 *         streams=1                 but as if all streams were one
 *     reorder                       so does this, and in another order if nothing orders it
 *         last=K                    the work of the Kth stream runs last
 *         before=M                  the piece `from` runs before the Mth and all behind it
 *     early                         queued work is done when the call that queues it returns
 *     late:from=N, reorder:from=N   so is what is queued before the Nth piece of work
 *
 * A rule counts from when it is added, the program's calls: cuGetProcAddress and
 * cuDriverGetVersion, which loaders call, and cuThreadExchangeStreamCaptureMode, which owners of
 * cushim.hpp call, count only where a rule names them. By * and device-lost a call that releases
 * does so, and then answers the error. Rules that are added before the driver is open wait for it,
 * such as `missing:` for the first instance.
 *
 * @param rules  not NULL; an empty text adds nothing
 * @return true, or false where a rule cannot be used: cushim_last_error() says why; the others of
 *         the text are in force
 *
 * Threads: safe. Since: 0.1.
 */
bool cushim_sim_fault(const char *rules);

/** Forget all rules. Threads: safe. Since: 0.1. */
void cushim_sim_clear_faults(void);

/**
 * Find a fault rule that is in force and had no effect so far: the test did not test it.
 *
 * @return the rule's text, until the thread's next call of this; NULL if each had an effect.
 *         Whether `missing:`, `wrong-abi`, `late`, `reorder` and `early` had one is not known
 *
 * Threads: safe. Since: 0.1.
 */
const char *cushim_sim_unfired(void);

/**
 * Begin anew, between two tests: kernels that run or wait are stopped, all contexts, graphs,
 * libraries and pools are destroyed, rules and counts are forgotten, and the next cushim_sim_open
 * may ask for another version and other devices. The instances from before are closed first,
 * because their tables are those of the old version. Leaks are counted before: see
 * cushim_sim_leaked.
 *
 * @return true, or false if something is left that no context has, such as physical memory: then
 *         the driver is still the same, and cushim_last_error() names what is left
 *
 * Threads: no other thread uses the driver. Since: 0.1.
 */
bool cushim_sim_reset(void);

/**
 * Stop the kernels that are running, such as one that never ends. Each fails with
 * CUDA_ERROR_LAUNCH_TIMEOUT, and standard error has the place where it was. As after each fault of
 * a kernel, later calls for its device fail with the same code. Kernels that begin later are not
 * stopped. If none is running, nothing happens.
 *
 * It does not wait for their end: a call that waits for a kernel returns when it has ended.
 *
 * Threads: safe; may be called in a handler of a signal. Since: 0.1.
 */
void cushim_sim_stop(void);

/**
 * Count what is alive of what the program made.
 *
 * @param kind  "context", "stream", "event", "module", "library", "linker state", "array",
 *              "mipmapped array", "texture object", "surface object", "memory pool", "physical
 *              memory", "graph", "executable graph", "user object" or "memory" (blocks); NULL: all
 * @return SIZE_MAX for an unknown kind: cushim_last_error() has the nearest one
 *
 * Threads: safe. Since: 0.1.
 */
size_t cushim_sim_live(const char *kind);

/**
 * Count what the program did not destroy: what is alive, and what a context had in it when it
 * ended, since the last cushim_sim_reset. A program that releases everything has 0. So has one that
 * tried: calls that release do so with the device lost, though they fail, and what is left in a
 * context that a kernel's fault has spoiled does not count.
 *
 * @param kind  as for cushim_sim_live
 * @return SIZE_MAX for an unknown kind: cushim_last_error() has the nearest one
 *
 * Threads: safe. Since: 0.1.
 */
size_t cushim_sim_leaked(const char *kind);

/**
 * Name what cushim_sim_leaked(NULL) counts, for the message of a test.
 *
 * @return such as "1 context, 2 memory (8192 bytes)", each kind by its name there, until the
 *         thread's next call of this; NULL if there is nothing
 *
 * Threads: safe. Since: 0.1.
 */
const char *cushim_sim_leaks(void);

/**
 * Count what the checks of cushim_sim_options::check found in kernels, since the last
 * cushim_sim_reset. Each has its sentence in standard error, and no call fails because of it.
 *
 * A kernel may still be running: a program waits for it, such as with cuStreamSynchronize, and then
 * asks.
 *
 * @return 0 if nothing was found, or nothing was looked for
 *
 * Threads: safe. Since: 0.1.
 */
unsigned long long cushim_sim_found(void);

/**
 * Count the calls that the driver got so far.
 *
 * @param name  an entry's name or exported symbol; NULL: all entries
 * @return calls that were made, failed ones included; ULLONG_MAX for an unknown name:
 *         cushim_last_error() has the nearest one
 *
 * Threads: safe. Since: 0.1.
 */
unsigned long long cushim_sim_calls(const char *name);

#ifdef __cplusplus
}
#endif

#endif
