/* SPDX-License-Identifier: MIT */
#include "memory_test.h"

#include <time.h>
#include <unistd.h>

const struct cushim_api *cu;
CUcontext memory_context;
static const struct cushim_api *instance;
static const char *library;
static size_t free_before[2];
static int devices;
bool memory_simulated;

static size_t free_of(CUdevice device)
{
    size_t free_bytes = 0, total;
    CUcontext context;
    OK(cu->cuDevicePrimaryCtxRetain(&context, device));
    OK(cu->cuCtxPushCurrent_v2(context));
    OK(cu->cuMemGetInfo_v2(&free_bytes, &total));
    OK(cu->cuCtxPopCurrent_v2(&context));
    OK(cu->cuDevicePrimaryCtxRelease_v2(device));
    return free_bytes;
}

int memory_setup(void **state)
{
    struct cushim_options options = {.size = sizeof options, .path = library};
    (void)state;
    setenv("CUSHIM_SIM_DEVICES", "2", 1);
    setenv("CUSHIM_SIM_MEMORY", "256M", 1);
    instance = cushim_open(&options);
    assert_non_null(instance);
    if (cushim_status(instance) != CUSHIM_OK)
        fail_msg("%s", cushim_message(instance));
    cu = instance;
    OK(cu->cuInit(0));
    OK(cu->cuDeviceGetCount(&devices));
    OK(cu->cuDevicePrimaryCtxRetain(&memory_context, 0));
    OK(cu->cuCtxSetCurrent(memory_context));
    return 0;
}

int memory_teardown(void **state)
{
    (void)state;
    cushim_close(instance);
    return 0;
}

int memory_before(void **state)
{
    (void)state;
    OK(cu->cuCtxSetCurrent(memory_context));
    for (int i = 0; memory_simulated && i < 2; i++)
        free_before[i] = free_of(i);
    return 0;
}

int memory_after(void **state)
{
    (void)state;
    for (int i = 0; memory_simulated && i < 2; i++)
        assert_int_equal(free_of(i), free_before[i]);
    return 0;
}

void memory_library(const char *path)
{
    library = path;
    memory_simulated = !!strstr(library, "cuda-sim");
}

int memory_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
                size_t count)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
        return 2;
    }
    memory_library(argv[1]);
    struct CMUnitTest chosen[64];
    size_t number = 0;
    const char *only = getenv("MEMORY_ONLY"); /* one case */
    for (size_t i = 0; i < count && number < sizeof chosen / sizeof *chosen; i++) {
        bool own = !memory_simulated && tests[i].initial_state;
        if (getenv("MEMORY_LIST")) /* which there are */
            printf("%s%s%s\n", tests[i].name, own ? " own: " : "",
                   own ? (const char *)tests[i].initial_state : "");
        else if (!own && (!only || strcmp(only, tests[i].name) == 0))
            chosen[number++] = tests[i];
    }
    return number ? _cmocka_run_group_tests(name, chosen, number, memory_setup, memory_teardown)
                  : 0;
}

int memory_devices(void)
{
    return devices;
}

CUdeviceptr memory_of(size_t size)
{
    CUdeviceptr address = 0;
    OK(cu->cuMemAlloc_v2(&address, size));
    return address;
}

size_t memory_free_bytes(void)
{
    size_t free_bytes = 0, total;
    OK(cu->cuMemGetInfo_v2(&free_bytes, &total));
    return free_bytes;
}

bool memory_emulated(void)
{
    return getenv("CUSHIM_EMULATED");
}

size_t memory_resident(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return 0;
#endif
    static bool told;
    if (memory_emulated()) {
        if (!told)
            printf("# resident memory is not counted: it is the emulator's\n");
        told = true;
        return 0;
    }
    unsigned long whole = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &whole, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

uint32_t memory_random(void)
{
    static uint64_t number = 88172645463325252U;
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    return (uint32_t)(number >> 16);
}

void memory_fill(void *bytes, size_t size)
{
    unsigned char *to = bytes;
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)memory_random();
}

static void CUDA_CB wait_open(void *data)
{
    struct memory_gate *gate = data;
    while (!__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void memory_gate_close(struct memory_gate *gate, CUstream stream)
{
    gate->open = 0;
    OK(cu->cuLaunchHostFunc(stream, wait_open, gate));
}

void memory_gate_open(struct memory_gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
}
