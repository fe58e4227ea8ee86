/* SPDX-License-Identifier: MIT */
/* One direct use of each feature, for features.c. Each returns the code of the first call that
 * failed, or of the check behind it. */
#ifndef TESTS_DEVICE_FEATURES_TRIAL_H
#define TESTS_DEVICE_FEATURES_TRIAL_H

#include <cushim/cushim.h>

extern const struct cushim_api *trial_api;
extern CUdevice trial_device;
extern CUstream trial_stream;
extern CUfunction trial_function; /* a kernel without parameters that does nothing */
extern CUmodule trial_module;
extern const char trial_ptx[];

void trial_begin(const struct cushim_api *api);
void trial_end(void);

/* Return the code of a call that fails. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        CUresult code_ = (call);                                                                   \
        if (code_ != CUDA_SUCCESS)                                                                 \
            return code_;                                                                          \
    } while (0)

CUresult trial_alloc_async(void);
CUresult trial_batch(void);
CUresult trial_batch_v2(void);
CUresult trial_callback(void);
CUresult trial_capture(void);
CUresult trial_capture_dependencies(void);
CUresult trial_capture_mode(void);
CUresult trial_capture_to_graph(void);
CUresult trial_cluster(void);
CUresult trial_cluster_preferred(void);
CUresult trial_completion_event(void);
CUresult trial_conditional(void);
CUresult trial_context_flags(void);
CUresult trial_context_id(void);
CUresult trial_cooperative(void);
CUresult trial_coredump(void);
CUresult trial_deferred(void);
CUresult trial_device_launch(void);
CUresult trial_discard(void);
CUresult trial_dma_buf(void);
CUresult trial_dma_buf_host(void);
CUresult trial_dot(void);
CUresult trial_edge_data(void);
CUresult trial_error_logs(void);
CUresult trial_error_name(void);
CUresult trial_event_external(void);
CUresult trial_event_ipc(void);
CUresult trial_event_node(void);
CUresult trial_exec_affinity(void);
CUresult trial_function_loading(void);
CUresult trial_generic_node(void);
CUresult trial_graph(void);
CUresult trial_graph_update(void);
CUresult trial_graph_update_v1(void);
CUresult trial_graph_upload(void);
CUresult trial_green(void);
CUresult trial_green_id(void);
CUresult trial_green_stream(void);
CUresult trial_handle_of_address(void);
CUresult trial_host_atomics(void);
CUresult trial_host_function(void);
CUresult trial_host_mapped(void);
CUresult trial_instantiate_params(void);
CUresult trial_jit(void);
CUresult trial_kernel_name(void);
CUresult trial_kernel_parameters(void);
CUresult trial_l2(void);
CUresult trial_launch(void);
CUresult trial_launch_carveout(void);
CUresult trial_launch_ex(void);
CUresult trial_launch_priority(void);
CUresult trial_lazy(void);
CUresult trial_library(void);
CUresult trial_library_kernels(void);
CUresult trial_limits(void);
CUresult trial_link(void);
CUresult trial_link_v1(void);
CUresult trial_managed(void);
CUresult trial_managed_concurrent(void);
CUresult trial_mem_op(void);
CUresult trial_mem_op_64(void);
CUresult trial_mem_op_v1(void);
CUresult trial_memory_ipc(void);
CUresult trial_memory_node(void);
CUresult trial_mipmap(void);
CUresult trial_module_functions(void);
CUresult trial_node_enable(void);
CUresult trial_node_update(void);
CUresult trial_notifications(void);
CUresult trial_nvlink_scheduling(void);
CUresult trial_occupancy(void);
CUresult trial_occupancy_shared(void);
CUresult trial_pci_bus_id(void);
CUresult trial_per_thread(void);
CUresult trial_pointer_attributes(void);
CUresult trial_pool(void);
CUresult trial_pool_fabric(void);
CUresult trial_pool_fd(void);
CUresult trial_pool_host(void);
CUresult trial_pool_host_numa(void);
CUresult trial_pool_managed(void);
CUresult trial_position_independent(void);
CUresult trial_prefetch_batch(void);
CUresult trial_prefetch_location(void);
CUresult trial_primary_context(void);
CUresult trial_priorities(void);
CUresult trial_proc_address(void);
CUresult trial_proc_address_status(void);
CUresult trial_profiler(void);
CUresult trial_programmatic(void);
CUresult trial_programmatic_event(void);
CUresult trial_rdma_flush(void);
CUresult trial_register(void);
CUresult trial_register_read_only(void);
CUresult trial_register_same(void);
CUresult trial_shared_memory(void);
CUresult trial_sparse(void);
CUresult trial_stream_attribute(void);
CUresult trial_stream_device(void);
CUresult trial_stream_id(void);
CUresult trial_surface(void);
CUresult trial_switch(void);
CUresult trial_sync_domain(void);
CUresult trial_tensor_map(void);
CUresult trial_texture(void);
CUresult trial_unified(void);
CUresult trial_user_object(void);
CUresult trial_uuid(void);
CUresult trial_uuid_mig(void);
CUresult trial_virtual(void);
CUresult trial_virtual_compression(void);
CUresult trial_virtual_fabric(void);
CUresult trial_virtual_fd(void);
CUresult trial_virtual_host(void);
CUresult trial_virtual_host_numa(void);
CUresult trial_virtual_rdma(void);
CUresult trial_wait_nor(void);

#endif
