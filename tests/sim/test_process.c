/* SPDX-License-Identifier: MIT */
/* The simulated driver and what a process does beside calling it: unloading, signals, fork, rights,
 * and memory that goes away under a kernel. Every case is a process of its own. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <cushim/cuda.h>

enum { SKIPPED = 77, NOBODY = 65534 };

static const char text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry nothing()\n{\n ret;\n}\n"
    ".visible .entry endless()\n{\nL: bra L;\n}\n"
    ".visible .entry store(.param .u64 p)\n{\n .reg .u64 a;\n .reg .u32 v;\n"
    " ld.param.u64 a, [p];\n mov.u32 v, 1;\n st.global.u32 [a], v;\n ret;\n}\n";

static const char *library, *program;

/* --- The driver, by the loader alone --- */

struct driver {
    void *handle;
    CUmodule module;
    CUcontext context;
};

/* A function of the driver under its own name and type. */
#define ENTRY(driver, name) __typeof__(&name) my_##name = (__typeof__(&name))dlsym(driver, #name)
#define MUST(call)                                                                                 \
    do {                                                                                           \
        int must_be_zero = (int)(call);                                                            \
        if (must_be_zero != 0) {                                                                   \
            fprintf(stderr, "%s = %d, line %d\n", #call, must_be_zero, __LINE__);                  \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void open_driver(struct driver *driver)
{
    driver->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!driver->handle) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    ENTRY(driver->handle, cuInit);
    ENTRY(driver->handle, cuDevicePrimaryCtxRetain);
    ENTRY(driver->handle, cuCtxSetCurrent);
    ENTRY(driver->handle, cuModuleLoadData);
    MUST(my_cuInit(0));
    MUST(my_cuDevicePrimaryCtxRetain(&driver->context, 0));
    MUST(my_cuCtxSetCurrent(driver->context));
    MUST(my_cuModuleLoadData(&driver->module, text));
}

static void launch(struct driver *driver, const char *name, unsigned blocks, void **values)
{
    CUfunction function;
    ENTRY(driver->handle, cuModuleGetFunction);
    ENTRY(driver->handle, cuLaunchKernel);
    MUST(my_cuModuleGetFunction(&function, driver->module, name));
    MUST(my_cuLaunchKernel(function, blocks, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
}

static CUresult synchronize(struct driver *driver)
{
    CUresult (*wait)(void) = (CUresult(*)(void))dlsym(driver->handle, "cuCtxSynchronize");
    return wait();
}

static void sleep_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

/* The exit status of a process that runs `work`; a signal or a minute's silence fails. */
static int in_child(int (*work)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        exit(work());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* --- Unloading --- */

static int unload_after_work(void)
{
    struct driver driver;
    setenv("CUSHIM_SIM_WORKERS", "4", 1);
    open_driver(&driver);
    for (int i = 0; i < 50; i++)
        launch(&driver, "nothing", 64, NULL);
    MUST(synchronize(&driver));
    dlclose(driver.handle);
    sleep_ms(2);
    return 0;
}

static int unload_running(void)
{
    struct driver driver;
    setenv("CUSHIM_SIM_WORKERS", "2", 1);
    open_driver(&driver);
    launch(&driver, "endless", 4, NULL);
    sleep_ms(10);
    dlclose(driver.handle);
    sleep_ms(20);
    return 0; /* and the process ends under the kernel */
}

/* The process ends while a thread of the driver's is on its way to the kernel. */
static int end_at_once(void)
{
    struct driver driver;
    setenv("CUSHIM_SIM_WORKERS", "2", 1);
    open_driver(&driver);
    launch(&driver, "endless", 4, NULL);
    return 0;
}

/* Without a thread of the driver's there is nothing to stay loaded for. */
static int unload_unused(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    int version;
    if (!handle)
        return 1;
    ENTRY(handle, cuDriverGetVersion);
    MUST(my_cuDriverGetVersion(&version));
    dlclose(handle);
    return dlopen(library, RTLD_NOW | RTLD_NOLOAD) ? 2 : 0;
}

static void test_unload(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++)
        assert_int_equal(in_child(unload_after_work), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(in_child(unload_running), 0);
    for (int i = 0; i < 40; i++)
        assert_int_equal(in_child(end_at_once), 0);
    assert_int_equal(in_child(unload_unused), 0);
}

/* --- Files --- */

/* From here on, the kernel ends this process when a thread of it opens a file. */
static bool forbid_open(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog rules = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &rules) == 0;
}

static int launch_opens_nothing(void)
{
    struct driver driver;
    open_driver(&driver);
    launch(&driver, "nothing", 64, NULL);
    MUST(synchronize(&driver));
    if (!forbid_open())
        return SKIPPED;
    for (int i = 0; i < 100; i++)
        launch(&driver, "nothing", 64, NULL);
    MUST(synchronize(&driver));
    _exit(0);
}

static void test_files(void **state)
{
    (void)state;
    int code = in_child(launch_opens_nothing);
    if (code == SKIPPED)
        print_message("# not tried: this system filters no system calls\n");
    else
        assert_int_equal(code, 0);
}

/* --- Signals --- */

static pthread_t main_thread;
static volatile sig_atomic_t strayed, caught;

static void on_signal(int number)
{
    (void)number;
    caught++;
    strayed |= !pthread_equal(pthread_self(), main_thread);
}

/* The process's own signals never arrive in a thread of the driver's: with the program's thread
 * blocking them, they wait. */
static int signals(void)
{
    struct driver driver;
    sigset_t one;
    setenv("CUSHIM_SIM_WORKERS", "3", 1);
    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    open_driver(&driver);
    launch(&driver, "endless", 4, NULL);
    sleep_ms(20);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    for (int i = 0; i < 20; i++) {
        kill(getpid(), SIGUSR1);
        sleep_ms(1);
    }
    if (caught || strayed)
        return 1;
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    sleep_ms(1);
    return caught && !strayed ? 0 : 2;
}

static void test_signals(void **state)
{
    (void)state;
    assert_int_equal(in_child(signals), 0);
}

/* --- fork --- */

static void *ask(void *handle)
{
    int version;
    ENTRY(handle, cuDriverGetVersion);
    for (;;)
        MUST(my_cuDriverGetVersion(&version));
    return NULL;
}

/* A child gets a lock that nobody holds, also where no context was ever made. */
static int fork_before_context(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    pthread_t thread;
    int version, status;
    if (!handle)
        return 1;
    ENTRY(handle, cuDriverGetVersion);
#ifdef __SANITIZE_THREAD__
    /* The first call ends before the first fork. A child forked in the midst of pthread_once begins
     * it anew with the C library, and waits for ever with ThreadSanitizer. */
    MUST(my_cuDriverGetVersion(&version));
#endif
    if (pthread_create(&thread, NULL, ask, handle) != 0)
        return 1;
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(5);
            _exit(my_cuDriverGetVersion(&version) == CUDA_SUCCESS ? 0 : 1);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            return 2;
    }
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    assert_int_equal(in_child(fork_before_context), 0);
}

/* --- Host memory --- */

static int unmapped(void)
{
    struct driver driver;
    void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    open_driver(&driver);
    ENTRY(driver.handle, cuMemHostRegister_v2);
    MUST(my_cuMemHostRegister_v2(memory, 65536, 0));
    launch(&driver, "store", 1, (void *[]){&memory});
    MUST(synchronize(&driver));
    munmap(memory, 65536);
    launch(&driver, "store", 1, (void *[]){&memory});
    return synchronize(&driver) == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 2;
}

static int untouchable(void)
{
    struct driver driver;
    char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    open_driver(&driver);
    ENTRY(driver.handle, cuMemHostRegister_v2);
    mprotect(memory + 8192, 4096, PROT_NONE);
    if (my_cuMemHostRegister_v2(memory, 65536, 0) == CUDA_SUCCESS)
        return 1;
    mprotect(memory + 8192, 4096, PROT_READ);
    if (my_cuMemHostRegister_v2(memory, 65536, 0) == CUDA_SUCCESS)
        return 3;
    MUST(my_cuMemHostRegister_v2(memory, 65536, CU_MEMHOSTREGISTER_READ_ONLY));
    launch(&driver, "store", 1, (void *[]){&memory});
    return synchronize(&driver) == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 2;
}

static void test_host_memory(void **state)
{
    (void)state;
    assert_int_equal(in_child(unmapped), 0);
    assert_int_equal(in_child(untouchable), 0);
}

/* --- What it takes of the machine --- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static uint64_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        _exit(1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int modest(void)
{
    struct driver driver;
    CUdeviceptr memory;
    size_t bytes = 0;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    open_driver(&driver);
    ENTRY(driver.handle, cuDeviceTotalMem_v2);
    ENTRY(driver.handle, cuMemAlloc_v2);
    MUST(my_cuDeviceTotalMem_v2(&bytes, 0));
    MUST(my_cuMemAlloc_v2(&memory, 1 << 20));
    if (bytes > machine)
        return 2;
    return address_space() > 8 * (uint64_t)bytes + ((uint64_t)1 << 37) ? 3 : 0;
}

/* The driver works, and the program has memory of its own beside it. */
static int work_beside(size_t own)
{
    struct driver driver;
    CUdeviceptr memory;
    setenv("CUSHIM_SIM_WORKERS", "1", 1);
    open_driver(&driver);
    ENTRY(driver.handle, cuMemAlloc_v2);
    MUST(my_cuMemAlloc_v2(&memory, 64 << 20));
    launch(&driver, "nothing", 1, NULL);
    MUST(synchronize(&driver));
    return malloc(own) ? 0 : 2;
}

/* Half of what the limit leaves is the program's. */
static int limited(void)
{
    struct rlimit limit = {address_space() + ((uint64_t)2 << 30), RLIM_INFINITY};
    MUST(setrlimit(RLIMIT_AS, &limit));
    return work_beside((size_t)512 << 20);
}

static int limited_narrowly(void)
{
    struct rlimit limit = {address_space() + ((uint64_t)900 << 20), RLIM_INFINITY};
    MUST(setrlimit(RLIMIT_AS, &limit));
    return work_beside((size_t)32 << 20);
}

/* Where nothing can be reserved, there is no device memory, and the process goes on. */
static int limited_too_much(void)
{
    struct driver driver;
    CUdeviceptr memory;
    struct rlimit limit = {address_space() + ((uint64_t)400 << 20), RLIM_INFINITY};
    MUST(setrlimit(RLIMIT_AS, &limit));
    setenv("CUSHIM_SIM_WORKERS", "1", 1);
    open_driver(&driver);
    ENTRY(driver.handle, cuMemAlloc_v2);
    return my_cuMemAlloc_v2(&memory, 64 << 20) == CUDA_ERROR_OUT_OF_MEMORY ? 0 : 2;
}

/* The process has less than 512 GiB of addresses in one piece, as where kernels give it few. */
static int crowded(void)
{
    const uint64_t piece = UINT64_C(1) << 38;
    void *last = MAP_FAILED, *taken;
    for (uint64_t size = UINT64_C(1) << 46; size >= piece; size /= 2)
        while ((taken = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                             0)) != MAP_FAILED)
            last = taken; /* of this size or more */
    if (last == MAP_FAILED || munmap(last, piece) != 0)
        return 3;
    setenv("CUSHIM_SIM_MEMORY", "150G", 1); /* four times that does not fit */
    return work_beside((size_t)512 << 20);
}

static void test_machine(void **state)
{
    (void)state;
    assert_int_equal(in_child(modest), 0);
    assert_int_equal(in_child(limited), 0);
    assert_int_equal(in_child(limited_narrowly), 0);
    assert_int_equal(in_child(limited_too_much), 0);
    assert_int_equal(in_child(crowded), 0);
}
#endif

/* --- Rights --- */

/* As the set-uid copy of this program: what the environment asks for is not done. */
static int privileged(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    int count = -1;
    if (!handle)
        return SKIPPED; /* the caller may not read it */
    ENTRY(handle, cuInit);
    ENTRY(handle, cuDeviceGetCount);
    MUST(my_cuInit(0));
    MUST(my_cuDeviceGetCount(&count));
    return count == 1 ? 0 : 2;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static char copy[64], written[80];

static int as_nobody(void)
{
    setenv("CUSHIM_SIM_LOG", written, 1);
    setenv("CUSHIM_SIM_DEVICES", "3", 1);
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return SKIPPED;
    execl(copy, copy, "--privileged", library, (char *)NULL);
    return SKIPPED;
}

static void copy_program(void)
{
    char command[4500];
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod 4755 '%s'", program, copy, copy);
    assert_int_equal(system(command), 0);
}

static void test_rights(void **state)
{
    char folder[] = "/tmp/test-process-XXXXXX";
    (void)state;
    if (geteuid() != 0) {
        print_message("# not tried: only root can set a program's user\n");
        return; /* cmocka's skip() prints "not ok" */
    }
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(copy, sizeof copy, "%s/program", folder);
    snprintf(written, sizeof written, "%s/log", folder);
    copy_program();
    int code = in_child(as_nobody);
    bool made = access(written, F_OK) == 0;
    unlink(copy);
    unlink(written);
    rmdir(folder);
    if (code == SKIPPED) {
        print_message("# not tried: set-user-ID programs are not allowed here\n");
        return;
    }
    assert_int_equal(code, 0);
    assert_false(made);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unload),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_host_memory),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_rights), /* sanitizers do not start with more rights than the user */
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_machine),
#endif
    };
    if (argc == 3 && strcmp(argv[1], "--privileged") == 0) {
        library = argv[2];
        return privileged();
    }
    if (argc != 2) {
        fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
        return 2;
    }
    program = argv[0];
    library = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
