/* SPDX-License-Identifier: MIT */
/* A program that loads libcuda.so.1 by itself, as many do, for `cushim sim` to run:
 *
 *     sim_program MODE [ARGUMENT...]
 *
 * It prints what the driver answered, and ends with 0 or as the mode says. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/cuda.h>

#undef cuGetProcAddress
#undef cuMemAlloc

static void *library;

/* An object pointer that is a function's. */
static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        printf("no %s\n", name);
        exit(1);
    }
    return found;
}
#define CALL(name, types, ...) (((CUresult(*) types)(uintptr_t)symbol(name))(__VA_ARGS__))

static void good(const char *what, CUresult code)
{
    if (code != CUDA_SUCCESS) {
        printf("%s: %d\n", what, (int)code);
        exit(1);
    }
}

static CUcontext begin(int device)
{
    CUcontext context = NULL;
    good("cuInit", CALL("cuInit", (unsigned), 0));
    good("cuCtxCreate",
         CALL("cuCtxCreate_v2", (CUcontext *, unsigned, CUdevice), &context, 0, device));
    return context;
}

static void end(CUcontext context)
{
    good("cuCtxDestroy", CALL("cuCtxDestroy_v2", (CUcontext), context));
}

static CUresult allocate(size_t bytes, CUdeviceptr *memory)
{
    return CALL("cuMemAlloc_v2", (CUdeviceptr *, size_t), memory, bytes);
}

/* DEVICE TIMES BYTES: that many allocations, freed at once; a code for each. */
static int codes(char **argv)
{
    CUcontext context = begin(atoi(argv[0]));
    for (int i = atoi(argv[1]); i > 0; i--) {
        CUdeviceptr memory = 0;
        printf("%d ", (int)allocate((size_t)strtoull(argv[2], NULL, 10), &memory));
        if (memory)
            (void)CALL("cuMemFree_v2", (CUdeviceptr), memory);
    }
    putchar('\n');
    (void)CALL("cuCtxDestroy_v2", (CUcontext), context);
    return 0;
}

/* One context, two streams, an event, two blocks of 1000 bytes, pinned and managed memory, an
 * array, and a module; "clean" as first argument: with an end to everything. */
static int leak(char **argv)
{
    static const char ptx[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                              ".visible .entry k() { ret; }\n";
    CUcontext context = begin(0);
    CUstream streams[2] = {0};
    CUevent event = NULL;
    CUmodule module = NULL;
    CUdeviceptr blocks[2] = {0}, managed = 0;
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR shape = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    void *pinned = NULL;
    for (int i = 0; i < 2; i++) {
        good("stream", CALL("cuStreamCreate", (CUstream *, unsigned), &streams[i], 0));
        good("memory", allocate(1000, &blocks[i]));
    }
    good("event", CALL("cuEventCreate", (CUevent *, unsigned), &event, 0));
    good("module", CALL("cuModuleLoadData", (CUmodule *, const void *), &module, ptx));
    good("pinned", CALL("cuMemHostAlloc", (void **, size_t, unsigned), &pinned, 500, 0));
    good("managed", CALL("cuMemAllocManaged", (CUdeviceptr *, size_t, unsigned), &managed, 250, 1));
    good("array",
         CALL("cuArrayCreate_v2", (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &array, &shape));
    if (!argv[0])
        return 0;
    for (int i = 0; i < 2; i++) {
        good("stream", CALL("cuStreamDestroy_v2", (CUstream), streams[i]));
        good("memory", CALL("cuMemFree_v2", (CUdeviceptr), blocks[i]));
    }
    good("event", CALL("cuEventDestroy_v2", (CUevent), event));
    good("module", CALL("cuModuleUnload", (CUmodule), module));
    good("pinned", CALL("cuMemFreeHost", (void *), pinned));
    good("managed", CALL("cuMemFree_v2", (CUdeviceptr), managed));
    good("array", CALL("cuArrayDestroy", (CUarray), array));
    end(context);
    return 0;
}

/* What was meant, with the parameters of all toolkits' headers; what is found, the first ABI. */
static int plain_symbol(char **argv)
{
    CUdeviceptr memory = 0;
    (void)argv;
    begin(0);
    printf("%d\n", (int)CALL("cuMemAlloc", (CUdeviceptr *, size_t), &memory, 4096));
    return 0;
}

/* OFFSET: a copy, one back and a fill of four bytes there, from the beginning of 400. */
static int copy_beyond(char **argv)
{
    CUdeviceptr memory = 0, at;
    unsigned word = 7;
    begin(0);
    good("cuMemAlloc", allocate(400, &memory));
    at = memory + (CUdeviceptr)atol(argv[0]);
    int to = (int)CALL("cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t), at, &word, 4);
    word = 0;
    int from = (int)CALL("cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t), &word, at, 4);
    int fill = (int)CALL("cuMemsetD32_v2", (CUdeviceptr, unsigned, size_t), at, 1, 1);
    printf("%d %d %u %d\n", to, from, word, fill);
    return 0;
}

/* The launch of a kernel `k` of one parameter, in one thread; then how the context is. */
static void one_thread(const char *text, void *parameter, unsigned shared)
{
    CUmodule module;
    CUfunction function;
    void *values[] = {parameter};
    good("cuModuleLoadData", CALL("cuModuleLoadData", (CUmodule *, const void *), &module, text));
    good("cuModuleGetFunction", CALL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *),
                                     &function, module, "k"));
    good("cuLaunchKernel", CALL("cuLaunchKernel",
                                (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, CUstream, void **, void **),
                                function, 1, 1, 1, 1, 1, 1, shared, NULL, values, NULL));
    printf("%d\n", (int)CALL("cuCtxSynchronize", (void)));
}

/* OFFSET: a kernel writes four bytes there, from the beginning of a block of 400. */
static int beyond(char **argv)
{
    CUdeviceptr memory = 0;
    begin(0);
    good("cuMemAlloc", allocate(400, &memory));
    if (strcmp(argv[0], "freed") == 0)
        good("cuMemFree", CALL("cuMemFree_v2", (CUdeviceptr), memory));
    memory += (CUdeviceptr)strtoll(argv[0], NULL, 10);
    one_thread(".version 6.0\n.target sm_50\n.address_size 64\n"
               ".visible .entry k(.param .u64 p)\n{\n .reg .u64 a;\n"
               " ld.param.u64 a, [p];\n st.global.u32 [a], 1;\n ret;\n}\n",
               &memory, 0);
    return 0;
}

/* OFFSET: a kernel writes four bytes there, in 200 bytes of shared memory. */
static int shared_beyond(char **argv)
{
    unsigned offset = (unsigned)atoi(argv[0]);
    begin(0);
    one_thread(".version 6.0\n.target sm_50\n.address_size 64\n.extern .shared .b8 s[];\n"
               ".visible .entry k(.param .u32 p)\n{\n .reg .u32 a, b;\n ld.param.u32 a, [p];\n"
               " mov.u32 b, s;\n add.u32 a, a, b;\n st.shared.u32 [a], 1;\n ret;\n}\n",
               &offset, 200);
    return 0;
}

/* A kernel of one parameter is launched with none. */
static int few(char **argv)
{
    (void)argv;
    begin(0);
    one_thread(".version 6.0\n.target sm_50\n.address_size 64\n"
               ".visible .entry k(.param .u32 p)\n{\n ret;\n}\n",
               NULL, 0);
    return 0;
}

/* A kernel reads shared memory that nothing wrote. */
static int unset(char **argv)
{
    unsigned nothing = 0;
    CUcontext context = begin(0);
    (void)argv;
    one_thread(".version 6.0\n.target sm_50\n.address_size 64\n.shared .b32 s;\n"
               ".visible .entry k(.param .u32 p)\n{\n .reg .u32 a;\n ld.shared.u32 a, [s];\n"
               " ret;\n}\n",
               &nothing, 0);
    end(context);
    return 0;
}

/* A module and 100 bytes, which the end of their context takes with it. */
static int left(char **argv)
{
    CUmodule module;
    CUdeviceptr memory = 0;
    CUcontext context = begin(0);
    (void)argv;
    good("cuMemAlloc", allocate(100, &memory));
    good("cuModuleLoadData", CALL("cuModuleLoadData", (CUmodule *, const void *), &module,
                                  ".version 6.0\n.target sm_50\n.address_size 64\n"));
    end(context);
    return 0;
}

static CUresult load(const void *image, unsigned count, CUjit_option *names, void **values)
{
    CUmodule module;
    return CALL("cuModuleLoadDataEx", (CUmodule *, const void *, unsigned, CUjit_option *, void **),
                &module, image, count, names, values);
}

/* WHAT: code that is refused; "logged" gives a buffer for the reason. */
static int refused(char **argv)
{
    static const unsigned char cubin[128] = {0x7f, 'E', 'L',        'F',       2,
                                             1,    1,   [18] = 190, [48] = 80, [60] = 1};
    static char text[] = ".version no\n", log[200];
    CUjit_option option = CU_JIT_ERROR_LOG_BUFFER;
    CUlinkState link;
    void *value = log;
    begin(0);
    if (strcmp(argv[0], "library") == 0) {
        good("cuLinkCreate",
             CALL("cuLinkCreate_v2", (unsigned, CUjit_option *, void **, CUlinkState *), 0, NULL,
                  NULL, &link));
        printf("%d\n",
               (int)CALL("cuLinkAddData_v2",
                         (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned,
                          CUjit_option *, void **),
                         link, CU_JIT_INPUT_LIBRARY, text, sizeof text, "a.a", 0, NULL, NULL));
    } else if (strcmp(argv[0], "typed") == 0) {
        good("cuLinkCreate",
             CALL("cuLinkCreate_v2", (unsigned, CUjit_option *, void **, CUlinkState *), 0, NULL,
                  NULL, &link));
        printf("%d\n", (int)CALL("cuLinkAddData_v2",
                                 (CUlinkState, CUjitInputType, void *, size_t, const char *,
                                  unsigned, CUjit_option *, void **),
                                 link, CU_JIT_INPUT_CUBIN, text, sizeof text, NULL, 0, NULL, NULL));
    } else if (strcmp(argv[0], "logged") == 0) {
        printf("%d\n", (int)load(text, 1, &option, &value));
    } else {
        printf("%d\n", (int)load(strcmp(argv[0], "cubin") == 0 ? (const void *)cubin : text, 0,
                                 NULL, NULL));
    }
    return 0;
}

/* WHOSE INIT: a private table, the CUDA runtime's or another. Twice; after cuInit if INIT is 1. */
static int private_table(char **argv)
{
    CUuuid id = {{1, 2, 3}};
    if (strcmp(argv[0], "runtime") == 0)
        memcpy(&id, "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9", sizeof id);
    if (atoi(argv[1]))
        good("cuInit", CALL("cuInit", (unsigned), 0));
    for (int i = 0; i < 2; i++) {
        const void *table = &id;
        CUresult code = CALL("cuGetExportTable", (const void **, const CUuuid *), &table, &id);
        printf("%d %d\n", (int)code, !table);
    }
    return 0;
}

/* NAME VERSION: asks for that version, whatever the driver's is, and calls what it gets. */
static int newer(char **argv)
{
    void *found = NULL;
    CUdriverProcAddressQueryResult status;
    CUcontext context = NULL;
    good("cuInit", CALL("cuInit", (unsigned), 0));
    good("cuGetProcAddress",
         CALL("cuGetProcAddress_v2",
              (const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *), argv[0],
              &found, atoi(argv[1]), 0, &status));
    printf("found\n");
    fflush(stdout);
    if (strcmp(argv[0], "cuCtxCreate") == 0) /* as in 13.0: parameters, flags, device */
        (void)((CUresult(*)(CUcontext *, void *, unsigned, CUdevice))(uintptr_t)found)(&context,
                                                                                       NULL, 0, 0);
    else
        (void)((CUresult(*)(CUdevice))(uintptr_t)found)(0);
    printf("called\n");
    return 0;
}

static void leave(void *user)
{
    exit(*(int *)user);
}

/* The program ends in a callback, with 5. */
static int exit_in_callback(char **argv)
{
    static int code = 5;
    (void)argv;
    begin(0);
    good("cuLaunchHostFunc",
         CALL("cuLaunchHostFunc", (CUstream, CUhostFn, void *), NULL, leave, &code));
    (void)CALL("cuCtxSynchronize", (void));
    pause();
    return 1;
}

/* Ends inside of a call: of the function that says how much memory a block takes. */
static size_t leave_now(int block)
{
    (void)block;
    exit(6);
}

static int exit_in_call(char **argv)
{
    static const char ptx[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                              ".visible .entry k() { ret; }\n";
    CUmodule module = NULL;
    CUfunction function = NULL;
    int grid, block;
    (void)argv;
    begin(0);
    good("module", CALL("cuModuleLoadData", (CUmodule *, const void *), &module, ptx));
    good("function", CALL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &function,
                          module, "k"));
    (void)CALL("cuOccupancyMaxPotentialBlockSize",
               (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int), &grid, &block, function,
               leave_now, 0, 0);
    return 1;
}

/* A child that uses nothing, one that tries, and one that runs this program anew. */
static int forks(char **argv)
{
    CUcontext context = begin(0);
    fflush(stdout);
    if (fork() == 0)
        exit(0);
    if (fork() == 0) {
        printf("child: %d\n", (int)CALL("cuInit", (unsigned), 0));
        exit(0);
    }
    if (fork() == 0) {
        execl(argv[-2], argv[-2], "leak", "clean", (char *)NULL);
        _exit(1);
    }
    while (wait(NULL) > 0)
        ;
    end(context);
    return 0;
}

static int killed(char **argv)
{
    begin(0);
    raise(atoi(argv[0]));
    return 1;
}

static void heard(int number)
{
    if (write(STDOUT_FILENO, "heard\n", 6) != 6)
        _exit(number);
}

/* HANDLER: says that it is there, and runs a kernel that never ends, with a handler of its own for
 * an interrupt if HANDLER is 1. */
static int spins(char **argv)
{
    unsigned nothing = 0;
    begin(0);
    if (atoi(argv[0]))
        signal(SIGINT, heard);
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    one_thread(".version 6.0\n.target sm_50\n.address_size 64\n"
               ".visible .entry k(.param .u32 p)\n{\n .reg .u32 a;\nL:\n add.u32 a, a, 1;\n"
               " bra L;\n}\n",
               &nothing, 0);
    return 0;
}

/* Says that it is there, and waits for a signal. */
static int waits(char **argv)
{
    sigset_t set;
    int number;
    (void)argv;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    begin(0);
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    sigwait(&set, &number);
    printf("signal %d\n", number);
    return 9;
}

/* Closes what a daemon closes, and has its own files there. */
static int closes(char **argv)
{
    CUcontext context;
    (void)argv;
    good("cuInit", CALL("cuInit", (unsigned), 0));
    for (int file = 3; file < 64; file++)
        close(file);
    FILE *own = tmpfile();
    context = begin(0);
    end(context);
    if (!own || fseek(own, 0, SEEK_END) != 0)
        return 1;
    printf("%ld\n", ftell(own));
    return 0;
}

static void *thread(void *user)
{
    CUcontext context = user;
    good("cuCtxSetCurrent", CALL("cuCtxSetCurrent", (CUcontext), context));
    for (int i = 0; i < 50; i++) {
        CUdeviceptr memory = 0;
        good("memory", allocate(100, &memory));
        good("memory", CALL("cuMemFree_v2", (CUdeviceptr), memory));
    }
    return NULL;
}

/* Four threads, 400 calls. */
static int threads(char **argv)
{
    CUcontext context = begin(0);
    pthread_t all[4];
    (void)argv;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&all[i], NULL, thread, context) != 0)
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    end(context);
    return 0;
}

/* Names and texts, for the log. */
static int texts(char **argv)
{
    const char *name = NULL;
    char device[64];
    CUmodule module = NULL;
    (void)argv;
    good("cuInit", CALL("cuInit", (unsigned), 0));
    good("name", CALL("cuDeviceGetName", (char *, int, CUdevice), device, sizeof device, 0));
    good("error",
         CALL("cuGetErrorName", (CUresult, const char **), CUDA_ERROR_OUT_OF_MEMORY, &name));
    (void)CALL("cuModuleLoad", (CUmodule *, const char *), &module, "no\n\"such\" file");
    printf("%s %s\n", device, name);
    return 0;
}

/* A structure's address that is none, where the driver does not look yet, and one that is. */
static int structures(char **argv)
{
    char from[4] = "abc", to[4] = "";
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .WidthInBytes = 4,
                          .Height = 1};
    (void)argv;
    good("cuInit", CALL("cuInit", (unsigned), 0));
    (void)CALL("cuMemcpy3D_v2", (const CUDA_MEMCPY3D *), (const CUDA_MEMCPY3D *)8);
    begin(0);
    good("cuMemcpy2D", CALL("cuMemcpy2D_v2", (const CUDA_MEMCPY2D *), &copy));
    puts(to);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments;
        int (*run)(char **argv);
    } modes[] = {{"codes", 3, codes},
                 {"leak", 0, leak},
                 {"plain-symbol", 0, plain_symbol},
                 {"newer", 2, newer},
                 {"private-table", 2, private_table},
                 {"exit-in-callback", 0, exit_in_callback},
                 {"exit-in-call", 0, exit_in_call},
                 {"forks", 0, forks},
                 {"killed", 1, killed},
                 {"waits", 0, waits},
                 {"spins", 1, spins},
                 {"unset", 0, unset},
                 {"closes", 0, closes},
                 {"threads", 0, threads},
                 {"texts", 0, texts},
                 {"structures", 0, structures},
                 {"refused", 1, refused},
                 {"beyond", 1, beyond},
                 {"copy_beyond", 1, copy_beyond},
                 {"shared_beyond", 1, shared_beyond},
                 {"few", 0, few},
                 {"left", 0, left}};
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0 && argc >= 2 + modes[i].arguments)
            return modes[i].run(argv + 2);
    return 2;
}
