/* SPDX-License-Identifier: MIT */
/* Nodes of graphs that record events, wait for them, or write words: changed, in both forms. */
#include "conform.h"

/* A graph that waits for an event and then records one; and its executable form. */
struct pair {
    CUgraph graph;
    CUgraphNode wait, record;
    CUevent waited, recorded, other;
    CUgraphExec exec;
};

static struct pair pair_of(void)
{
    struct pair p = {
        .waited = conform_event(), .recorded = conform_event(), .other = conform_event()};
    MUST(cu->cuGraphCreate(&p.graph, 0));
    MUST(cu->cuGraphAddEventWaitNode(&p.wait, p.graph, NULL, 0, p.waited));
    MUST(cu->cuGraphAddEventRecordNode(&p.record, p.graph, &p.wait, 1, p.recorded));
    MUST(cu->cuGraphInstantiate(&p.exec, p.graph, 0));
    return p;
}

/* Run it. An event that was never recorded has no time. */
static void run_pair(const struct pair *p)
{
    float time = 0;
    CUstream stream = conform_stream();
    EACH(cu->cuGraphLaunch(p->exec, stream), "launch");
    EACH(cu->cuStreamSynchronize(stream), "wait");
    EACH(cu->cuEventElapsedTime(&time, p->recorded, p->recorded), "event of the node");
    EACH(cu->cuEventElapsedTime(&time, p->other, p->other), "event set");
}

static void record_event(void)
{
    struct pair p = pair_of();
    CUevent got = NULL;
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.record, p.other));
    CALL(cu->cuGraphEventRecordNodeGetEvent(p.record, &got));
    VALUE("same=%d", got == p.recorded);
    run_pair(&p);
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.record, p.recorded));
    run_pair(&p);
}

static void wait_event(void)
{
    struct pair p = pair_of();
    struct gate gate;
    CUstream held = conform_stream(), stream = conform_stream();
    CUevent got = NULL;
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, p.wait, p.other));
    CALL(cu->cuGraphEventWaitNodeGetEvent(p.wait, &got));
    VALUE("same=%d", got == p.waited);
    gate_close(&gate, held);
    MUST(cu->cuEventRecord(p.other, held));
    CALL(cu->cuGraphLaunch(p.exec, stream));
    CALL(cu->cuStreamQuery(stream));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("passed=%d", gate.passed);
}

/* What is refused leaves the event as it was. */
static void record_event_misuse(void)
{
    struct pair p = pair_of(), q = pair_of();
    CUgraphNode later = NULL;
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.wait, p.other));
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, q.record, p.other));
    MUST(cu->cuGraphAddEventRecordNode(&later, p.graph, NULL, 0, p.other));
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, later, p.other));
    run_pair(&p);
    MUST(cu->cuGraphDestroyNode(later));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.record, p.other));
}

static void wait_event_misuse(void)
{
    struct pair p = pair_of(), q = pair_of();
    CUgraphNode later = NULL;
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, p.record, p.other));
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, q.wait, p.other));
    MUST(cu->cuGraphAddEventWaitNode(&later, p.graph, NULL, 0, p.other));
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, later, p.other));
    run_pair(&p);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, p.wait, p.other));
}

/* Events of other kinds, and of another context. */
static void event_kinds(void)
{
    static const unsigned flags[] = {CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING,
                                     CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING};
    struct pair p = pair_of();
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CUevent event = NULL;
        MUST(cu->cuEventCreate(&event, flags[i]));
        EACH(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.record, event), "record, flags %u",
             flags[i]);
        EACH(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, p.wait, event), "wait, flags %u",
             flags[i]);
    }
    CUcontext other = conform_context();
    CUevent event = conform_event();
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(p.exec, p.wait, event));
    CALL(cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.record, event));
    MUST(cu->cuCtxSetCurrent(ctx));
    run_pair(&p);
    (void)other;
}

/* A node that is gone from the graph, though not from the executable form. */
static void event_node_gone(void)
{
    struct pair p = pair_of();
    MUST(cu->cuGraphDestroyNode(p.record));
    CUgraphExec exec = NULL;
    CALL(cu->cuGraphInstantiate(&exec, p.graph, 0));
    CALL(cu->cuGraphExecEventWaitNodeSetEvent(exec, p.wait, p.other));
    p.exec = exec;
    run_pair(&p);
}

/* --- Words written --- */

static CUstreamBatchMemOpParams write_of(CUdeviceptr address, unsigned value)
{
    CUstreamBatchMemOpParams write;
    memset(&write, 0, sizeof write);
    write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = address;
    write.writeValue.value = value;
    return write;
}

struct words {
    CUdeviceptr a;
    CUgraph graph;
    CUgraphNode node, empty;
    CUgraphExec exec;
    CUstreamBatchMemOpParams list[2];
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
};

static void make_words(struct words *w)
{
    memset(w, 0, sizeof *w);
    w->a = conform_memory(64);
    w->list[0] = write_of(w->a, 5);
    w->list[1] = write_of(w->a + 4, 6);
    w->params.ctx = ctx;
    w->params.count = 1;
    w->params.paramArray = w->list;
    MUST(cu->cuMemsetD32(w->a, 0, 16));
    MUST(cu->cuCtxSynchronize()); /* the stream of the words does not wait for it */
    MUST(cu->cuGraphCreate(&w->graph, 0));
    MUST(cu->cuGraphAddBatchMemOpNode(&w->node, w->graph, NULL, 0, &w->params));
    MUST(cu->cuGraphAddEmptyNode(&w->empty, w->graph, NULL, 0));
    MUST(cu->cuGraphInstantiate(&w->exec, w->graph, 0));
}

static void tell_words(const struct words *w)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    memset(&got, 0x77, sizeof got);
    EACH(cu->cuGraphBatchMemOpNodeGetParams(w->node, &got), "parameters");
    VALUE("context=%d count=%u flags=%u own=%d", got.ctx == ctx, got.count, got.flags,
          got.paramArray != w->list);
    if (got.count && got.count <= 2)
        VALUE("first=%d", (int)got.paramArray[0].operation);
    if (got.count && got.count <= 2 && got.paramArray[0].operation != CU_STREAM_MEM_OP_BARRIER)
        VALUE("value=%u beyond=%d", got.paramArray[0].writeValue.value,
              (int)(got.paramArray[0].writeValue.address - w->a));
}

static void run_words(const struct words *w)
{
    CUstream stream = conform_stream();
    EACH(cu->cuGraphLaunch(w->exec, stream), "launch");
    EACH(cu->cuStreamSynchronize(stream), "wait");
    VALUE("words=%u,%u", conform_read(w->a), conform_read(w->a + 4));
}

static void words(void)
{
    struct words w;
    make_words(&w);
    tell_words(&w);
    run_words(&w);
    w.params.count = 2;
    w.list[0].writeValue.value = 8;
    tell_words(&w);
    CALL(cu->cuGraphBatchMemOpNodeSetParams(w.node, &w.params));
    tell_words(&w);
    run_words(&w);
    w.list[0].writeValue.value = 9;
    CALL(cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, w.node, &w.params));
    run_words(&w);
    tell_words(&w);
    w.params.count = 1;
    w.list[0].writeValue.value = 10;
    CALL(cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, w.node, &w.params));
    run_words(&w);
    CALL(cu->cuGraphInstantiate(&w.exec, w.graph, 0));
    run_words(&w);
}

/* One thing wrong at a time, in the graph and in the executable form. */
static void set_both(struct words *w, const char *what)
{
    EACH(cu->cuGraphBatchMemOpNodeSetParams(w->node, &w->params), "%s, graph", what);
    EACH(cu->cuGraphExecBatchMemOpNodeSetParams(w->exec, w->node, &w->params), "%s, executable",
         what);
}

static void restore(struct words *w)
{
    w->list[0] = write_of(w->a, 5);
    w->params.ctx = ctx;
    w->params.count = 1;
    w->params.flags = 0;
    w->params.paramArray = w->list;
    MUST(cu->cuGraphBatchMemOpNodeSetParams(w->node, &w->params));
    MUST(cu->cuGraphExecBatchMemOpNodeSetParams(w->exec, w->node, &w->params));
}

static void words_misuse(void)
{
    struct words w;
    make_words(&w);
    w.params.flags = 1;
    set_both(&w, "flags");
    restore(&w);
    w.params.count = 257;
    set_both(&w, "count 257");
    restore(&w);
    w.list[0].writeValue.operation = (CUstreamBatchMemOpType)99;
    set_both(&w, "operation 99");
    restore(&w);
    w.list[0].writeValue.address = w.a + 1;
    set_both(&w, "misaligned");
    restore(&w);
    w.list[0].writeValue.address = 0;
    set_both(&w, "no address");
    restore(&w);
    w.list[0].writeValue.address = 16;
    set_both(&w, "foreign address");
    restore(&w);
    w.list[0].writeValue.flags = 8;
    set_both(&w, "flags of a write");
    tell_words(&w);
    run_words(&w);
}

static void words_barrier(void)
{
    struct words w;
    make_words(&w);
    memset(&w.list[0], 0, sizeof w.list[0]);
    w.list[0].operation = CU_STREAM_MEM_OP_BARRIER;
    set_both(&w, "barrier of the system");
    w.list[0].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    set_both(&w, "barrier of the device");
    w.list[0].memoryBarrier.flags = 2;
    set_both(&w, "barrier 2");
    tell_words(&w);
    run_words(&w);
}

static void words_flush(void)
{
    struct words w;
    make_words(&w);
    memset(&w.list[0], 0, sizeof w.list[0]);
    w.list[0].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    set_both(&w, "flush");
}

static void words_wide(void)
{
    struct words w;
    make_words(&w);
    w.list[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    w.list[0].writeValue.value64 = 0x700000003;
    set_both(&w, "write of 64 bits");
    run_words(&w);
    w.list[0].writeValue.address = w.a + 4;
    set_both(&w, "misaligned");
    run_words(&w);
}

static void words_empty(void)
{
    struct words w;
    make_words(&w);
    w.params.count = 0;
    set_both(&w, "count 0");
    tell_words(&w);
    run_words(&w);
}

static void words_context(void)
{
    struct words w;
    make_words(&w);
    CUcontext other = conform_context();
    MUST(cu->cuCtxSetCurrent(ctx));
    w.params.ctx = other;
    set_both(&w, "another context");
    tell_words(&w);
    run_words(&w);
}

static void words_no_context(void)
{
    struct words w;
    make_words(&w);
    w.params.ctx = NULL;
    set_both(&w, "no context named");
    tell_words(&w);
    run_words(&w);
}

static void words_not_current(void)
{
    struct words w;
    make_words(&w);
    MUST(cu->cuCtxSetCurrent(NULL));
    tell_words(&w);
    w.list[0].writeValue.value = 12;
    set_both(&w, "not current");
    w.params.ctx = NULL;
    set_both(&w, "none current");
}

static void words_nodes(void)
{
    struct words w, other;
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    make_words(&w);
    make_words(&other);
    memset(&got, 0x77, sizeof got);
    CALL(cu->cuGraphBatchMemOpNodeGetParams(w.empty, &got));
    VALUE("untouched=%d", got.count == 0x77777777);
    CALL(cu->cuGraphBatchMemOpNodeSetParams(w.empty, &w.params));
    CALL(cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, w.empty, &w.params));
    CALL(cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, other.node, &w.params));
    run_words(&w);
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
#define ALONE(name, call)                                                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        struct pair p = pair_of();                                                                 \
        EACH(call, "%s", #call);                                                                   \
        run_pair(&p);                                                                              \
    }
#define WORDS(name, call)                                                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        struct words w;                                                                            \
        CUDA_BATCH_MEM_OP_NODE_PARAMS got;                                                         \
        make_words(&w);                                                                            \
        memset(&got, 0, sizeof got);                                                               \
        EACH(call, "%s", #call);                                                                   \
        run_words(&w);                                                                             \
    }
ALONE(record_no_event, cu->cuGraphExecEventRecordNodeSetEvent(p.exec, p.record, NULL))
ALONE(record_no_node, cu->cuGraphExecEventRecordNodeSetEvent(p.exec, NULL, p.other))
ALONE(record_no_exec, cu->cuGraphExecEventRecordNodeSetEvent(NULL, p.record, p.other))
ALONE(wait_no_event, cu->cuGraphExecEventWaitNodeSetEvent(p.exec, p.wait, NULL))
ALONE(wait_no_node, cu->cuGraphExecEventWaitNodeSetEvent(p.exec, NULL, p.other))
ALONE(wait_no_exec, cu->cuGraphExecEventWaitNodeSetEvent(NULL, p.wait, p.other))
WORDS(words_get_no_node, cu->cuGraphBatchMemOpNodeGetParams(NULL, &got))
WORDS(words_get_no_out, cu->cuGraphBatchMemOpNodeGetParams(w.node, NULL))
WORDS(words_set_no_node, cu->cuGraphBatchMemOpNodeSetParams(NULL, &w.params))
WORDS(words_set_no_in, cu->cuGraphBatchMemOpNodeSetParams(w.node, NULL))
WORDS(words_exec_no_exec, cu->cuGraphExecBatchMemOpNodeSetParams(NULL, w.node, &w.params))
WORDS(words_exec_no_node, cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, NULL, &w.params))
WORDS(words_exec_no_in, cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, w.node, NULL))

static CUDA_BATCH_MEM_OP_NODE_PARAMS without_list(void)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.ctx = ctx;
    params.count = 1;
    return params;
}
WORDS(words_set_no_list, (got = without_list(), cu->cuGraphBatchMemOpNodeSetParams(w.node, &got)))
WORDS(words_exec_no_list,
      (got = without_list(), cu->cuGraphExecBatchMemOpNodeSetParams(w.exec, w.node, &got)))

static const struct sequence sequences[] = {S(record_event, PRIMARY),
                                            S(wait_event, PRIMARY),
                                            S(record_event_misuse, PRIMARY),
                                            S(wait_event_misuse, PRIMARY),
                                            S(event_kinds, PRIMARY),
                                            S(event_node_gone, PRIMARY),
                                            S(words, PRIMARY),
                                            S(words_misuse, PRIMARY),
                                            S(words_barrier, PRIMARY),
                                            S(words_flush, PRIMARY),
                                            S(words_wide, PRIMARY),
                                            S(words_empty, PRIMARY),
                                            S(words_context, PRIMARY),
                                            S(words_no_context, PRIMARY),
                                            S(words_not_current, PRIMARY),
                                            S(words_nodes, PRIMARY),
                                            S(record_no_event, PRIMARY),
                                            S(record_no_node, PRIMARY),
                                            S(record_no_exec, PRIMARY),
                                            S(wait_no_event, PRIMARY),
                                            S(wait_no_node, PRIMARY),
                                            S(wait_no_exec, PRIMARY),
                                            S(words_get_no_node, PRIMARY),
                                            S(words_get_no_out, PRIMARY),
                                            S(words_set_no_node, PRIMARY),
                                            S(words_set_no_in, PRIMARY),
                                            S(words_set_no_list, PRIMARY),
                                            S(words_exec_no_exec, PRIMARY),
                                            S(words_exec_no_node, PRIMARY),
                                            S(words_exec_no_in, PRIMARY),
                                            S(words_exec_no_list, PRIMARY),
                                            {0}};
const struct family graph_node_family = {"graph_node", sequences};
