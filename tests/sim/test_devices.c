/* SPDX-License-Identifier: MIT */
/* Devices of the simulated driver, and what settings make of them. What needs a fresh process runs
 * as a child of the test: the same program with the name of a probe. */
#include "memory_test.h"

static const char *program, *library;

/* --- Devices --- */

static int attribute(CUdevice device, int number)
{
    int value = -1;
    OK(cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)number, device));
    return value;
}

static void test_devices(void **state)
{
    CUuuid first, second;
    CUdevice found;
    char pci[32], name[64];
    int count;
    (void)state;
    OK(cu->cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    OK(cu->cuDeviceGetName(name, sizeof name, 1));
    assert_string_equal(name, "NVIDIA A100-SXM4-40GB");
    OK(cu->cuDeviceGetUuid_v2(&first, 0));
    OK(cu->cuDeviceGetUuid_v2(&second, 1));
    assert_memory_not_equal(&first, &second, sizeof first);
    for (CUdevice device = 0; device < count; device++) {
        OK(cu->cuDeviceGetPCIBusId(pci, sizeof pci, device));
        OK(cu->cuDeviceGetByPCIBusId(&found, pci));
        assert_int_equal(found, device);
        OK(cu->cuDeviceGetByPCIBusId(&found, pci + 5)); /* without its domain */
        assert_int_equal(found, device);
        assert_int_equal(strtol(pci + 5, NULL, 16),
                         attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
    }
    assert_int_equal(attribute(0, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceGetAttribute(&count, (CUdevice_attribute)0, 0));
}

/* The first line that a probe prints in a child with these settings ("NAME=VALUE ..."). */
static void probe(const char *settings, const char *what, char *line, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "env %s '%s' '%s' %s", settings, program, library, what);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    if (!fgets(line, (int)size, pipe))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static void expect(const char *settings, const char *what, const char *expected)
{
    char line[256];
    probe(settings, what, line, sizeof line);
    if (strcmp(line, expected) != 0)
        fail_msg("%s %s: \"%s\", not \"%s\"", settings, what, line, expected);
}

static void test_visible(void **state)
{
    char uuid[64], settings[256];
    (void)state;
    expect("CUSHIM_SIM_DEVICES=4", "visible", "0 4:0123");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=", "visible", "100 0:");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=-1", "visible", "100 0:");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=2", "visible", "0 1:2");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=3,1", "visible", "0 2:31");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=1,9,2", "visible", "0 1:1");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=1,x", "visible", "0 1:1");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=1,2,1", "visible", "100 0:");
    probe("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=2", "uuid", uuid, sizeof uuid);
    assert_int_equal(strlen(uuid), 40);
    snprintf(settings, sizeof settings, "CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=%s,0", uuid);
    expect(settings, "visible", "0 2:20");
    uuid[12] = '\0'; /* any beginning that no other device has */
    snprintf(settings, sizeof settings, "CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=%s", uuid);
    expect(settings, "visible", "0 1:2");
    expect("CUSHIM_SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=GPU-", "visible", "100 0:");
    expect("CUSHIM_SIM_DEVICES=4", "set", "0 1:3");
}

static void test_profiles(void **state)
{
    (void)state;
    expect("CUSHIM_SIM_PROFILE=maxwell", "profile", "NVIDIA GeForce GTX 980 5.2 16");
    expect("CUSHIM_SIM_PROFILE=turing", "profile", "Tesla T4 7.5 40");
    expect("CUSHIM_SIM_PROFILE=ampere", "profile", "NVIDIA A100-SXM4-40GB 8.0 108");
    expect("CUSHIM_SIM_PROFILE=ada", "profile", "NVIDIA GeForce RTX 4090 8.9 128");
    expect("CUSHIM_SIM_PROFILE=hopper", "profile", "NVIDIA H200 9.0 132");
    expect("CUSHIM_SIM_PROFILE=small", "profile", "Simulated device of 2 multiprocessors 8.0 2");
    /* Before its release a device is not known. */
    expect("CUSHIM_SIM_CUDA=9.0 CUSHIM_SIM_PROFILE=hopper", "profile",
           "Tesla V100-SXM2-16GB 7.0 80");
    expect("CUSHIM_SIM_CUDA=6.5", "profile", "NVIDIA GeForce GTX 980 5.2 16");
}

/* Attributes 86, 115, 120 and 144 are of CUDA 8.0, 11.2, 11.8 and 13.0. */
static void test_versions(void **state)
{
    (void)state;
    expect("CUSHIM_SIM_CUDA=6.5", "attributes", "1 1 1 1");
    expect("CUSHIM_SIM_CUDA=8.0", "attributes", "0 1 1 1");
    expect("CUSHIM_SIM_CUDA=11.2", "attributes", "0 0 1 1");
    expect("CUSHIM_SIM_CUDA=11.8", "attributes", "0 0 0 1");
    expect("CUSHIM_SIM_CUDA=13.0", "attributes", "0 0 0 0");
}

/* Names of 220, 222, 223, 224, 226 and 910, as the drivers of these releases have them. */
static void test_errors(void **state)
{
    (void)state;
    expect("CUSHIM_SIM_CUDA=6.5", "errors", "1 1 1 1 1 1");
    expect("CUSHIM_SIM_CUDA=10.1", "errors", "0 1 1 1 1 1");
    expect("CUSHIM_SIM_CUDA=11.0", "errors", "0 0 1 1 1 0");
    expect("CUSHIM_SIM_CUDA=11.2", "errors", "0 0 0 1 1 0");
    expect("CUSHIM_SIM_CUDA=11.4", "errors", "0 0 0 0 1 0");
    expect("CUSHIM_SIM_CUDA=12.8", "errors", "0 0 0 0 0 0");
}

static void test_sticky(void **state)
{
    (void)state;
    expect("CUSHIM_SIM_DEVICES=2", "sticky", "0 700 700 700 700 0 700");
}

/* --- Probes --- */

static int probe_visible(void)
{
    CUresult result = cu->cuInit(0);
    int count = 0;
    if (result == CUDA_SUCCESS)
        OK(cu->cuDeviceGetCount(&count));
    printf("%d %d:", (int)result, count);
    for (int i = 0; i < count; i++)
        printf("%d", (attribute(i, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) - 1) / 3);
    printf("\n");
    return 0;
}

static int probe_uuid(void)
{
    CUuuid uuid;
    OK(cu->cuInit(0));
    OK(cu->cuDeviceGetUuid_v2(&uuid, 0));
    printf("GPU-");
    for (int i = 0; i < 16; i++)
        printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
               (unsigned)(unsigned char)uuid.bytes[i]);
    printf("\n");
    return 0;
}

static int probe_profile(void)
{
    char name[64];
    OK(cu->cuInit(0));
    OK(cu->cuDeviceGetName(name, sizeof name, 0));
    printf("%s %d.%d %d\n", name, attribute(0, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
           attribute(0, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
           attribute(0, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    return 0;
}

static int probe_attributes(void)
{
    static const int numbers[] = {86, 115, 120, 144};
    OK(cu->cuInit(0));
    for (int i = 0; i < 4; i++) {
        int value;
        printf("%s%d", i ? " " : "",
               (int)cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)numbers[i], 0));
    }
    printf("\n");
    return 0;
}

static int probe_errors(void)
{
    static const int codes[] = {220, 222, 223, 224, 226, 910};
    const char *name;
    for (int i = 0; i < 6; i++)
        printf("%s%d", i ? " " : "", (int)cu->cuGetErrorName((CUresult)codes[i], &name));
    printf("\n");
    return 0;
}

/* A graph writes to memory that is freed meanwhile: its device is lost, the other one is not. */
static int probe_sticky(void)
{
    CUcontext context, other, more;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec executable;
    CUdeviceptr address;
    CUstreamBatchMemOpParams write;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.count = 1, .paramArray = &write};
    OK(cu->cuInit(0));
    OK(cu->cuCtxCreate_v2(&other, 0, 1));
    OK(cu->cuCtxCreate_v2(&context, 0, 0));
    address = memory_of(64);
    memset(&write, 0, sizeof write);
    write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = address;
    params.ctx = context;
    OK(cu->cuGraphCreate(&graph, 0));
    OK(cu->cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    OK(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cu->cuMemFree_v2(address));
    printf("%d", (int)cu->cuGraphLaunch(executable, NULL));
    printf(" %d", (int)cu->cuCtxSynchronize());
    printf(" %d", (int)cu->cuMemAlloc_v2(&address, 16));
    printf(" %d", (int)cu->cuStreamSynchronize(NULL));
    printf(" %d", (int)cu->cuCtxCreate_v2(&more, 0, 0));
    OK(cu->cuCtxSetCurrent(other));
    printf(" %d", (int)cu->cuMemAlloc_v2(&address, 16));
    OK(cu->cuCtxSetCurrent(context));
    printf(" %d\n", (int)cu->cuCtxSynchronize());
    return 0;
}

static int run_probe(const char *name)
{
    struct cushim_options options = {.size = sizeof options, .path = library};
    const struct cushim_api *instance = cushim_open(&options);
    cu = instance;
    int version;
    if (strcmp(name, "set") == 0) {
        OK(cu->cuDriverGetVersion(&version)); /* the settings are read: this one is later */
        setenv("CUDA_VISIBLE_DEVICES", "3", 1);
        return probe_visible();
    }
    return strcmp(name, "visible") == 0      ? probe_visible()
           : strcmp(name, "uuid") == 0       ? probe_uuid()
           : strcmp(name, "profile") == 0    ? probe_profile()
           : strcmp(name, "attributes") == 0 ? probe_attributes()
           : strcmp(name, "errors") == 0     ? probe_errors()
           : strcmp(name, "sticky") == 0     ? probe_sticky()
                                             : 2;
}

static const struct CMUnitTest tests[] = {
    MEMORY_OWN(test_devices, "its devices"),  MEMORY_OWN(test_visible, "its settings"),
    MEMORY_OWN(test_profiles, "its devices"), MEMORY_OWN(test_versions, "its settings"),
    MEMORY_OWN(test_errors, "its settings"),  MEMORY_OWN(test_sticky, "its settings"),
};

int main(int argc, char **argv)
{
    program = argv[0];
    library = argc > 1 ? argv[1] : "";
    if (argc == 3)
        return run_probe(argv[2]);
    return memory_main(argc, argv, "devices", tests, sizeof tests / sizeof *tests);
}
