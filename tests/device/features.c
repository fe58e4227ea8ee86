/* SPDX-License-Identifier: MIT */
/*
 * Features against a trial of each: where cushim_feature says that a feature is supported, a direct
 * call that uses it works; where it says that this device lacks it, the call fails. Prints a line
 * for each feature.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cushim/feature.h>

#include "device.h"
#include "features_trial.h"

struct trial {
    enum cushim_feature feature;
    CUresult (*run)(void);
};

static const struct trial trials[] = {
    {CUSHIM_FEATURE_DEVICE_PCI_BUS_ID, trial_pci_bus_id},
    {CUSHIM_FEATURE_DEVICE_UUID, trial_uuid},
    {CUSHIM_FEATURE_DEVICE_UUID_MIG, trial_uuid_mig},
    {CUSHIM_FEATURE_DEVICE_NOTIFICATIONS, trial_notifications},
    {CUSHIM_FEATURE_HOST_ATOMIC_CAPABILITIES, trial_host_atomics},
    {CUSHIM_FEATURE_PRIMARY_CONTEXT, trial_primary_context},
    {CUSHIM_FEATURE_CONTEXT_LIMITS, trial_limits},
    {CUSHIM_FEATURE_CONTEXT_FLAGS_CHANGE, trial_context_flags},
    {CUSHIM_FEATURE_CONTEXT_ID, trial_context_id},
    {CUSHIM_FEATURE_GREEN_CONTEXTS, trial_green},
    {CUSHIM_FEATURE_GREEN_CONTEXT_STREAMS, trial_green_stream},
    {CUSHIM_FEATURE_GREEN_CONTEXT_ID, trial_green_id},
    {CUSHIM_FEATURE_UNIFIED_ADDRESSING, trial_unified},
    {CUSHIM_FEATURE_POINTER_ATTRIBUTES, trial_pointer_attributes},
    {CUSHIM_FEATURE_STREAM_ORDERED_ALLOCATION, trial_alloc_async},
    {CUSHIM_FEATURE_MEMORY_POOLS, trial_pool},
    {CUSHIM_FEATURE_MEMORY_POOL_FD, trial_pool_fd},
    {CUSHIM_FEATURE_MEMORY_POOL_HOST, trial_pool_host},
    {CUSHIM_FEATURE_MEMORY_POOL_HOST_NUMA, trial_pool_host_numa},
    {CUSHIM_FEATURE_MEMORY_POOL_MANAGED, trial_pool_managed},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY, trial_virtual},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY_FD, trial_virtual_fd},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY_HOST, trial_virtual_host},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY_HOST_NUMA, trial_virtual_host_numa},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY_COMPRESSION, trial_virtual_compression},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY_RDMA, trial_virtual_rdma},
    {CUSHIM_FEATURE_ALLOCATION_HANDLE_OF_ADDRESS, trial_handle_of_address},
    {CUSHIM_FEATURE_DMA_BUF, trial_dma_buf},
    {CUSHIM_FEATURE_DMA_BUF_HOST, trial_dma_buf_host},
    {CUSHIM_FEATURE_L2_PERSISTENCE, trial_l2},
    {CUSHIM_FEATURE_BATCH_COPIES, trial_batch},
    {CUSHIM_FEATURE_BATCH_COPIES_V2, trial_batch_v2},
    {CUSHIM_FEATURE_MANAGED_MEMORY, trial_managed},
    {CUSHIM_FEATURE_MANAGED_MEMORY_CONCURRENT, trial_managed_concurrent},
    {CUSHIM_FEATURE_MANAGED_PREFETCH, trial_managed_concurrent},
    {CUSHIM_FEATURE_MANAGED_PREFETCH_LOCATION, trial_prefetch_location},
    {CUSHIM_FEATURE_MANAGED_DISCARD, trial_discard},
    {CUSHIM_FEATURE_HOST_MEMORY_MAPPED, trial_host_mapped},
    {CUSHIM_FEATURE_HOST_REGISTRATION, trial_register},
    {CUSHIM_FEATURE_HOST_REGISTRATION_READ_ONLY, trial_register_read_only},
    {CUSHIM_FEATURE_HOST_REGISTRATION_SAME_POINTER, trial_register_same},
    {CUSHIM_FEATURE_MEMORY_IPC, trial_memory_ipc},
    {CUSHIM_FEATURE_EVENT_IPC, trial_event_ipc},
    {CUSHIM_FEATURE_TEXTURE_OBJECTS, trial_texture},
    {CUSHIM_FEATURE_SURFACE_OBJECTS, trial_surface},
    {CUSHIM_FEATURE_MIPMAPPED_ARRAYS, trial_mipmap},
    {CUSHIM_FEATURE_SPARSE_ARRAYS, trial_sparse},
    {CUSHIM_FEATURE_DEFERRED_MAPPING_ARRAYS, trial_deferred},
    {CUSHIM_FEATURE_PER_THREAD_STREAMS, trial_per_thread},
    {CUSHIM_FEATURE_STREAM_PRIORITIES, trial_priorities},
    {CUSHIM_FEATURE_STREAM_CALLBACKS, trial_callback},
    {CUSHIM_FEATURE_HOST_FUNCTIONS, trial_host_function},
    {CUSHIM_FEATURE_STREAM_ATTRIBUTES, trial_stream_attribute},
    {CUSHIM_FEATURE_STREAM_ID, trial_stream_id},
    {CUSHIM_FEATURE_STREAM_DEVICE, trial_stream_device},
    {CUSHIM_FEATURE_STREAM_MEMORY_OPS_V1, trial_mem_op_v1},
    {CUSHIM_FEATURE_STREAM_MEMORY_OPS, trial_mem_op},
    {CUSHIM_FEATURE_STREAM_MEMORY_OPS_64, trial_mem_op_64},
    {CUSHIM_FEATURE_STREAM_WAIT_NOR, trial_wait_nor},
    {CUSHIM_FEATURE_EVENTS_EXTERNAL, trial_event_external},
    {CUSHIM_FEATURE_GRAPHS, trial_graph},
    {CUSHIM_FEATURE_GRAPH_CAPTURE, trial_capture},
    {CUSHIM_FEATURE_GRAPH_CAPTURE_MODES, trial_capture_mode},
    {CUSHIM_FEATURE_GRAPH_CAPTURE_TO_GRAPH, trial_capture_to_graph},
    {CUSHIM_FEATURE_GRAPH_UPDATE_RESULT, trial_graph_update},
    {CUSHIM_FEATURE_GRAPH_UPLOAD, trial_graph_upload},
    {CUSHIM_FEATURE_GRAPH_EVENT_NODES, trial_event_node},
    {CUSHIM_FEATURE_GRAPH_MEMORY_NODES, trial_memory_node},
    {CUSHIM_FEATURE_GRAPH_USER_OBJECTS, trial_user_object},
    {CUSHIM_FEATURE_GRAPH_CONDITIONAL_NODES, trial_conditional},
    {CUSHIM_FEATURE_GRAPH_SWITCH_NODES, trial_switch},
    {CUSHIM_FEATURE_LAUNCH_KERNEL, trial_launch},
    {CUSHIM_FEATURE_LAUNCH_ATTRIBUTES, trial_launch_ex},
    {CUSHIM_FEATURE_LAUNCH_PRIORITY, trial_launch_priority},
    {CUSHIM_FEATURE_COOPERATIVE_LAUNCH, trial_cooperative},
    {CUSHIM_FEATURE_CLUSTERS, trial_cluster},
    {CUSHIM_FEATURE_CLUSTERS_PREFERRED, trial_cluster_preferred},
    {CUSHIM_FEATURE_PROGRAMMATIC_LAUNCH, trial_programmatic},
    {CUSHIM_FEATURE_PROGRAMMATIC_EVENT, trial_programmatic_event},
    {CUSHIM_FEATURE_LAUNCH_COMPLETION_EVENT, trial_completion_event},
    {CUSHIM_FEATURE_MEMORY_SYNC_DOMAINS, trial_sync_domain},
    {CUSHIM_FEATURE_LAUNCH_NVLINK_SCHEDULING, trial_nvlink_scheduling},
    {CUSHIM_FEATURE_SHARED_MEMORY_OPT_IN, trial_shared_memory},
    {CUSHIM_FEATURE_OCCUPANCY, trial_occupancy},
    {CUSHIM_FEATURE_TENSOR_MAPS, trial_tensor_map},
    {CUSHIM_FEATURE_JIT_PTX, trial_jit},
    {CUSHIM_FEATURE_JIT_LINK_V2, trial_link},
    {CUSHIM_FEATURE_JIT_INPUT_PTX, trial_link},
    {CUSHIM_FEATURE_LAZY_LOADING, trial_lazy},
    {CUSHIM_FEATURE_LIBRARIES, trial_library},
    {CUSHIM_FEATURE_LIBRARY_ENUMERATION, trial_library_kernels},
    {CUSHIM_FEATURE_MODULE_ENUMERATION, trial_module_functions},
    {CUSHIM_FEATURE_FUNCTION_LOADING, trial_function_loading},
    {CUSHIM_FEATURE_KERNEL_NAMES, trial_kernel_name},
    {CUSHIM_FEATURE_KERNEL_PARAMETERS, trial_kernel_parameters},
    {CUSHIM_FEATURE_PROC_ADDRESS, trial_proc_address},
    {CUSHIM_FEATURE_PROC_ADDRESS_STATUS, trial_proc_address_status},
    {CUSHIM_FEATURE_EXEC_AFFINITY, trial_exec_affinity},
    {CUSHIM_FEATURE_MEMORY_POOL_FABRIC, trial_pool_fabric},
    {CUSHIM_FEATURE_VIRTUAL_MEMORY_FABRIC, trial_virtual_fabric},
    {CUSHIM_FEATURE_GPU_DIRECT_RDMA_FLUSH, trial_rdma_flush},
    {CUSHIM_FEATURE_MANAGED_PREFETCH_BATCH, trial_prefetch_batch},
    {CUSHIM_FEATURE_GRAPH_CAPTURE_DEPENDENCIES, trial_capture_dependencies},
    {CUSHIM_FEATURE_GRAPH_NODE_UPDATES, trial_node_update},
    {CUSHIM_FEATURE_GRAPH_UPDATE, trial_graph_update_v1},
    {CUSHIM_FEATURE_GRAPH_NODE_ENABLE, trial_node_enable},
    {CUSHIM_FEATURE_GRAPH_DOT, trial_dot},
    {CUSHIM_FEATURE_GRAPH_INSTANTIATE_PARAMS, trial_instantiate_params},
    {CUSHIM_FEATURE_GRAPH_DEVICE_LAUNCH, trial_device_launch},
    {CUSHIM_FEATURE_GRAPH_GENERIC_NODES, trial_generic_node},
    {CUSHIM_FEATURE_GRAPH_EDGE_DATA, trial_edge_data},
    {CUSHIM_FEATURE_LAUNCH_CARVEOUT, trial_launch_carveout},
    {CUSHIM_FEATURE_OCCUPANCY_SHARED_MEMORY, trial_occupancy_shared},
    {CUSHIM_FEATURE_JIT_LINK, trial_link_v1},
    {CUSHIM_FEATURE_JIT_POSITION_INDEPENDENT, trial_position_independent},
    {CUSHIM_FEATURE_PROFILER_CONTROL, trial_profiler},
    {CUSHIM_FEATURE_ERROR_NAMES, trial_error_name},
    {CUSHIM_FEATURE_ERROR_LOGS, trial_error_logs},
    {CUSHIM_FEATURE_COREDUMP_CONTROL, trial_coredump},
};

static const struct trial *find_trial(enum cushim_feature feature)
{
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        if (trials[i].feature == feature)
            return &trials[i];
    }
    return NULL;
}

int main(void)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    int tried = 0, untried = 0, wrong = 0;

    trial_begin(device_or_skip());
    for (size_t i = 0; cushim_feature_list(i, &facts); i++) {
        enum cushim_support support;
        char text[256];
        const struct trial *trial = find_trial(facts.feature);

        cushim_feature_reason(trial_api, trial_device, facts.feature, &support, text, sizeof text);
        if (support != CUSHIM_SUPPORTED && support != CUSHIM_UNSUPPORTED_DEVICE) {
            printf("%-32s %-10s\n", facts.name, cushim_support_name(support));
            continue;
        }
        if (!trial) {
            printf("%-32s %-10s not tried\n", facts.name, cushim_support_name(support));
            untried++;
            continue;
        }
        CUresult result = trial->run();
        /* 800: the driver and the device have it, and this process may not use it. */
        bool works = result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_PERMITTED;
        bool agrees = (support == CUSHIM_SUPPORTED) == works;
        printf("%-32s %-10s %s %d%s\n", facts.name, cushim_support_name(support),
               result == CUDA_SUCCESS ? "works" : "fails with", (int)result,
               agrees ? "" : "   DISAGREES");
        tried++;
        wrong += !agrees;
    }
    trial_end();
    printf("%d tried, %d not tried, %d disagree\n", tried, untried, wrong);
    return wrong ? 1 : 0;
}
