/* SPDX-License-Identifier: MIT */
/* Copies between two contexts: on one device, and on two where there are two. */
#include "memory_common.h"

enum { SIZE = 1 << 20, PITCH = 1024, ROWS = 64, PLANES = 16 };

static unsigned char sent[SIZE], received[SIZE];

/* A context, memory of its own in it, and how that is filled and read from the test's context. */
struct side {
    CUcontext context;
    CUdeviceptr memory;
};

static void enter(CUcontext context)
{
    CALL(cu_api->cuCtxPushCurrent_v2(context));
}

static void leave(void)
{
    CUcontext popped;
    CALL(cu_api->cuCtxPopCurrent_v2(&popped));
}

static struct side make_side(const struct cushim_api *cu, CUcontext context)
{
    struct side side = {.context = context};
    enter(context);
    HELPER(cushim_memory_alloc(cu, SIZE, &side.memory));
    /* What arrives is no leftover; nor does initcheck see peer copies write. */
    HELPER(cushim_fill_8(cu, side.memory, 0xee, SIZE));
    leave();
    return side;
}

static void free_side(const struct cushim_api *cu, const struct side *side)
{
    enter(side->context);
    HELPER(cushim_memory_free(cu, side->memory));
    leave();
}

static void write_side(const struct cushim_api *cu, const struct side *side, unsigned seed)
{
    enter(side->context);
    memory_set(sent, SIZE, seed);
    HELPER(cushim_copy_to_device(cu, side->memory, sent, SIZE));
    CALL(cu_api->cuCtxSynchronize_v1());
    leave();
}

static void check_side(const struct cushim_api *cu, const struct side *side, unsigned seed)
{
    enter(side->context);
    CALL(cu_api->cuCtxSynchronize_v1());
    HELPER(cushim_copy_to_host(cu, received, side->memory, SIZE));
    CHECK_PATTERN(received, SIZE, seed);
    leave();
}

static void copy_all_ways(const struct cushim_api *cu, const struct side *from,
                          const struct side *to)
{
    CUstream stream;
    CALL(cu_api->cuStreamCreate(&stream, 0));
    write_side(cu, from, 1);
    HELPER(cushim_copy_peer(cu, to->memory, to->context, from->memory, from->context, SIZE));
    CALL(cu_api->cuCtxSynchronize_v1());
    check_side(cu, to, 1);

    write_side(cu, from, 2);
    HELPER(cushim_copy_peer_async(cu, to->memory, to->context, from->memory, from->context, SIZE,
                                  stream));
    CALL(cu_api->cuStreamSynchronize(stream));
    check_side(cu, to, 2);

    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = from->memory,
                              .srcContext = from->context,
                              .srcPitch = PITCH,
                              .srcHeight = ROWS,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = to->memory,
                              .dstContext = to->context,
                              .dstPitch = PITCH,
                              .dstHeight = ROWS,
                              .WidthInBytes = PITCH,
                              .Height = ROWS,
                              .Depth = PLANES};
    write_side(cu, from, 3);
    HELPER(cushim_copy_3d_peer(cu, &box));
    CALL(cu_api->cuCtxSynchronize_v1());
    check_side(cu, to, 3);
    write_side(cu, from, 4);
    HELPER(cushim_copy_3d_peer_async(cu, &box, stream));
    CALL(cu_api->cuStreamSynchronize(stream));
    check_side(cu, to, 4);

    write_side(cu, from, 5);
    HELPER(cushim_copy(cu, to->memory, from->memory, SIZE));
    CALL(cu_api->cuCtxSynchronize_v1());
    check_side(cu, to, 5);

    REFUSED(cushim_copy_peer(cu, to->memory, to->context, from->memory, from->context, SIZE + 1),
            "cushim_copy_peer: dst: 1048577 bytes");
    REFUSED(cushim_copy_peer(cu, to->memory, NULL, from->memory, from->context, SIZE),
            "cushim_copy_peer: dst_context: NULL");
    box.dstZ = 1;
    REFUSED(cushim_copy_3d_peer(cu, &box), "cushim_copy_3d_peer: copy: dstDevice: ");
    CALL(cu_api->cuStreamDestroy_v2(stream));
}

static void both_directions(const struct cushim_api *cu, CUcontext one, CUcontext two,
                            const char *what)
{
    struct side first = make_side(cu, one), second = make_side(cu, two);
    copy_all_ways(cu, &first, &second);
    copy_all_ways(cu, &second, &first);
    free_side(cu, &first);
    free_side(cu, &second);
    printf("%s: all bytes arrived\n", what);
}

static void show(const char *what, CUresult result)
{
    CUcontext now;
    printf("%s: %d %s\n", what, (int)result, result == CUDA_SUCCESS ? "" : cushim_last_error());
    CALL(cu_api->cuCtxGetCurrent(&now));
    CHECK(now == memory_context);
}

static void one_device(const struct cushim_api *cu)
{
    CUcontext other;
    CALL(cu_api->cuCtxCreate_v2(&other, 0, 0));
    leave();
    both_directions(cu, memory_context, other, "two contexts of one device");
    show("peer access within one device", cushim_peer_enable(cu, memory_context, other));
    show("taking it back", cushim_peer_disable(cu, memory_context, other));
    CALL(cu_api->cuCtxDestroy_v2(other));
}

static void two_devices(const struct cushim_api *cu)
{
    int count = 0, can = 0;
    CUcontext other;
    CALL(cu_api->cuDeviceGetCount(&count));
    if (count < 2) {
        printf("one device alone: copies between two are not tested\n");
        return;
    }
    CALL(cu_api->cuDeviceCanAccessPeer(&can, 0, 1));
    printf("device 0 can%s access device 1\n", can ? "" : "not");
    CALL(cu_api->cuDevicePrimaryCtxRetain(&other, 1));
    both_directions(cu, memory_context, other, "two devices");
    CUresult result = cushim_peer_enable(cu, memory_context, other);
    show("peer access", result);
    CHECK(can ? result == CUDA_SUCCESS : result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    if (can) {
        HELPER(cushim_peer_enable(cu, memory_context, other));
        HELPER(cushim_peer_enable(cu, other, memory_context));
        both_directions(cu, memory_context, other, "two devices with peer access");
        HELPER(cushim_peer_disable(cu, other, memory_context));
        HELPER(cushim_peer_disable(cu, memory_context, other));
    }
    HELPER(cushim_peer_disable(cu, memory_context, other));
    CALL(cu_api->cuDevicePrimaryCtxRelease_v2(1));
}

static void body(const struct cushim_api *cu)
{
    one_device(cu);
    two_devices(cu);
}

int main(void)
{
    return memory_run(body);
}
