/* SPDX-License-Identifier: MIT */
/* Files of shared memory that another program made, with a last page that lies. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory_test.h"

static const CUmemAllocationHandleType POSIX = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/* Places in the last page of a file. */
enum {
    OF_SIZE = 40,
    OF_PROCESS = 48,
    OF_KIND = 56,
    OF_DEVICE = 60,
    OF_MORE = 64,
    KIND_EVENT = 1,
    PAGE = 4096
};

static void put(unsigned char *at, int32_t word)
{
    memcpy(at, &word, sizeof word);
}

static int pool_file(void)
{
    CUmemPoolProps props;
    CUmemoryPool pool = NULL;
    int file = -1;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = POSIX;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    OK(cu->cuMemPoolCreate(&pool, &props));
    OK(cu->cuMemPoolExportToShareableHandle(&file, pool, POSIX, 0));
    OK(cu->cuMemPoolDestroy(pool));
    return file;
}

/* A whole file in memory that ends with this page. */
static int forged(const unsigned char head[PAGE], off_t size)
{
    int made = memfd_create("cushim-sim", MFD_ALLOW_SEALING);
    assert_true(made >= 0);
    assert_int_equal(ftruncate(made, size + PAGE), 0);
    assert_int_equal(pwrite(made, head, PAGE, size), PAGE);
    assert_int_equal(fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    return made;
}

/* A file of the host that says it lies on a device, or nowhere. */
static void test_forged_places(void **state)
{
    static const int32_t wrong[] = {CU_MEM_LOCATION_TYPE_DEVICE, 0, -1, 77};
    int pool = pool_file();
    CUmemoryPool got;
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle block;
    unsigned char head[PAGE];
    int file = -1;
    (void)state;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = POSIX;
    OK(cu->cuMemCreate(&block, 2 * MIB, &prop, 0));
    OK(cu->cuMemExportToShareableHandle(&file, block, POSIX, 0));
    OK(cu->cuMemRelease(block));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(pread(pool, head, sizeof head, 0), PAGE);
        put(head + OF_DEVICE, -1);
        put(head + OF_MORE, wrong[i]);
        put(head + OF_MORE + 4, 99);
        head[8] ^= 1; /* another pool than the one that is here */
        int made = forged(head, 0);
        GIVES(CUDA_ERROR_INVALID_DEVICE,
              cu->cuMemPoolImportFromShareableHandle(&got, (void *)(intptr_t)made, POSIX, 0));
        close(made);
        assert_int_equal(pread(file, head, sizeof head, 2 * MIB), PAGE);
        put(head + OF_DEVICE, -1);
        put(head + OF_MORE + offsetof(CUmemAllocationProp, location), wrong[i]);
        made = forged(head, 2 * MIB);
        GIVES(CUDA_ERROR_INVALID_VALUE,
              cu->cuMemImportFromShareableHandle(&block, (void *)(intptr_t)made, POSIX));
        close(made);
    }
    close(file);
    close(pool);
}

/* An event of a process that made its file larger than an event's. */
static void test_forged_event(void **state)
{
    int pool = pool_file();
    unsigned char head[PAGE];
    CUipcEventHandle handle;
    CUevent event;
    pid_t child = 0;
    (void)state;
    assert_int_equal(pread(pool, head, sizeof head, 0), PAGE);
    put(head + OF_KIND, KIND_EVENT);
    uint64_t size = 8 * MIB;
    memcpy(head + OF_SIZE, &size, sizeof size);
    int made = memfd_create("cushim-sim", MFD_ALLOW_SEALING);
    assert_true(made >= 0 && (child = fork()) >= 0);
    if (child == 0) {
        alarm(60); /* should the test fail before it ends this process */
        for (;;)
            pause();
    }
    put(head + OF_PROCESS, child);
    assert_int_equal(ftruncate(made, (off_t)size + PAGE), 0);
    assert_int_equal(pwrite(made, head, PAGE, (off_t)size), PAGE);
    assert_int_equal(fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    memset(&handle, 0, sizeof handle);
    unsigned char *token = (unsigned char *)&handle;
    memcpy(token, "simtokn", 8);
    memcpy(token + 8, head + 8, 16);
    put(token + 24, child);
    put(token + 28, made);
    put(token + 32, KIND_EVENT);
    CUresult result = cu->cuIpcOpenEventHandle(&event, handle);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(result, CUDA_ERROR_MAP_FAILED);
    close(made);
    close(pool);
}

static const struct CMUnitTest tests[] = {
    MEMORY_OWN(test_forged_places, "what the files are"),
    MEMORY_OWN(test_forged_event, "what the files are"),
};
MEMORY_MAIN("share_forged", tests)
