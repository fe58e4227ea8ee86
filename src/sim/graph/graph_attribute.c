/* SPDX-License-Identifier: MIT */
/* Launch attributes of kernel nodes. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "queue/queue.h"

static bool known(CUlaunchAttributeID id)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return true;
    default:
        return false;
    }
}

static struct sim_node *kernel(CUgraphNode handle)
{
    struct sim_node *node = sim_graph_node(handle);
    return node && node->item.params.type == CU_GRAPH_NODE_TYPE_KERNEL ? node : NULL;
}

CUresult sim_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                           CUkernelNodeAttrValue_v1 *value_out)
{
    struct sim_node *node = kernel(hNode);
    if (!node || !value_out || !known(attr))
        return CUDA_ERROR_INVALID_VALUE;
    memset(value_out, 0, sizeof *value_out);
    for (unsigned i = 0; i < node->item.attribute_count; i++)
        if (node->item.attributes[i].id == attr)
            *value_out = node->item.attributes[i].value;
    return CUDA_SUCCESS;
}

/* The kernel is prepared again: what it cannot be launched with is refused here. */
static CUresult replace(struct sim_node *node, const CUlaunchAttribute *attributes, unsigned count)
{
    struct sim_item item;
    CUresult result = sim_params_prepare(&node->item.params, attributes, count, &item);
    if (result != CUDA_SUCCESS)
        return result;
    sim_item_drop(&node->item);
    node->item = item;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                           const CUkernelNodeAttrValue_v1 *value)
{
    struct sim_node *node = kernel(hNode);
    if (!node || !value || !known(attr))
        return CUDA_ERROR_INVALID_VALUE;
    unsigned count = node->item.attribute_count, at = 0;
    CUlaunchAttribute *attributes = calloc(count + 1, sizeof *attributes);
    if (!attributes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (count)
        memcpy(attributes, node->item.attributes, count * sizeof *attributes);
    while (at < count && attributes[at].id != attr)
        at++;
    attributes[at].id = attr;
    attributes[at].value = *value;
    CUresult result = replace(node, attributes, at == count ? count + 1 : count);
    free(attributes);
    return result;
}

CUresult sim_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    struct sim_node *to = kernel(dst), *from = kernel(src);
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    return replace(to, from->item.attributes, from->item.attribute_count);
}
