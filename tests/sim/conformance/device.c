/* SPDX-License-Identifier: MIT */
/* What a device says about itself. */
#include "conform.h"

static void counting(void)
{
    int count = -5;
    CUdevice device = -5;
    CALL(cu->cuDeviceGetCount(&count));
    VALUE("count=%d", count);
    CALL(cu->cuDeviceGetCount(NULL));
    CALL(cu->cuDeviceGet(&device, 0));
    VALUE("device=%d", device);
    device = -5;
    CALL(cu->cuDeviceGet(&device, 1));
    VALUE("device=%d", device);
    CALL(cu->cuDeviceGet(&device, -1));
    CALL(cu->cuDeviceGet(&device, 1000));
    CALL(cu->cuDeviceGet(NULL, 0));
    VALUE("device=%d", device);
}

/* Where the machine put the card, not what the card is. */
static bool is_place(int attribute)
{
    return attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ||
           attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ||
           attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID ||
           attribute == CU_DEVICE_ATTRIBUTE_NUMA_ID ||
           attribute == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID;
}

static void attributes(void)
{
    for (int attribute = -1; attribute < 170; attribute++) {
        int value = -77;
        EACH(cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)attribute, dev), "attribute %d",
             attribute);
        if (!is_place(attribute))
            VALUE("value=%d", value);
    }
}

static void attribute_misuse(void)
{
    int value = -77;
    CALL(cu->cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev));
    CALL(cu->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1));
    VALUE("value=%d", value);
    CALL(cu->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1));
    CALL(cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)0x7fffffff, dev));
    CALL(cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)0x7fffffff, 99));
    CALL(cu->cuDeviceGetAttribute(NULL, (CUdevice_attribute)0x7fffffff, 99));
}

static void name(void)
{
    char text[64];
    memset(text, '#', sizeof text);
    CALL(cu->cuDeviceGetName(text, sizeof text, dev));
    VALUE("name=%s", text);
    for (int room = 12; room >= 1; room -= room > 3 ? 5 : 1) {
        memset(text, '#', sizeof text - 1);
        text[63] = 0;
        EACH(cu->cuDeviceGetName(text, room, dev), "cuDeviceGetName with room for %d", room);
        VALUE("name=%.14s", text);
    }
    CALL(cu->cuDeviceGetName(NULL, 64, dev));
    CALL(cu->cuDeviceGetName(text, 64, 1));
}

static void total_memory(void)
{
    size_t bytes = 7;
    CALL(cu->cuDeviceTotalMem(&bytes, dev));
    VALUE("bytes=%zu", bytes);
    CALL(cu->cuDeviceTotalMem(NULL, dev));
    CALL(cu->cuDeviceTotalMem(&bytes, 1));
    CALL(cu->cuDeviceTotalMem(&bytes, -1));
}

static void old_capability(void)
{
    int major = 0, minor = 0;
    CUdevprop properties;
    memset(&properties, 0, sizeof properties);
    CALL(cu->cuDeviceComputeCapability(&major, &minor, dev));
    VALUE("%d.%d", major, minor);
    CALL(cu->cuDeviceComputeCapability(NULL, &minor, dev));
    CALL(cu->cuDeviceComputeCapability(&major, NULL, dev));
    CALL(cu->cuDeviceComputeCapability(&major, &minor, 5));
    CALL(cu->cuDeviceGetProperties(&properties, dev));
    VALUE("threads=%d block=%dx%dx%d grid=%dx%dx%d shared=%d constant=%d warp=%d pitch=%d "
          "registers=%d clock=%d align=%d",
          properties.maxThreadsPerBlock, properties.maxThreadsDim[0], properties.maxThreadsDim[1],
          properties.maxThreadsDim[2], properties.maxGridSize[0], properties.maxGridSize[1],
          properties.maxGridSize[2], properties.sharedMemPerBlock, properties.totalConstantMemory,
          properties.SIMDWidth, properties.memPitch, properties.regsPerBlock, properties.clockRate,
          properties.textureAlign);
    CALL(cu->cuDeviceGetProperties(NULL, dev));
    CALL(cu->cuDeviceGetProperties(&properties, 5));
}

static void uuid(void)
{
    CUuuid first, second;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    CALL(cu->cuDeviceGetUuid_v2(&first, dev));
    CALL(cu->cuDeviceGetUuid_v2(&second, dev));
    VALUE("same=%d", memcmp(&first, &second, sizeof first) == 0);
    CALL(cu->cuDeviceGetUuid_v1(&second, dev));
    VALUE("same=%d", memcmp(&first, &second, sizeof first) == 0);
    CALL(cu->cuDeviceGetUuid_v2(NULL, dev));
    CALL(cu->cuDeviceGetUuid_v2(&second, 1));
    char luid[8];
    unsigned mask = 0;
    CALL(cu->cuDeviceGetLuid(luid, &mask, dev));
    CALL(cu->cuDeviceGetLuid(NULL, &mask, dev));
}

static void pci(void)
{
    char text[32] = "";
    CUdevice device = -5;
    CALL(cu->cuDeviceGetPCIBusId(text, sizeof text, dev));
    VALUE("length=%zu", strlen(text));
    CALL(cu->cuDeviceGetByPCIBusId(&device, text));
    VALUE("device=%d", device);
    CALL(cu->cuDeviceGetByPCIBusId(&device, text + 5));
    CALL(cu->cuDeviceGetByPCIBusId(&device, "0000:ff:1f.0"));
    CALL(cu->cuDeviceGetByPCIBusId(&device, "nonsense"));
    CALL(cu->cuDeviceGetByPCIBusId(&device, ""));
    CALL(cu->cuDeviceGetByPCIBusId(&device, NULL));
    CALL(cu->cuDeviceGetByPCIBusId(NULL, text));
    for (int room = 14; room > 11; room--) {
        char small[32] = "unwritten";
        EACH(cu->cuDeviceGetPCIBusId(small, room, dev), "cuDeviceGetPCIBusId with room for %d",
             room);
        VALUE("length=%zu", strlen(small));
    }
    CALL(cu->cuDeviceGetPCIBusId(text, 0, dev));
    CALL(cu->cuDeviceGetPCIBusId(NULL, 32, dev));
    CALL(cu->cuDeviceGetPCIBusId(text, sizeof text, 1));
}

static void peers(void)
{
    int value = -77;
    CALL(cu->cuDeviceCanAccessPeer(&value, dev, dev));
    VALUE("value=%d", value);
    CALL(cu->cuDeviceCanAccessPeer(&value, dev, 1));
    CALL(cu->cuDeviceCanAccessPeer(NULL, dev, dev));
    for (int attribute = 0; attribute < 7; attribute++)
        EACH(cu->cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)attribute, dev, dev),
             "cuDeviceGetP2PAttribute %d with itself", attribute);
    CALL(cu->cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, dev, 1));
    CALL(cu->cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, dev, dev));
}

static void peer_access(void)
{
    CUcontext other = conform_context();
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuCtxEnablePeerAccess(ctx, 0));
    CALL(cu->cuCtxEnablePeerAccess(other, 0));
    CALL(cu->cuCtxEnablePeerAccess(other, 1));
    CALL(cu->cuCtxEnablePeerAccess(NULL, 0));
    CALL(cu->cuCtxDisablePeerAccess(other));
    CALL(cu->cuCtxDisablePeerAccess(ctx));
    CALL(cu->cuCtxDisablePeerAccess(NULL));
}

static void affinity(void)
{
    int value = -77;
    for (int type = -1; type < 3; type++) {
        EACH(cu->cuDeviceGetExecAffinitySupport(&value, (CUexecAffinityType)type, dev),
             "cuDeviceGetExecAffinitySupport %d", type);
        VALUE("value=%d", value);
    }
    CALL(cu->cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, dev));
    CALL(cu->cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 1));
}

static void texture_width(void)
{
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_HALF,
                                             CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_SIGNED_INT32};
    for (size_t i = 0; i < 4; i++) {
        for (unsigned channels = 0; channels < 6; channels++) {
            size_t width = 7;
            EACH(cu->cuDeviceGetTexture1DLinearMaxWidth(&width, formats[i], channels, dev),
                 "cuDeviceGetTexture1DLinearMaxWidth format %d channels %u", (int)formats[i],
                 channels);
            VALUE("width=%zu", width);
        }
    }
    size_t width = 7;
    CALL(cu->cuDeviceGetTexture1DLinearMaxWidth(&width, (CUarray_format)4, 1, dev));
    CALL(cu->cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_FLOAT, 1, dev));
    CALL(cu->cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 3));
}

static void resources(void)
{
    CUdevResource resource;
    for (int type = 0; type < 4; type++) {
        memset(&resource, 0, sizeof resource);
        EACH(cu->cuDeviceGetDevResource(dev, &resource, (CUdevResourceType)type),
             "cuDeviceGetDevResource %d", type);
        if (type == CU_DEV_RESOURCE_TYPE_SM)
            VALUE("type=%d sms=%u", (int)resource.type, resource.sm.smCount);
    }
    CALL(cu->cuDeviceGetDevResource(dev, NULL, CU_DEV_RESOURCE_TYPE_SM));
    CALL(cu->cuDeviceGetDevResource(1, &resource, CU_DEV_RESOURCE_TYPE_SM));
}

static void flush_rdma(void)
{
    CALL(cu->cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
    CALL(cu->cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)5,
                                        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
    CALL(cu->cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                        (CUflushGPUDirectRDMAWritesScope)5));
}

static const struct sequence sequences[] = {
    S(counting, INIT),       S(attributes, INIT),    S(attribute_misuse, INIT),
    S(name, INIT),           S(total_memory, INIT),  S(old_capability, INIT),
    S(uuid, INIT),           S(pci, INIT),           S(peers, INIT),
    S(peer_access, PRIMARY), S(affinity, INIT),      S(texture_width, INIT),
    S(resources, INIT),      S(flush_rdma, PRIMARY), {0}};
const struct family device_family = {"device", sequences};
