/* SPDX-License-Identifier: MIT */
#include "graph_test.h"

#include <pthread.h>

CUgraph graph_of(void)
{
    CUgraph graph = NULL;
    OK(cu->cuGraphCreate(&graph, 0));
    return graph;
}

CUgraphExec ready(CUgraph graph)
{
    CUgraphExec executable = NULL;
    OK(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

void run(CUgraphExec executable)
{
    OK(cu->cuGraphLaunch(executable, NULL));
    OK(cu->cuCtxSynchronize());
}

CUstream stream_of(void)
{
    CUstream stream = NULL;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

size_t node_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu->cuGraphGetNodes(graph, NULL, &count));
    return count;
}

size_t edge_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu->cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    return count;
}

unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;
    OK(cu->cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

/* --- Nodes that note when they run --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int order[64];
int ran;

void CUDA_CB note(void *number)
{
    pthread_mutex_lock(&lock);
    order[(intptr_t)number] = ++ran;
    pthread_mutex_unlock(&lock);
}

CUgraphNode noting(CUgraph graph, intptr_t number, const CUgraphNode *after, size_t count)
{
    CUDA_HOST_NODE_PARAMS params = {note, (void *)number};
    CUgraphNode node = NULL;
    OK(cu->cuGraphAddHostNode(&node, graph, after, count, &params));
    return node;
}

CUgraphNode filling(CUgraph graph, CUdeviceptr address, unsigned value, size_t words,
                    const CUgraphNode *after, size_t count)
{
    CUDA_MEMSET_NODE_PARAMS params = {address, 0, value, 4, words, 1};
    CUgraphNode node = NULL;
    OK(cu->cuGraphAddMemsetNode(&node, graph, after, count, &params, memory_context));
    return node;
}

CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}
