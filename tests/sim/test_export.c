/* SPDX-License-Identifier: MIT */
/* Files of ranges of device memory: what is in them, who else may read it, how long they last. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory_test.h"

#define DMA CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
#define PAGE ((size_t)4096)
#define GRAIN (2 * MIB)

static CUresult export(CUdeviceptr address, size_t size, int *file)
{
    return cu->cuMemGetHandleForAddressRange(file, address, size, DMA, 0);
}

static int exported(CUdeviceptr address, size_t size)
{
    int file = -1;
    OK(export(address, size, &file));
    assert_true(file >= 0);
    return file;
}

/* NULL: a driver that gives such files, and does not let them be mapped. */
static unsigned *mapped(int file, size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory_simulated)
        assert_ptr_not_equal(bytes, MAP_FAILED);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;
    OK(cu->cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

static unsigned files(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static bool supported(void)
{
    int supported = 0;
    OK(cu->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0));
    if (memory_simulated)
        assert_true(supported);
    else if (!supported)
        skip();
    return supported;
}

static void test_bytes(void **state)
{
    (void)state;
    if (!supported())
        return;
    CUdeviceptr a = memory_of(2 * GRAIN);
    assert_int_equal(a % PAGE, 0);
    OK(cu->cuMemsetD32_v2(a, 0x12345678, 2 * GRAIN / 4));
    int file = exported(a, GRAIN);
    assert_int_equal(lseek(file, 0, SEEK_END), GRAIN);
    assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(word_at(a + GRAIN - 4), 0x12345678);
    unsigned *bytes = mapped(file, GRAIN);
    if (bytes) {
        assert_int_equal(bytes[0], 0x12345678);
        assert_int_equal(bytes[GRAIN / 4 - 1], 0x12345678);
        OK(cu->cuMemsetD32_v2(a + 4, 7, 1));
        OK(cu->cuCtxSynchronize());
        assert_int_equal(bytes[1], 7);
        bytes[2] = 9;
        assert_int_equal(word_at(a + 8), 9);
        munmap(bytes, GRAIN);
    }
    close(file);
    OK(cu->cuMemFree_v2(a));
}

/* A process that has no driver reads and writes. */
static void test_process(void **state)
{
    int status = -1;
    (void)state;
    if (!supported())
        return;
    CUdeviceptr a = memory_of(MIB);
    OK(cu->cuMemsetD32_v2(a, 41, MIB / 4));
    int file = exported(a, MIB);
    unsigned *bytes = mapped(file, MIB);
    if (!bytes) {
        close(file);
        OK(cu->cuMemFree_v2(a));
        skip();
        return;
    }
    munmap(bytes, MIB);
    pid_t child = fork();
    if (child == 0) {
        unsigned *there = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        bool good = there != MAP_FAILED && there[MIB / 4 - 1] == 41;
        if (good)
            there[5]++;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(word_at(a + 20), 42);
    close(file);
    OK(cu->cuMemFree_v2(a));
}

/* Of one range there are many files, which are all the same bytes. */
static void test_ranges(void **state)
{
    (void)state;
    if (!supported())
        return;
    CUdeviceptr a = memory_of(GRAIN);
    OK(cu->cuMemsetD32_v2(a, 1, GRAIN / 4));
    int all[] = {exported(a, PAGE), exported(a, PAGE), exported(a, 16 * PAGE),
                 exported(a + 32 * PAGE, 2 * PAGE), exported(a + 40 * PAGE, PAGE)};
    for (unsigned i = 0; i < 3; i++) {
        unsigned *bytes = mapped(all[i], PAGE);
        if (!bytes)
            continue;
        assert_int_equal(bytes[i], 1);
        bytes[i] = 70 + i;
        assert_int_equal(word_at(a + 4 * i), 70 + i);
        munmap(bytes, PAGE);
    }
    unsigned *bytes = mapped(all[3], 2 * PAGE);
    if (bytes) {
        bytes[1025] = 80;
        assert_int_equal(word_at(a + 33 * PAGE + 4), 80);
        munmap(bytes, 2 * PAGE);
    }
    for (unsigned i = 0; i < 5; i++)
        close(all[i]);
    OK(cu->cuMemFree_v2(a));
}

/* Blocks whose addresses are neighbours are one range. */
static void test_virtual(void **state)
{
    CUmemAllocationProp_v1 prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc_v1 access = {.location = prop.location,
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle_v1 blocks[2];
    CUdeviceptr a = 0;
    (void)state;
    if (!supported())
        return;
    OK(cu->cuMemAddressReserve(&a, 3 * GRAIN, 0, 0, 0));
    for (unsigned i = 0; i < 2; i++) {
        OK(cu->cuMemCreate(&blocks[i], GRAIN, &prop, 0));
        OK(cu->cuMemMap(a + i * GRAIN, GRAIN, 0, blocks[i], 0));
    }
    OK(cu->cuMemSetAccess(a, 2 * GRAIN, &access, 1));
    OK(cu->cuMemsetD32_v2(a, 3, 2 * GRAIN / 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, export(a, 3 * GRAIN, &(int){0}));
    int file = exported(a, 2 * GRAIN);
    assert_int_equal(lseek(file, 0, SEEK_END), 2 * GRAIN);
    unsigned *bytes = mapped(file, 2 * GRAIN);
    if (bytes) {
        bytes[GRAIN / 4] = 5;
        assert_int_equal(word_at(a + GRAIN), 5);
        munmap(bytes, 2 * GRAIN);
    }
    close(file);
    OK(cu->cuMemUnmap(a, 2 * GRAIN));
    OK(cu->cuMemAddressFree(a, 3 * GRAIN));
    for (unsigned i = 0; i < 2; i++)
        OK(cu->cuMemRelease(blocks[i]));
}

/* The file outlives the memory, and costs nothing when both are gone. */
static void test_ends(void **state)
{
    (void)state;
    if (!supported())
        return;
    unsigned before = files();
    for (unsigned i = 0; i < 20; i++) {
        CUdeviceptr a = memory_of(MIB);
        OK(cu->cuMemsetD32_v2(a, i, MIB / 4));
        int file = exported(a, MIB);
        OK(cu->cuMemFree_v2(a));
        unsigned *bytes = mapped(file, MIB);
        if (bytes) {
            assert_int_equal(bytes[100], i);
            munmap(bytes, MIB);
        }
        close(file);
    }
    assert_int_equal(files(), before);
}

/* Small blocks are elsewhere until they are exported. */
static void test_small(void **state)
{
    (void)state;
    CUdeviceptr a = memory_of(5 * PAGE);
    assert_int_equal(a % PAGE, 0);
    OK(cu->cuMemsetD32_v2(a, 6, 5 * PAGE / 4));
    int file = exported(a + PAGE, 2 * PAGE);
    unsigned *bytes = mapped(file, 2 * PAGE);
    assert_int_equal(bytes[0], 6);
    bytes[0] = 8;
    assert_int_equal(word_at(a + PAGE), 8);
    assert_int_equal(word_at(a), 6);
    munmap(bytes, 2 * PAGE);
    close(file);
    OK(cu->cuMemFree_v2(a));
}

/* One page is one file's: what would need two is refused, and so is sharing by other means. */
static void test_overlap(void **state)
{
    CUipcMemHandle_v1 handle;
    (void)state;
    CUdeviceptr a = memory_of(GRAIN), b = memory_of(GRAIN);
    int file = exported(a + PAGE, 4 * PAGE), other = -1;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, export(a, 2 * PAGE, &other));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, export(a, GRAIN, &other));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, export(a + 2 * PAGE, PAGE, &other));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cu->cuIpcGetMemHandle(&handle, a));
    assert_int_equal(other, -1);
    OK(cu->cuIpcGetMemHandle(&handle, b));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, export(b, PAGE, &other));
    assert_int_equal(other, -1);
    close(file);
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(b));
}

/* A block that is twice in a range would be in its file at two places. */
static void test_twice(void **state)
{
    CUmemAllocationProp_v1 prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc_v1 access = {.location = prop.location,
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle_v1 block;
    CUdeviceptr a = 0;
    int file = -1;
    (void)state;
    OK(cu->cuMemAddressReserve(&a, 2 * GRAIN, 0, 0, 0));
    OK(cu->cuMemCreate(&block, GRAIN, &prop, 0));
    for (unsigned i = 0; i < 2; i++)
        OK(cu->cuMemMap(a + i * GRAIN, GRAIN, 0, block, 0));
    OK(cu->cuMemSetAccess(a, 2 * GRAIN, &access, 1));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, export(a, 2 * GRAIN, &file));
    assert_int_equal(file, -1);
    OK(cu->cuMemsetD32_v2(a, 11, 1));
    assert_int_equal(word_at(a + GRAIN), 11);
    file = exported(a + GRAIN, GRAIN);
    unsigned *bytes = mapped(file, GRAIN);
    bytes[0] = 12;
    assert_int_equal(word_at(a), 12);
    munmap(bytes, GRAIN);
    close(file);
    OK(cu->cuMemUnmap(a, 2 * GRAIN));
    OK(cu->cuMemAddressFree(a, 2 * GRAIN));
    OK(cu->cuMemRelease(block));
}

static const struct CMUnitTest tests[] = {MEMORY_TEST(test_bytes),
                                          MEMORY_TEST(test_process),
                                          MEMORY_TEST(test_ranges),
                                          MEMORY_TEST(test_virtual),
                                          MEMORY_TEST(test_ends),
                                          MEMORY_OWN(test_small, "where small blocks begin"),
                                          MEMORY_OWN(test_overlap, "a device has no such limit"),
                                          MEMORY_OWN(test_twice, "a device has no such limit")};
MEMORY_MAIN("export", tests)
