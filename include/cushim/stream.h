/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Streams, events and graphs: host callbacks, elapsed time, work captured into a graph.
 *
 * Streams, events and graphs are the driver's plain handles. Most of what is done with them needs
 * no helper:
 *
 *     CUSHIM_CHECK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
 *     CUSHIM_CHECK(cu->cuEventRecord(event, stream));
 *     CUSHIM_CHECK(cu->cuStreamWaitEvent(stream, event, 0));
 *     CUSHIM_CHECK(cu->cuStreamSynchronize(stream));
 *
 * The functions below pick the newest ABI that the driver has.
 *
 * For every function below:
 * - it works in the current context and leaves it current, on errors too;
 * - `stream` may be NULL, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD unless something else is said.
 *   NULL is the instance's default stream: see cushim_options.per_thread_default_stream;
 * - it returns CUDA_SUCCESS or an error code; cushim_last_error() then names the helper, and either
 *   the argument and its value, or the driver's call that failed. A call may return the error of
 *   earlier work, as in the driver;
 * - outputs are written on success only;
 * - Threads: safe, as far as the driver's own calls are. A handle must not be destroyed while
 *   another thread uses it. Since: 0.1.
 *
 * Rules: the CUDA driver API manual, chapters Stream Management, Event Management and Graph
 * Management.
 */
#ifndef CUSHIM_STREAM_H
#define CUSHIM_STREAM_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Call a host function when the work that is in the stream now is done. Later work of the stream
 * waits for it (cuLaunchHostFunc; cuStreamAddCallback on drivers before 10.0).
 *
 * It runs on a thread of the driver, must not call CUDA, and is not called if the context has
 * failed.
 *
 * @param stream    the work that is in it is waited for
 * @param function  not NULL
 * @param user      passed to it; stays the caller's and must live until the function was called
 */
CUSHIM_PUBLIC CUresult cushim_stream_callback(const struct cushim_api *cu, CUstream stream,
                                              CUhostFn function, void *user);

/**
 * Time between two events (cuEventElapsedTime_v2; the first ABI on drivers before 12.8).
 *
 * @param start, end    recorded, done, of one context and with timing
 * @param milliseconds  to about half a microsecond
 * @return CUDA_ERROR_NOT_READY if one is not done yet; CUDA_ERROR_INVALID_HANDLE if one was not
 *         recorded or has no timing
 */
CUSHIM_PUBLIC CUresult cushim_event_elapsed(const struct cushim_api *cu, CUevent start, CUevent end,
                                            float *milliseconds);

/* ---- capture into a graph */

/**
 * Begin to collect a stream's work instead of doing it (cuStreamBeginCapture_v2; on drivers before
 * 10.1 the first ABI, which has no modes and does what GLOBAL does). cuStreamEndCapture ends it; if
 * that fails, cushim_capture_cancel does.
 *
 * @param stream  not the legacy default stream
 * @param mode    which calls are forbidden until the end: CU_STREAM_CAPTURE_MODE_GLOBAL unsafe ones
 *                on any thread, _THREAD_LOCAL on this thread, _RELAXED none. Unsafe are waits,
 *                questions whether work is done, allocations, frees and instantiations. A wait for
 *                the whole context is forbidden in each (measured: driver 580, H200)
 * @return CUDA_ERROR_NOT_SUPPORTED or CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER if the driver has no
 *         capture, or not this mode
 */
CUSHIM_PUBLIC CUresult cushim_capture_begin(const struct cushim_api *cu, CUstream stream,
                                            CUstreamCaptureMode mode);

/**
 * End a capture and drop what it collected, for error paths. A stream that captures nothing is left
 * as it is. A sentence that cushim_last_error() has already stays: it tells what failed first.
 *
 * @param stream  one that may be capturing, and that began the capture
 * @return CUDA_SUCCESS if the stream captures no longer, whatever the driver found in the work
 */
CUSHIM_PUBLIC CUresult cushim_capture_cancel(const struct cushim_api *cu, CUstream stream);

/**
 * Make a graph ready to launch, by the newest of cuGraphInstantiateWithParams, WithFlags, _v2 and
 * the first one that the driver has.
 *
 * @param graph  stays the caller's; may be destroyed or changed afterwards
 * @param flags  0 or CUDA_GRAPH_INSTANTIATE_FLAG_*; other than 0 needs a driver of 11.4
 * @param exec   the caller's, to be given to cuGraphExecDestroy
 * @return on failure the sentence says what the driver found wrong with the graph, in its own words
 *         if it has any
 */
CUSHIM_PUBLIC CUresult cushim_graph_instantiate(const struct cushim_api *cu, CUgraph graph,
                                                unsigned long long flags, CUgraphExec *exec);

#ifdef __cplusplus
}
#endif

#endif
