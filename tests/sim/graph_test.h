/* SPDX-License-Identifier: MIT */
/* What the tests of graphs and of captures share. */
#ifndef TESTS_SIM_GRAPH_TEST_H
#define TESTS_SIM_GRAPH_TEST_H

#include "memory_test.h"

CUgraph graph_of(void);
CUgraphExec ready(CUgraph graph);
void run(CUgraphExec executable); /* and wait */
CUstream stream_of(void);         /* non-blocking */
size_t node_count(CUgraph graph);
size_t edge_count(CUgraph graph);
unsigned word_at(CUdeviceptr address);

/* --- Nodes that note when they run --- */
extern int order[64]; /* by number: when it ran, from 1 */
extern int ran;
void CUDA_CB note(void *number);
CUgraphNode noting(CUgraph graph, intptr_t number, const CUgraphNode *after, size_t count);
CUgraphNode filling(CUgraph graph, CUdeviceptr address, unsigned value, size_t words,
                    const CUgraphNode *after, size_t count);
CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, size_t bytes);

#endif
