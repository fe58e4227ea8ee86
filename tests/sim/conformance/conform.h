/* SPDX-License-Identifier: MIT */
/*
 * Short call sequences whose results are recorded on a real driver and replayed on the simulated
 * one. Each runs in a process of its own, so that neither a crash nor a broken context reaches the
 * next. Only what every run repeats is written: codes, sizes, relations, never an address.
 */
#ifndef TESTS_SIM_CONFORM_H
#define TESTS_SIM_CONFORM_H

/* What was recorded is one driver's: the meaning of a name must not move with the registry. */
#define CUSHIM_CUDA_VERSION 13000

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

/* What is done, unrecorded, before a sequence begins. */
enum need {
    BARE,   /* nothing: the driver is loaded, cuInit was not called */
    INIT,   /* cuInit */
    PRIMARY /* cuInit, and the primary context of device 0 current */
};

struct sequence {
    const char *name;
    void (*run)(void);
    enum need need;
};

struct family {
    const char *name;
    const struct sequence *sequences; /* the last has no name */
};

#define S(function, need)                                                                          \
    {                                                                                              \
#function, function, need                                                                  \
    }

extern const struct family array_family;
extern const struct family box_family;
extern const struct family capture_family;
extern const struct family context_family;
extern const struct family copy_family;
extern const struct family device_family;
extern const struct family edge_family;
extern const struct family event_family;
extern const struct family function_family;
extern const struct family graph_family;
extern const struct family graph_exec_family;
extern const struct family green_family;
extern const struct family host_family;
extern const struct family init_family;
extern const struct family launch_family;
extern const struct family library_family;
extern const struct family memory_family;
extern const struct family module_family;
extern const struct family pointer_family;
extern const struct family pool_family;
extern const struct family primary_family;
extern const struct family sticky_family;
extern const struct family stream_family;
extern const struct family texture_family;
extern const struct family virtual_family;
extern const struct family share_memory_family, share_event_family, share_pool_family,
    share_virtual_family;
extern const struct family conditional_family;
extern const struct family told_family;
extern const struct family tensor_family;
extern const struct family tensor_copy_family, tensor_tile_family, tensor_im2col_family;
extern const struct family tensor_interleave_family, tensor_slice_family, tensor_wide_family;
extern const struct family coredump_family, external_family, graph_node_family;
extern const struct family mipmap_family, prefetch_family, reference_family;
extern const struct family asked_family, share_range_family;
extern const struct cushim_api *cu;
extern CUdevice dev;
extern CUcontext ctx;

/* One recorded call: its text, then its code. */
#define CALL(expression) (conform_step("%s", #expression), conform_result(expression))
/* The same within a loop: what tells one turn from the next is given in words. */
#define EACH(expression, ...) (conform_step(__VA_ARGS__), conform_result(expression))
/* Something to remember of the last call, and something between calls. */
#define VALUE(...) conform_value(__VA_ARGS__)
#define NOTE(...) (conform_step("note"), conform_value(__VA_ARGS__))
/* A call that must succeed for the rest to mean anything; recorded only where it fails. */
#define MUST(expression) conform_must(#expression, (expression))

void conform_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
CUresult conform_result(CUresult code);
void conform_who(const char *name); /* before the text of every call from here on */
void conform_value(const char *format, ...) __attribute__((format(printf, 1, 2)));
void conform_must(const char *text, CUresult code);

/* A host function's gate: a stream that ran into it has work pending until it is opened. */
struct gate {
    atomic_int open;
    atomic_int passed;
};
void CUDA_CB gate_wait(void *gate);
void gate_close(struct gate *gate, CUstream stream);

extern const char conform_ptx[];
CUmodule conform_module(void);
CUfunction conform_kernel(const char *name);
CUdeviceptr conform_memory(size_t size);
CUstream conform_stream(void);
CUevent conform_event(void);
CUcontext conform_context(void);
unsigned conform_read(CUdeviceptr address);

#endif
