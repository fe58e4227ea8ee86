/* SPDX-License-Identifier: MIT */
/* What the simulator does of its own where processes share: files, rights, handles that nobody gave
 * out, processes that die. What a device does as well is in conformance/share_*.c. The other
 * process is this program, run again with a word for what it does and a socket as file 3. */
#include "memory_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
enum { NOBODY = 65534 };
static const CUmemAllocationHandleType POSIX = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
static const char *program, *library_path;

/* --- The other process --- */

static int line; /* to the other */
static pid_t other;

static void give(const void *bytes, size_t size)
{
    assert_int_equal(write(line, bytes, size), (ssize_t)size);
}

static void take(void *bytes, size_t size)
{
    assert_int_equal(recv(line, bytes, size, MSG_WAITALL), (ssize_t)size);
}

static void begin(const char *what)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    fflush(NULL);
    other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        dup2(ends[1], 3);
        fcntl(3, F_SETFD, 0);
        execl(program, program, library_path, what, (char *)NULL);
        _exit(126);
    }
    close(ends[1]);
    line = ends[0];
}

static int end(void)
{
    int status;
    close(line);
    assert_int_equal(waitpid(other, &status, 0), other);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Opens what it is given, says with what result, keeps it until it hears more. */
static void opener(void)
{
    CUipcMemHandle handle;
    CUdeviceptr a = 0;
    char word;
    take(&handle, sizeof handle);
    CUresult result = cu->cuIpcOpenMemHandle_v2(&a, handle, LAZY);
    give(&result, sizeof result);
    (void)recv(line, &word, 1, 0);
}

/* The same as another user. Program and driver may lie in a folder that only root may enter, so the
 * process gives up its rights when it has loaded both. */
static void stranger(void)
{
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(77);
    opener();
}

/* Records an event behind a host function that never ends. */
static void recorder(void)
{
    static struct memory_gate gate;
    CUipcEventHandle handle;
    CUevent event;
    CUstream stream;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    memory_gate_close(&gate, stream);
    OK(cu->cuEventRecord(event, stream));
    OK(cu->cuIpcGetEventHandle(&handle, event));
    give(&handle, sizeof handle);
    pause();
}

static int be_other(const char *what)
{
    void *state = NULL;
    line = 3;
    alarm(30);
    if (memory_setup(&state) != 0)
        return 1;
    if (strcmp(what, "opener") == 0)
        opener();
    else if (strcmp(what, "stranger") == 0)
        stranger();
    else
        recorder();
    return 0;
}

/* --- The tests --- */

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* A block that is exported has a file, and gives it back when it is freed. */
static void test_files_are_given_back(void **state)
{
    static const size_t sizes[] = {1, 4096, 65535, 65536, 1 << 20, 4 << 20};
    unsigned char bytes[64], back[64];
    int before = open_files();
    (void)state;
    for (int turn = 0; turn < 300; turn++) {
        CUipcMemHandle handle, again;
        size_t size = sizes[turn % 6], some = size < sizeof bytes ? size : sizeof bytes;
        CUdeviceptr a = memory_of(size);
        memory_fill(bytes, some);
        OK(cu->cuMemcpyHtoD_v2(a + size - some, bytes, some));
        OK(cu->cuIpcGetMemHandle(&handle, a));
        OK(cu->cuIpcGetMemHandle(&again, a + size - 1));
        assert_memory_equal(&handle, &again, sizeof handle);
        OK(cu->cuMemcpyDtoH_v2(back, a + size - some, some));
        assert_memory_equal(bytes, back, some);
        assert_int_equal(open_files(), before + 1);
        OK(cu->cuMemFree_v2(a));
    }
    assert_int_equal(open_files(), before);
}

struct pool_pair {
    CUmemoryPool pool, imported;
    CUdeviceptr block, same; /* 16 words, each 5 */
    int file;
};

/* A block of an imported pool needs no context. */
static struct pool_pair import_block(void)
{
    struct pool_pair pair = {0};
    CUmemPoolProps props;
    CUmemPoolPtrExportData data;
    CUcontext context = NULL;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = POSIX;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    OK(cu->cuMemPoolCreate(&pair.pool, &props));
    OK(cu->cuMemAllocFromPoolAsync(&pair.block, 64, pair.pool, NULL));
    OK(cu->cuMemsetD32_v2(pair.block, 5, 16));
    OK(cu->cuMemPoolExportToShareableHandle(&pair.file, pair.pool, POSIX, 0));
    OK(cu->cuMemPoolExportPointer(&data, pair.block));
    OK(cu->cuMemPoolImportFromShareableHandle(&pair.imported, (void *)(intptr_t)pair.file, POSIX,
                                              0));
    OK(cu->cuCtxGetCurrent(&context));
    OK(cu->cuCtxSetCurrent(NULL));
    OK(cu->cuMemPoolImportPointer(&pair.same, pair.imported, &data));
    OK(cu->cuCtxSetCurrent(context));
    return pair;
}

static void release_pair(const struct pool_pair *pair)
{
    OK(cu->cuMemPoolDestroy(pair->imported));
    OK(cu->cuMemFree_v2(pair->block));
    OK(cu->cuMemPoolDestroy(pair->pool));
    assert_int_equal(close(pair->file), 0);
}

static void test_an_imported_block(void **state)
{
    struct pool_pair pair = import_block();
    unsigned value = 0;
    (void)state;
    OK(cu->cuMemcpyDtoH_v2(&value, pair.same, 4));
    assert_int_equal(value, 5);
    OK(cu->cuMemsetD32_v2(pair.same, 9, 16));
    OK(cu->cuMemFreeAsync(pair.same, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    OK(cu->cuMemcpyDtoH_v2(&value, pair.block, 4));
    assert_int_equal(value, 9);
    release_pair(&pair);
}

/* The free of an imported block in one stream does not stop what another one was given before. */
static void test_a_free_beside_work(void **state)
{
    struct pool_pair pair = import_block();
    CUstream stream = NULL;
    struct memory_gate gate;
    unsigned value = 0;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memory_gate_close(&gate, stream);
    OK(cu->cuMemsetD32Async(pair.same, 9, 16, stream));
    OK(cu->cuMemFreeAsync(pair.same, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemcpyDtoH_v2(&value, pair.block, 4));
    assert_int_equal(value, 9);
    OK(cu->cuStreamDestroy_v2(stream));
    release_pair(&pair);
}

static void CUDA_CB nap(void *data)
{
    (void)data;
    usleep(50000);
}

/* An imported block is freed without a context, too, and when the work that uses it is done: also
 * where the import had no context to wait for. */
static void test_a_free_waits(void **state)
{
    struct pool_pair pair = import_block();
    CUstream stream = NULL;
    CUcontext context = NULL;
    unsigned value = 0;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuLaunchHostFunc(stream, nap, NULL));
    OK(cu->cuMemsetD32Async(pair.same, 9, 16, stream));
    OK(cu->cuCtxGetCurrent(&context));
    OK(cu->cuCtxSetCurrent(NULL));
    OK(cu->cuMemFree_v2(pair.same));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(pair.same));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuMemFreeAsync(pair.block, NULL));
    OK(cu->cuCtxSetCurrent(context));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuMemcpyDtoH_v2(&value, pair.block, 4));
    assert_int_equal(value, 9);
    OK(cu->cuStreamDestroy_v2(stream));
    release_pair(&pair);
}

/* Kernels that were read before their memory moved into a file use the new place. */
static void test_a_kernel_follows(void **state)
{
    static const char text[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry count(.param .u64 p)\n{\n .reg .u64 a;\n .reg .u32 v;\n"
        " ld.param.u64 a, [p];\n atom.global.add.u32 v, [a], 1;\n ret;\n}\n";
    CUmodule module;
    CUfunction count;
    CUipcMemHandle handle;
    unsigned value = 0;
    (void)state;
    OK(cu->cuModuleLoadData(&module, text));
    OK(cu->cuModuleGetFunction(&count, module, "count"));
    for (size_t size = 4; size <= 4 * MIB; size *= 1024) {
        CUdeviceptr a = memory_of(size);
        void *values[] = {&a};
        OK(cu->cuMemsetD32_v2(a, 0, 1));
        for (int i = 0; i < 3; i++) {
            OK(cu->cuLaunchKernel(count, 8, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
            OK(cu->cuIpcGetMemHandle(&handle, a));
        }
        OK(cu->cuMemcpyDtoH_v2(&value, a, 4));
        assert_int_equal(value, 3 * 8 * 64);
        OK(cu->cuMemFree_v2(a));
    }
    OK(cu->cuModuleUnload(module));
}

/* So does a texture object that was made before. */
static void test_a_texture_follows(void **state)
{
    static const char text[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry fetch(.param .u64 t, .param .u64 p)\n{\n .reg .u64 rt, rp;\n"
        " .reg .u32 x, r, g, b, a;\n ld.param.u64 rt, [t];\n ld.param.u64 rp, [p];\n"
        " mov.u32 x, 3;\n tex.1d.v4.u32.s32 {r, g, b, a}, [rt, {x}];\n"
        " st.global.u32 [rp], r;\n ret;\n}\n";
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUmodule module;
    CUfunction fetch;
    CUtexObject object;
    CUipcMemHandle handle;
    CUdeviceptr a = memory_of(64), out = memory_of(4);
    void *values[] = {&object, &out};
    unsigned value = 0;
    (void)state;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = a;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 64;
    texture.flags = CU_TRSF_READ_AS_INTEGER;
    OK(cu->cuModuleLoadData(&module, text));
    OK(cu->cuModuleGetFunction(&fetch, module, "fetch"));
    OK(cu->cuTexObjectCreate(&object, &resource, &texture, NULL));
    OK(cu->cuIpcGetMemHandle(&handle, a));
    OK(cu->cuMemsetD32_v2(a, 77, 16));
    OK(cu->cuLaunchKernel(fetch, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    OK(cu->cuMemcpyDtoH_v2(&value, out, 4));
    assert_int_equal(value, 77);
    OK(cu->cuTexObjectDestroy(object));
    OK(cu->cuModuleUnload(module));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(out));
}

/* Any change of a handle's bytes, and any bytes: refused. */
static void test_invented_handles(void **state)
{
    CUipcMemHandle handle;
    CUipcEventHandle event;
    CUmemPoolPtrExportData data;
    CUdeviceptr a = memory_of(MIB), got = 0;
    CUevent opened;
    int before = open_files();
    (void)state;
    OK(cu->cuIpcGetMemHandle(&handle, a));
    for (int turn = 0; turn < 2000; turn++) {
        CUipcMemHandle bad = handle;
        if (turn < 8 * 40) /* the bytes that say something */
            ((unsigned char *)&bad)[turn / 8] ^= (unsigned char)(1 << turn % 8);
        else
            memory_fill(&bad, sizeof bad);
        assert_int_not_equal(cu->cuIpcOpenMemHandle_v2(&got, bad, LAZY), CUDA_SUCCESS);
        memcpy(&event, &bad, sizeof event);
        assert_int_not_equal(cu->cuIpcOpenEventHandle(&opened, event), CUDA_SUCCESS);
        memcpy(&data, &bad, sizeof data);
        assert_int_not_equal(cu->cuMemPoolImportPointer(&got, NULL, &data), CUDA_SUCCESS);
    }
    OK(cu->cuMemFree_v2(a));
    assert_int_equal(open_files(), before);
}

/* Files in memory that only look right: of another size than they say, and not sealed. */
static void test_forged_files(void **state)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle block, got;
    unsigned char head[4096];
    int file = -1, before;
    (void)state;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = POSIX;
    OK(cu->cuMemCreate(&block, 2 * MIB, &prop, 0));
    OK(cu->cuMemExportToShareableHandle(&file, block, POSIX, 0));
    assert_int_equal(pread(file, head, sizeof head, 2 * MIB), (ssize_t)sizeof head);
    assert_int_not_equal(ftruncate(file, 4096), 0); /* nobody takes the bytes away */
    before = open_files();
    for (int forged = 0; forged < 4; forged++) {
        off_t size = (off_t)(forged == 1 ? 4 * MIB : 2 * MIB);
        int made = memfd_create("cushim-sim", MFD_ALLOW_SEALING);
        assert_true(made >= 0);
        assert_int_equal(ftruncate(made, size + 4096), 0);
        assert_int_equal(pwrite(made, head, sizeof head, size), (ssize_t)sizeof head);
        if (forged != 0)
            assert_int_equal(fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                             0);
        CUresult result = cu->cuMemImportFromShareableHandle(&got, (void *)(intptr_t)made, POSIX);
        assert_int_equal(result, forged < 2 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
        if (result == CUDA_SUCCESS) /* a whole copy is as good */
            OK(cu->cuMemRelease(got));
        close(made);
    }
    assert_int_equal(open_files(), before);
    close(file);
    OK(cu->cuMemRelease(block));
}

static CUresult opened_by(const char *what, bool killed)
{
    CUipcMemHandle handle;
    CUresult result = CUDA_ERROR_UNKNOWN;
    CUdeviceptr a = memory_of(MIB);
    OK(cu->cuIpcGetMemHandle(&handle, a));
    begin(what);
    give(&handle, sizeof handle);
    take(&result, sizeof result);
    if (killed)
        kill(other, SIGKILL);
    assert_int_equal(end(), killed ? 128 + SIGKILL : 0);
    OK(cu->cuMemsetD8_v2(a, 1, MIB));
    OK(cu->cuMemFree_v2(a));
    return result;
}

/* A process that dies while it has the memory open: the owner goes on, and nothing is left. */
static void test_a_user_dies(void **state)
{
    int before = open_files();
    (void)state;
    assert_int_equal(opened_by("opener", false), CUDA_SUCCESS);
    assert_int_equal(opened_by("opener", true), CUDA_SUCCESS);
    assert_int_equal(open_files(), before);
}

/* A handle that another user stole is worth nothing. */
static void test_another_user(void **state)
{
    (void)state;
    if (getuid() != 0) {
        print_message("# not tried: only root can be another user\n");
        return; /* cmocka's skip() prints "not ok" */
    }
    assert_int_equal(opened_by("stranger", false), CUDA_ERROR_INVALID_HANDLE);
}

/* A process that dies before its work is done: who waits for its event goes on. */
static void test_a_recorder_dies(void **state)
{
    CUipcEventHandle handle;
    CUevent event;
    CUstream stream;
    (void)state;
    begin("recorder");
    take(&handle, sizeof handle);
    OK(cu->cuIpcOpenEventHandle(&event, handle));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuEventQuery(event));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamWaitEvent(stream, event, 0));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(stream));
    kill(other, SIGKILL);
    assert_int_equal(end(), 128 + SIGKILL);
    OK(cu->cuEventSynchronize(event));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuEventQuery(event));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuEventDestroy_v2(event));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_an_imported_block),
    MEMORY_OWN(test_a_free_beside_work, "there the work faults now and then"),
    MEMORY_TEST(test_a_free_waits),
    MEMORY_OWN(test_files_are_given_back, "how many files the driver has open"),
    MEMORY_TEST(test_a_kernel_follows),
    MEMORY_TEST(test_a_texture_follows),
    MEMORY_OWN(test_invented_handles, "a real driver crashes with some"),
    MEMORY_OWN(test_forged_files, "what the files are"),
    MEMORY_OWN(test_a_user_dies, "how many files the driver has open"),
    MEMORY_OWN(test_another_user, "handles of a real driver are good for all users"),
    MEMORY_OWN(test_a_recorder_dies, "there a wait for it may last"),
};

int main(int argc, char **argv)
{
    program = argv[0];
    library_path = argc > 1 ? argv[1] : NULL;
    if (argc == 3) {
        memory_library(argv[1]);
        return be_other(argv[2]);
    }
    return memory_main(argc, argv, "share", tests, sizeof tests / sizeof *tests);
}
