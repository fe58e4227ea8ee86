/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Streams, events, host callbacks, and graphs captured from a stream.
 *
 *     CUstream stream;
 *     if (cushim_stream_create(cu, CU_STREAM_NON_BLOCKING, CUSHIM_PRIORITY_GREATEST, &stream))
 *         fail(cushim_last_error());
 *
 * Streams, events and graphs are the driver's plain handles: what comes from here goes into any
 * call of the table, and what comes from there goes into these helpers.
 *
 * For every function below:
 * - it works in the context that is current, and leaves it current, on errors too;
 * - `stream` may be NULL or CU_STREAM_LEGACY or CU_STREAM_PER_THREAD where nothing else is said;
 *   NULL is the instance's default stream: see cushim_options.per_thread_default_stream;
 * - it returns CUDA_SUCCESS or an error code; cushim_last_error() then names the helper, and either
 *   the argument and its value, or the driver's call that failed. A call that waits or asks may
 *   return the error of earlier work, as in the driver;
 * - outputs are written on success alone;
 * - Threads: safe, as far as the driver's own calls are; a handle must not be destroyed while
 *   another thread uses it. Since: 0.1.
 *
 * Rules: the CUDA driver API manual, chapters Stream Management, Event Management and Graph
 * Management.
 */
#ifndef CUSHIM_STREAM_H
#define CUSHIM_STREAM_H

#include <limits.h>
#include <stdbool.h>

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- streams */

/** The ends of the device's range of priorities, whatever it is. */
#define CUSHIM_PRIORITY_LEAST INT_MAX
#define CUSHIM_PRIORITY_GREATEST INT_MIN

/**
 * Create a stream (cuStreamCreate, or cuStreamCreateWithPriority).
 *
 * The driver moves a priority outside the device's range into it and says nothing; here it is
 * refused, and the two constants above are how to ask for an end of the range.
 *
 * @param flags     CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING
 * @param priority  0 for the usual one; a lower number is more urgent
 * @param stream    the caller's to destroy with cushim_stream_destroy
 * @return CUDA_ERROR_INVALID_VALUE for a priority outside the range
 */
CUSHIM_PUBLIC CUresult cushim_stream_create(const struct cushim_api *cu, unsigned int flags,
                                            int priority, CUstream *stream);

/**
 * The device's range of priorities (cuCtxGetStreamPriorityRange). Both are 0 where it has none.
 *
 * @param least     may be NULL; the largest number
 * @param greatest  may be NULL; the smallest number, at most `least`
 */
CUSHIM_PUBLIC CUresult cushim_stream_priorities(const struct cushim_api *cu, int *least,
                                                int *greatest);

/**
 * Destroy a stream once its work is done; does not wait (cuStreamDestroy_v2). To use it afterwards
 * crashes in the driver (measured: 580, launch on a destroyed stream).
 *
 * @param stream  NULL does nothing; the default streams' other names are refused
 * @return CUDA_SUCCESS also where the driver is shutting down
 */
CUSHIM_PUBLIC CUresult cushim_stream_destroy(const struct cushim_api *cu, CUstream stream);

/** Wait until all work of a stream is done (cuStreamSynchronize). */
CUSHIM_PUBLIC CUresult cushim_stream_synchronize(const struct cushim_api *cu, CUstream stream);

/**
 * Ask whether all work of a stream is done (cuStreamQuery): done, still running, or failed.
 *
 * Asking a stream that is being captured ends the capture with an error: the driver's rule.
 *
 * @param done  written on success
 * @return CUDA_SUCCESS for the first two answers; the error of the work for the third
 */
CUSHIM_PUBLIC CUresult cushim_stream_query(const struct cushim_api *cu, CUstream stream,
                                           bool *done);

/**
 * Let later work of a stream wait for an event, without blocking the host (cuStreamWaitEvent).
 *
 * @param event  one that was never recorded makes nothing wait; may be of another device
 */
CUSHIM_PUBLIC CUresult cushim_stream_wait(const struct cushim_api *cu, CUstream stream,
                                          CUevent event);

/**
 * Call a host function once the work that is in the stream now is done; later work of the stream
 * waits for it (cuLaunchHostFunc; cuStreamAddCallback on drivers before 10.0).
 *
 * It runs on a thread of the driver's, must not call CUDA, and is not called where the context has
 * failed.
 *
 * @param function  not NULL
 * @param user      passed to it; stays the caller's and must live until it was called
 */
CUSHIM_PUBLIC CUresult cushim_stream_callback(const struct cushim_api *cu, CUstream stream,
                                              CUhostFn function, void *user);

/* ---- events */

/**
 * Create an event (cuEventCreate).
 *
 * @param flags  of CU_EVENT_DEFAULT (with timing), CU_EVENT_BLOCKING_SYNC (waiting sleeps instead
 *               of spinning), CU_EVENT_DISABLE_TIMING, and CU_EVENT_INTERPROCESS, which asks for
 *               the former
 * @param event  the caller's to destroy with cushim_event_destroy
 */
CUSHIM_PUBLIC CUresult cushim_event_create(const struct cushim_api *cu, unsigned int flags,
                                           CUevent *event);

/** Destroy an event (cuEventDestroy_v2); it need not be done. As cushim_stream_destroy. */
CUSHIM_PUBLIC CUresult cushim_event_destroy(const struct cushim_api *cu, CUevent event);

/** Note in an event what is in the stream now (cuEventRecord). Both of the same context. */
CUSHIM_PUBLIC CUresult cushim_event_record(const struct cushim_api *cu, CUevent event,
                                           CUstream stream);

/** Wait for an event's latest record (cuEventSynchronize); one never recorded is done. */
CUSHIM_PUBLIC CUresult cushim_event_synchronize(const struct cushim_api *cu, CUevent event);

/** Ask whether an event's latest record is done (cuEventQuery); answers as cushim_stream_query. */
CUSHIM_PUBLIC CUresult cushim_event_query(const struct cushim_api *cu, CUevent event, bool *done);

/**
 * Time between two events (cuEventElapsedTime_v2, or the first one on drivers before 12.8).
 *
 * @param start, end    recorded, done, of one context and with timing
 * @param milliseconds  to about half a microsecond
 * @return CUDA_ERROR_NOT_READY where one is not done yet; CUDA_ERROR_INVALID_HANDLE where one was
 *         not recorded or has no timing
 */
CUSHIM_PUBLIC CUresult cushim_event_elapsed(const struct cushim_api *cu, CUevent start, CUevent end,
                                            float *milliseconds);

/* ---- capture into a graph */

/**
 * Begin to collect a stream's work instead of doing it (cuStreamBeginCapture_v2; on drivers before
 * 10.1 the first one, which has no modes and does what GLOBAL does).
 *
 * @param stream  not the legacy default stream
 * @param mode    which calls are forbidden until the end: CU_STREAM_CAPTURE_MODE_GLOBAL unsafe ones
 *                on any thread, _THREAD_LOCAL on this thread, _RELAXED none
 * @return CUDA_ERROR_NOT_SUPPORTED or CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER where the driver has no
 *         capture, or not this mode
 */
CUSHIM_PUBLIC CUresult cushim_capture_begin(const struct cushim_api *cu, CUstream stream,
                                            CUstreamCaptureMode mode);

/**
 * End a capture (cuStreamEndCapture). The stream does its work again, on failure too, unless the
 * driver says that the capture was not this thread's to end.
 *
 * @param graph  the caller's to destroy with cushim_graph_destroy
 * @return the driver's code where what was called since begin spoiled the capture
 */
CUSHIM_PUBLIC CUresult cushim_capture_end(const struct cushim_api *cu, CUstream stream,
                                          CUgraph *graph);

/** End a capture and drop what it collected, for error paths; a stream that captures nothing is
 * left as it is. */
CUSHIM_PUBLIC CUresult cushim_capture_cancel(const struct cushim_api *cu, CUstream stream);

/**
 * Make a graph ready to launch: cuGraphInstantiateWithParams, WithFlags, _v2 or the first one, the
 * newest that the driver has.
 *
 * @param graph  stays the caller's; may be destroyed or changed afterwards
 * @param flags  0 or CUDA_GRAPH_INSTANTIATE_FLAG_*; other than 0 needs a driver of 11.4
 * @param exec   the caller's to destroy with cushim_graph_exec_destroy
 * @return on failure the sentence says what the driver found wrong with the graph, in its own words
 *         where it has any
 */
CUSHIM_PUBLIC CUresult cushim_graph_instantiate(const struct cushim_api *cu, CUgraph graph,
                                                unsigned long long flags, CUgraphExec *exec);

/** Do a graph's work in a stream (cuGraphLaunch). Launches of one graph follow each other. */
CUSHIM_PUBLIC CUresult cushim_graph_launch(const struct cushim_api *cu, CUgraphExec exec,
                                           CUstream stream);

/** Destroy a graph (cuGraphDestroy). NULL does nothing; success also in a driver shutting down. */
CUSHIM_PUBLIC CUresult cushim_graph_destroy(const struct cushim_api *cu, CUgraph graph);

/** Destroy an instantiated graph once its launches are done; as cushim_graph_destroy. */
CUSHIM_PUBLIC CUresult cushim_graph_exec_destroy(const struct cushim_api *cu, CUgraphExec exec);

#ifdef __cplusplus
}
#endif

#endif
