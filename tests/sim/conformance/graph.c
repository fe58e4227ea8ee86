/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, their order, questions about both. */
#include "conform.h"

static CUgraph fresh(void)
{
    CUgraph graph = NULL;
    MUST(cu->cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNode empty(CUgraph graph, CUgraphNode after)
{
    CUgraphNode node = NULL;
    MUST(cu->cuGraphAddEmptyNode(&node, graph, &after, after ? 1 : 0));
    return node;
}

static void shape(CUgraph graph)
{
    size_t nodes = 77, roots = 77, edges = 77;
    cu->cuGraphGetNodes(graph, NULL, &nodes);
    cu->cuGraphGetRootNodes(graph, NULL, &roots);
    cu->cuGraphGetEdges(graph, NULL, NULL, NULL, &edges);
    NOTE("nodes=%zu roots=%zu edges=%zu", nodes, roots, edges);
}

static void create(void)
{
    CUgraph graph = (CUgraph)&graph;
    CALL(cu->cuGraphCreate(&graph, 1));
    VALUE("touched=%d", graph != (CUgraph)&graph);
    CALL(cu->cuGraphCreate(NULL, 0));
    CALL(cu->cuGraphCreate(&graph, 0));
    shape(graph);
    CALL(cu->cuGraphDestroy(graph));
    CALL(cu->cuGraphDestroy(NULL));
}

static void empties(void)
{
    CUgraph graph = fresh();
    CUgraphNode a = NULL, b = NULL, both[2];
    CUgraphNodeType type = (CUgraphNodeType)77;
    CALL(cu->cuGraphAddEmptyNode(&a, graph, NULL, 0));
    CALL(cu->cuGraphAddEmptyNode(&b, graph, &a, 1));
    shape(graph);
    CALL(cu->cuGraphNodeGetType(b, &type));
    VALUE("type=%d", (int)type);
    CALL(cu->cuGraphNodeGetType(b, NULL));
    CALL(cu->cuGraphNodeGetType(NULL, &type));
    both[0] = both[1] = a;
    CUgraphNode c = NULL;
    CALL(cu->cuGraphAddEmptyNode(&c, graph, both, 2));
    CALL(cu->cuGraphAddEmptyNode(&c, graph, NULL, 1));
    CALL(cu->cuGraphAddEmptyNode(&c, NULL, NULL, 0));
    CALL(cu->cuGraphAddEmptyNode(NULL, graph, NULL, 0));
    CUgraphNode foreign = empty(fresh(), NULL);
    CALL(cu->cuGraphAddEmptyNode(&c, graph, &foreign, 1));
    shape(graph);
}

static void edges(void)
{
    CUgraph graph = fresh();
    CUgraphNode a = empty(graph, NULL), b = empty(graph, NULL), c = empty(graph, NULL);
    CALL(cu->cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    CALL(cu->cuGraphAddDependencies(graph, &b, &c, NULL, 1));
    shape(graph);
    CALL(cu->cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    CALL(cu->cuGraphAddDependencies(graph, &c, &a, NULL, 1));
    CALL(cu->cuGraphAddDependencies(graph, &a, &a, NULL, 1));
    shape(graph);
    CALL(cu->cuGraphRemoveDependencies(graph, &a, &c, NULL, 1));
    CALL(cu->cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    CALL(cu->cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    CALL(cu->cuGraphAddDependencies(graph, NULL, NULL, NULL, 0));
    CALL(cu->cuGraphAddDependencies(graph, NULL, &b, NULL, 1));
    CALL(cu->cuGraphAddDependencies(NULL, &a, &b, NULL, 1));
    CUgraphNode foreign = empty(fresh(), NULL);
    CALL(cu->cuGraphAddDependencies(graph, &a, &foreign, NULL, 1));
    shape(graph);
}

static void old_edges(void)
{
    CUgraph graph = fresh();
    CUgraphNode a = empty(graph, NULL), b = empty(graph, NULL), from[4], to[4];
    size_t count = 4;
    CALL(cu->cuGraphAddDependencies_v1(graph, &a, &b, 1));
    CALL(cu->cuGraphGetEdges_v1(graph, from, to, &count));
    VALUE("count=%zu right=%d", count, from[0] == a && to[0] == b);
    count = 4;
    CALL(cu->cuGraphNodeGetDependencies_v1(b, from, &count));
    VALUE("count=%zu right=%d", count, from[0] == a);
    count = 4;
    CALL(cu->cuGraphNodeGetDependentNodes_v1(a, to, &count));
    VALUE("count=%zu right=%d", count, to[0] == b);
    CALL(cu->cuGraphRemoveDependencies_v1(graph, &a, &b, 1));
    shape(graph);
}

static void questions(void)
{
    CUgraph graph = fresh();
    CUgraphNode a = empty(graph, NULL), b = empty(graph, a), c = empty(graph, a), list[8] = {0};
    size_t count = 8;
    CALL(cu->cuGraphGetNodes(graph, list, &count));
    VALUE("count=%zu order=%d", count, list[0] == a && list[1] == b && list[2] == c);
    count = 2;
    list[2] = NULL;
    CALL(cu->cuGraphGetNodes(graph, list, &count));
    VALUE("count=%zu third=%d", count, !!list[2]);
    count = 8;
    CALL(cu->cuGraphGetNodes(graph, list, &count));
    VALUE("count=%zu beyond=%d", count, !!list[5]);
    count = 8;
    CALL(cu->cuGraphGetRootNodes(graph, list, &count));
    VALUE("count=%zu right=%d", count, list[0] == a);
    CALL(cu->cuGraphNodeGetDependencies(b, NULL, NULL, &count));
    VALUE("count=%zu", count);
    CALL(cu->cuGraphNodeGetDependentNodes(a, NULL, NULL, &count));
    VALUE("count=%zu", count);
    CALL(cu->cuGraphGetNodes(graph, list, NULL));
    CALL(cu->cuGraphGetNodes(NULL, list, &count));
    CALL(cu->cuGraphGetRootNodes(graph, NULL, NULL));
    CALL(cu->cuGraphNodeGetDependencies(NULL, NULL, NULL, &count));
    CALL(cu->cuGraphGetEdges(graph, list, NULL, NULL, &count));
}

static void edge_data(void)
{
    CUgraph graph = fresh();
    CUgraphNode a = empty(graph, NULL), b = empty(graph, NULL), from[2], to[2];
    CUgraphEdgeData data[2];
    size_t count = 2;
    memset(data, 0, sizeof data);
    CALL(cu->cuGraphAddDependencies_v2(graph, &a, &b, data, 1));
    CALL(cu->cuGraphGetEdges_v2(graph, from, to, data, &count));
    VALUE("count=%zu type=%d", count, data[0].type);
    data[0].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    CUgraphNode c = empty(graph, NULL);
    CALL(cu->cuGraphAddDependencies_v2(graph, &b, &c, data, 1));
    data[0].type = 99;
    CALL(cu->cuGraphAddDependencies_v2(graph, &b, &c, data, 1));
    shape(graph);
}

static void destroy_node(void)
{
    CUgraph graph = fresh();
    CUgraphNode a = empty(graph, NULL), b = empty(graph, a);
    empty(graph, b);
    CALL(cu->cuGraphDestroyNode(b));
    shape(graph);
    CALL(cu->cuGraphDestroyNode(NULL));
    CALL(cu->cuGraphDestroyNode(a));
    shape(graph);
}

static void clone(void)
{
    CUgraph graph = fresh(), copy = NULL;
    CUgraphNode a = empty(graph, NULL), b = empty(graph, a), found = NULL;
    CALL(cu->cuGraphClone(&copy, graph));
    VALUE("differ=%d", copy != graph);
    shape(copy);
    CALL(cu->cuGraphNodeFindInClone(&found, b, copy));
    VALUE("differ=%d", found != b);
    CUgraphNode later = empty(graph, b);
    CALL(cu->cuGraphNodeFindInClone(&found, later, copy));
    CALL(cu->cuGraphNodeFindInClone(&found, b, graph));
    CALL(cu->cuGraphNodeFindInClone(NULL, b, copy));
    CALL(cu->cuGraphNodeFindInClone(&found, NULL, copy));
    CALL(cu->cuGraphClone(NULL, graph));
    CALL(cu->cuGraphClone(&copy, NULL));
    CALL(cu->cuGraphDestroy(graph));
    shape(copy);
}

static void child(void)
{
    CUgraph graph = fresh(), inner = fresh(), got = NULL;
    CUgraphNode node = NULL;
    empty(inner, NULL);
    CALL(cu->cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    CALL(cu->cuGraphChildGraphNodeGetGraph(node, &got));
    VALUE("same=%d", got == inner);
    shape(got);
    shape(graph);
    CALL(cu->cuGraphAddChildGraphNode(&node, graph, NULL, 0, NULL));
    CALL(cu->cuGraphAddChildGraphNode(NULL, graph, NULL, 0, inner));
    CALL(cu->cuGraphChildGraphNodeGetGraph(empty(graph, NULL), &got));
    CALL(cu->cuGraphChildGraphNodeGetGraph(node, NULL));
    CALL(cu->cuGraphDestroy(inner));
    CALL(cu->cuGraphChildGraphNodeGetGraph(node, &got));
}

static void event_nodes(void)
{
    CUgraph graph = fresh();
    CUgraphNode record = NULL, wait = NULL;
    CUevent event = conform_event(), got = NULL, other = conform_event();
    CALL(cu->cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    CALL(cu->cuGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    CALL(cu->cuGraphEventRecordNodeGetEvent(record, &got));
    VALUE("same=%d", got == event);
    CALL(cu->cuGraphEventWaitNodeGetEvent(wait, &got));
    VALUE("same=%d", got == event);
    CALL(cu->cuGraphEventRecordNodeSetEvent(record, other));
    CALL(cu->cuGraphEventRecordNodeGetEvent(record, &got));
    VALUE("same=%d", got == other);
    CALL(cu->cuGraphEventWaitNodeSetEvent(record, other));
    CALL(cu->cuGraphEventRecordNodeSetEvent(record, NULL));
    CALL(cu->cuGraphAddEventRecordNode(&record, graph, NULL, 0, NULL));
    CALL(cu->cuGraphAddEventWaitNode(&wait, graph, NULL, 0, NULL));
    CALL(cu->cuGraphEventRecordNodeGetEvent(wait, &got));
}

static void CUDA_CB count_host(void *data)
{
    ++*(int *)data;
}

static void host_nodes(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    int count = 0, second = 0;
    CUDA_HOST_NODE_PARAMS params = {count_host, &count}, got = {NULL, NULL};
    CUgraphExec executable = NULL;
    CALL(cu->cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphHostNodeGetParams(node, &got));
    VALUE("same=%d", got.fn == count_host && got.userData == &count);
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("count=%d", count);
    params.userData = &second;
    CALL(cu->cuGraphExecHostNodeSetParams(executable, node, &params));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("counts=%d,%d", count, second);
    CALL(cu->cuGraphHostNodeSetParams(node, &params));
    params.fn = NULL;
    CALL(cu->cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphAddHostNode(&node, graph, NULL, 0, NULL));
}

static CUDA_MEM_ALLOC_NODE_PARAMS wish(size_t size)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = size;
    return params;
}

static void memory_nodes(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL, last = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = wish(1000), got;
    CUdeviceptr address = 0;
    CUgraphExec executable = NULL;
    CALL(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    VALUE("address=%d", params.dptr != 0);
    CALL(cu->cuGraphMemAllocNodeGetParams(node, &got));
    VALUE("same=%d size=%zu", got.dptr == params.dptr, got.bytesize);
    CALL(cu->cuGraphAddMemFreeNode(&last, graph, &node, 1, params.dptr));
    CALL(cu->cuGraphMemFreeNodeGetParams(last, &address));
    VALUE("same=%d", address == params.dptr);
    CALL(cu->cuGraphAddMemFreeNode(&last, graph, &node, 1, params.dptr));
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    CUgraph copy = NULL;
    CALL(cu->cuGraphClone(&copy, graph));
    CALL(cu->cuGraphDestroyNode(node));
    CUgraphExec second = NULL;
    CALL(cu->cuGraphInstantiateWithFlags(&second, graph, 0));
}

static void memory_node_misuse(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = wish(0);
    CALL(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    params = wish(1000);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    CALL(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    params = wish(1000);
    params.poolProps.location.id = 7;
    CALL(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL));
    CALL(cu->cuGraphAddMemFreeNode(&node, graph, NULL, 0, 0));
    CALL(cu->cuGraphAddMemFreeNode(&node, graph, NULL, 0, conform_memory(64)));
    CALL(cu->cuDeviceGraphMemTrim(dev));
    CALL(cu->cuDeviceGraphMemTrim(5));
}

static void memory_kept(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = wish(1000);
    CUgraphExec executable = NULL;
    MUST(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuMemsetD8(params.dptr, 1, 1000));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuMemFree(params.dptr));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuMemFreeAsync(params.dptr, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void memory_attributes(void)
{
    for (int attribute = 0; attribute < 5; attribute++) {
        cuuint64_t value = 77;
        EACH(cu->cuDeviceGetGraphMemAttribute(dev, (CUgraphMem_attribute)attribute, &value),
             "get %d", attribute);
        VALUE("value=%llu", (unsigned long long)value);
        value = 0;
        EACH(cu->cuDeviceSetGraphMemAttribute(dev, (CUgraphMem_attribute)attribute, &value),
             "set %d", attribute);
    }
    cuuint64_t value = 1;
    CALL(cu->cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    CALL(cu->cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL));
    CALL(cu->cuDeviceGetGraphMemAttribute(5, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
}

static int destroyed;

static void CUDA_CB note_destroy(void *data)
{
    (void)data;
    destroyed++;
}

static void user_objects(void)
{
    CUuserObject object = NULL;
    CUgraph graph = fresh();
    int data = 0;
    const unsigned no_sync = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
    CALL(cu->cuUserObjectCreate(&object, &data, note_destroy, 1, no_sync));
    CALL(cu->cuUserObjectRetain(object, 1));
    CALL(cu->cuUserObjectRelease(object, 1));
    VALUE("destroyed=%d", destroyed);
    CALL(cu->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CALL(cu->cuGraphReleaseUserObject(graph, object, 1));
    CALL(cu->cuUserObjectCreate(&object, &data, note_destroy, 0, no_sync));
    CALL(cu->cuUserObjectCreate(&object, &data, note_destroy, 1, 0));
    CALL(cu->cuUserObjectCreate(&object, &data, NULL, 1, no_sync));
    CALL(cu->cuUserObjectCreate(NULL, &data, note_destroy, 1, no_sync));
    CALL(cu->cuUserObjectRetain(NULL, 1));
    CALL(cu->cuUserObjectRelease(NULL, 1));
    CALL(cu->cuGraphRetainUserObject(graph, NULL, 1, 0));
}

static void conditional(void)
{
    CUgraph graph = fresh();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    CUgraphNodeParams params;
    CALL(cu->cuGraphConditionalHandleCreate(&handle, graph, ctx, 1, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&handle, graph, ctx, 1, 1));
    CALL(cu->cuGraphConditionalHandleCreate(NULL, graph, ctx, 1, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&handle, NULL, ctx, 1, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&handle, graph, ctx, 1, 9));
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params.type = (CUgraphNodeType)99;
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, NULL));
    shape(graph);
}

static const struct sequence sequences[] = {S(create, PRIMARY),
                                            S(empties, PRIMARY),
                                            S(edges, PRIMARY),
                                            S(old_edges, PRIMARY),
                                            S(questions, PRIMARY),
                                            S(edge_data, PRIMARY),
                                            S(destroy_node, PRIMARY),
                                            S(clone, PRIMARY),
                                            S(child, PRIMARY),
                                            S(event_nodes, PRIMARY),
                                            S(host_nodes, PRIMARY),
                                            S(memory_nodes, PRIMARY),
                                            S(memory_node_misuse, PRIMARY),
                                            S(memory_kept, PRIMARY),
                                            S(memory_attributes, PRIMARY),
                                            S(user_objects, PRIMARY),
                                            S(conditional, PRIMARY),
                                            {0}};
const struct family graph_family = {"graph", sequences};
