/* SPDX-License-Identifier: MIT */
/* What copies by maps of tensors and other bulk operations leave in memory. A kernel is the frame
 * below with one operation in it; what shared memory and the tensor hold afterwards is recorded as
 * a hash. */
#include "conform.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM 32768 /* bytes of shared memory that are filled, and read afterwards */
#define TENSOR (1 << 20)

/* %c0..%c4: coordinates; %x0..%x3: more numbers; %to: where in shared memory; %bar: the mbarrier.
 * The first thread runs the operation once the shared memory is filled. */
static const char head[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .align 128 .b8 map[128], .param .align 8 .b8 all[64])\n%s{\n"
    " .reg .b32 %%c<5>, %%x<8>, %%to, %%bar, %%i, %%v, %%bytes, %%n, %%rank;\n"
    " .reg .b64 %%out, %%from, %%map, %%a, %%b, %%l;\n .reg .b16 %%h;\n .reg .pred %%p, %%q;\n"
    " .shared .align 1024 .b8 room[32768];\n .shared .align 8 .b64 bar[2];\n"
    " ld.param.u64 %%out, [all];\n ld.param.u64 %%from, [all+8];\n"
    " ld.param.u32 %%bytes, [all+16];\n ld.param.u32 %%to, [all+20];\n"
    " ld.param.v2.u32 {%%c0, %%c1}, [all+24];\n ld.param.v2.u32 {%%c2, %%c3}, [all+32];\n"
    " ld.param.u32 %%c4, [all+40];\n ld.param.u32 %%x0, [all+44];\n"
    " ld.param.v2.u32 {%%x1, %%x2}, [all+48];\n ld.param.u64 %%map, [all+56];\n"
    " setp.eq.u64 %%p, %%map, 0;\n mov.u64 %%a, map;\n cvta.param.u64 %%a, %%a;\n"
    " selp.u64 %%map, %%a, %%map, %%p;\n"
    " mov.u32 %%v, room;\n add.u32 %%to, %%to, %%v;\n mov.u32 %%bar, bar;\n"
    " mov.u32 %%rank, %%cluster_ctarank;\n mov.u32 %%i, %%tid.x;\n shl.b32 %%i, %%i, 2;\n"
    "FILL:\n cvt.u64.u32 %%a, %%i;\n add.u64 %%a, %%a, %%from;\n ld.global.u32 %%n, [%%a];\n"
    " add.u32 %%v, %%v, %%i;\n st.shared.u32 [%%v], %%n;\n sub.u32 %%v, %%v, %%i;\n"
    " add.u32 %%i, %%i, 512;\n setp.lt.u32 %%p, %%i, 32768;\n @%%p bra FILL;\n"
    " mov.u32 %%i, %%tid.x;\n setp.ne.u32 %%q, %%i, 0;\n @%%q bra SET;\n"
    " mbarrier.init.shared::cta.b64 [bar], 1;\n mbarrier.init.shared::cta.b64 [bar+8], 1;\n"
    " fence.mbarrier_init.release.cluster;\n fence.proxy.async;\n"
    " mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %%bytes;\n"
    "SET:\n fence.proxy.async;\n barrier.cluster.arrive;\n barrier.cluster.wait;\n @%%q bra "
    "DONE;\n";
static const char foot[] =
    "\nDONE:\n barrier.cluster.arrive;\n barrier.cluster.wait;\n"
    " mov.u32 %n, 0;\n setp.eq.u32 %q, %bytes, 0;\n @%q bra READ;\n"
    "WAIT:\n mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;\n @%q bra READ;\n"
    " add.u32 %n, %n, 1;\n setp.lt.u32 %p, %n, 64;\n @%p bra WAIT;\n"
    "READ:\n mul.wide.u32 %a, %rank, 32784;\n add.u64 %out, %out, %a;\n"
    " setp.lt.u32 %p, %n, 64;\n selp.u32 %n, 1, 0, %p;\n st.global.u32 [%out], %n;\n"
    " mov.u32 %i, %tid.x;\n shl.b32 %i, %i, 2;\n"
    "KEEP:\n add.u32 %v, %v, %i;\n ld.shared.u32 %n, [%v];\n sub.u32 %v, %v, %i;\n"
    " cvt.u64.u32 %a, %i;\n add.u64 %a, %a, %out;\n st.global.u32 [%a+16], %n;\n"
    " add.u32 %i, %i, 512;\n setp.lt.u32 %p, %i, 32768;\n @%p bra KEEP;\n"
    " barrier.cluster.arrive;\n barrier.cluster.wait;\n ret;\n}\n";

#define COMMIT "\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;\n"
#define AT1 "{%c0}"
#define AT2 "{%c0, %c1}"
#define AT3 "{%c0, %c1, %c2}"
#define AT4 "{%c0, %c1, %c2, %c3}"
#define AT5 "{%c0, %c1, %c2, %c3, %c4}"
#define EVERY(before, after)                                                                       \
    {                                                                                              \
        before "1d" after "[%map, " AT1 "]", before "2d" after "[%map, " AT2 "]",                  \
            before "3d" after "[%map, " AT3 "]", before "4d" after "[%map, " AT4 "]",              \
            before "5d" after "[%map, " AT5 "]"                                                    \
    }
static const char *const loads[] = EVERY(
    "cp.async.bulk.tensor.", ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%to], ");
static const char *const stores[] =
    EVERY("cp.async.bulk.tensor.", ".global.shared::cta.tile.bulk_group ");

struct tile {
    CUtensorMapDataType type;
    unsigned rank;
    int swizzle;
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5];
    int at[5];
    unsigned bytes, to;
    int fill;
};

/* In the kernel's order. */
struct arguments {
    CUdeviceptr out, from;
    unsigned bytes, to;
    int at[5];
    unsigned more[3];
    CUdeviceptr map;
};
_Static_assert(sizeof(struct arguments) == 64, "the kernel reads it so");

static CUdeviceptr tensor, from, out;
static CUtensorMap descriptor;
static unsigned char host[TENSOR];

static void fill(unsigned seed)
{
    for (unsigned i = 0; i < sizeof host / 4; i++) {
        unsigned word = (i + seed) * 2654435761U;
        word ^= word >> 15;
        word *= 2246822519U;
        word ^= word >> 13;
        memcpy(host + 4 * (size_t)i, &word, 4);
    }
}

/* A fault ends the use of its process: the cases are one process's until one of them faults, and
 * the next begins with another. */
static void series(size_t count, void (*run)(size_t index))
{
    size_t *next =
        mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        _exit(4);
    while (*next < count) {
        pid_t pid = fork();
        if (pid == 0) {
            MUST(cu->cuInit(0));
            MUST(cu->cuDevicePrimaryCtxRetain(&ctx, dev));
            MUST(cu->cuCtxSetCurrent(ctx));
            while (*next < count && cu->cuCtxSynchronize() == CUDA_SUCCESS)
                run((*next)++);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, NULL, 0) < 0)
            _exit(4);
    }
}

static void prepare(void)
{
    if (!tensor) {
        tensor = conform_memory(TENSOR);
        from = conform_memory(ROOM);
        out = conform_memory(2 * (ROOM + 16));
    }
    fill(0);
    MUST(cu->cuMemcpyHtoD(tensor, host, TENSOR));
    fill(1 << 20);
    MUST(cu->cuMemcpyHtoD(from, host, ROOM));
    MUST(cu->cuMemsetD8(out, 0, 2 * (ROOM + 16)));
}

static CUresult encode(const struct tile *t)
{
    return cu->cuTensorMapEncodeTiled(
        &descriptor, t->type, t->rank, (void *)(uintptr_t)tensor, t->dims, t->strides, t->box,
        t->steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)t->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)t->fill);
}

static CUfunction kernel(const char *operation, const char *attributes)
{
    static char text[16384];
    CUmodule module = NULL;
    CUfunction function = NULL;
    int used = snprintf(text, sizeof text, head, attributes);
    snprintf(text + used, sizeof text - (size_t)used, "%s%s", operation, foot);
    MUST(cu->cuModuleLoadData(&module, text));
    MUST(cu->cuModuleGetFunction(&function, module, "k"));
    return function;
}

static void launch(CUfunction function, unsigned blocks, struct arguments *all)
{
    void *values[] = {&descriptor, all};
    all->out = out;
    all->from = from;
    MUST(cu->cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, NULL, values, NULL));
}

static void keep_bytes(const char *name, const void *bytes, size_t size)
{
    unsigned long long hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    conform_value("%s=%016llx", name, hash);
}

/* After a launch: shared memory of each block, and the tensor. */
static void see(unsigned blocks, bool whole)
{
    unsigned done = 0;
    if (cu->cuCtxSynchronize() != CUDA_SUCCESS)
        return;
    for (unsigned rank = 0; rank < blocks; rank++) {
        MUST(cu->cuMemcpyDtoH(host, out + rank * (ROOM + 16), ROOM + 16));
        memcpy(&done, host, 4);
        conform_value("done=%u", done);
        keep_bytes(rank ? "shared1" : "shared", host + 16, ROOM);
    }
    if (!whole)
        return;
    MUST(cu->cuMemcpyDtoH(host, tensor, TENSOR));
    keep_bytes("tensor", host, TENSOR);
}

static void one(CUfunction function, const struct tile *t, bool whole)
{
    struct arguments all = {.bytes = whole ? 0 : t->bytes, .to = t->to};
    prepare();
    memcpy(all.at, t->at, sizeof all.at);
    CUresult code = encode(t);
    if (code == CUDA_SUCCESS)
        launch(function, 1, &all);
    EACH(code == CUDA_SUCCESS ? cu->cuCtxSynchronize() : code,
         "%s %ud type %d swizzle %d box %u,%u,%u,%u,%u at %d,%d,%d,%d,%d to %u",
         whole ? "store" : "load", t->rank, (int)t->type, t->swizzle, t->box[0], t->box[1],
         t->box[2], t->box[3], t->box[4], t->at[0], t->at[1], t->at[2], t->at[3], t->at[4], t->to);
    see(1, whole);
}

#define ONES                                                                                       \
    {                                                                                              \
        1, 1, 1, 1, 1                                                                              \
    }
#define U8 CU_TENSOR_MAP_DATA_TYPE_UINT8
#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define U32 CU_TENSOR_MAP_DATA_TYPE_UINT32
#define F16 CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#define F32 CU_TENSOR_MAP_DATA_TYPE_FLOAT32
#define F64 CU_TENSOR_MAP_DATA_TYPE_FLOAT64

static const struct tile tiles[] = {
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {0}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {-5}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {-4}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {990}, 256, 128, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {988}, 256, 128, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {1000}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {-2147483647}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {2147483647}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, ONES, {2147483644}, 256, 0, 0},
    {U32, 1, 0, {1000}, {0}, {64}, {2, 1, 1, 1, 1}, {4}, 256, 0, 0},
    {U8, 1, 0, {1000}, {0}, {48}, ONES, {3}, 48, 0, 0},
    {U8, 1, 0, {1000}, {0}, {48}, ONES, {16}, 48, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {0, 0}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {3, 5}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {4, 5}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {-3, -2}, 512, 1024, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {-4, -2}, 512, 1024, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {95, 46}, 512, 1152, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {92, 46}, 512, 1152, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {1, 2, 1, 1, 1}, {1, 3}, 256, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {1, 2, 1, 1, 1}, {4, 3}, 256, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {1, 3}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {4, 3}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {1, -1}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {4, -1}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {1, 46}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 7}, {1, 3, 1, 1, 1}, {4, 46}, 192, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {3, 1, 1, 1, 1}, {1, 3}, 512, 0, 0},
    {U32, 2, 0, {100, 50}, {400}, {16, 8}, {3, 1, 1, 1, 1}, {4, 3}, 512, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {5, -3}, 640, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {8, -3}, 640, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {5, -3}, 640, 128, 0},
    {U16, 2, 1, {100, 50}, {208}, {16, 20}, ONES, {8, -3}, 640, 128, 0},
    {U16, 2, 1, {100, 50}, {208}, {8, 20}, ONES, {5, -3}, 320, 0, 0},
    {U16, 2, 1, {100, 50}, {208}, {8, 20}, ONES, {8, -3}, 320, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {5, 35}, 1280, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {8, 35}, 1280, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {5, 35}, 1280, 256, 0},
    {U16, 2, 2, {100, 50}, {208}, {32, 20}, ONES, {8, 35}, 1280, 256, 0},
    {U16, 2, 2, {100, 50}, {208}, {16, 20}, ONES, {5, 35}, 640, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {16, 20}, ONES, {8, 35}, 640, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {24, 20}, ONES, {5, 35}, 960, 0, 0},
    {U16, 2, 2, {100, 50}, {208}, {24, 20}, ONES, {8, 35}, 960, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {5, 7}, 2560, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {4, 7}, 2560, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {5, 7}, 2560, 512, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {4, 7}, 2560, 512, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {5, 7}, 2560, 128, 0},
    {U32, 2, 3, {100, 50}, {400}, {32, 20}, ONES, {4, 7}, 2560, 128, 0},
    {U32, 2, 3, {100, 50}, {400}, {16, 20}, ONES, {5, 7}, 1280, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {16, 20}, ONES, {4, 7}, 1280, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {20, 20}, ONES, {90, 7}, 1600, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {20, 20}, ONES, {88, 7}, 1600, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {4, 20}, ONES, {5, 7}, 320, 0, 0},
    {U32, 2, 3, {100, 50}, {400}, {4, 20}, ONES, {4, 7}, 320, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {2, 3, 4}, 640, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {4, 3, 4}, 640, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {-2, 28, 18}, 640, 0, 0},
    {U32, 3, 0, {40, 30, 20}, {160, 4800}, {8, 5, 4}, ONES, {-4, 28, 18}, 640, 0, 0},
    {U32, 3, 3, {40, 30, 20}, {160, 4800}, {32, 5, 4}, {1, 2, 3, 1, 1}, {-2, 28, 15}, 768, 0, 0},
    {U32, 3, 3, {40, 30, 20}, {160, 4800}, {32, 5, 4}, {1, 2, 3, 1, 1}, {-4, 28, 15}, 768, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {2, 3, 4, 5}, 960, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {8, 3, 4, 5}, 960, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {9, -1, 7, -2}, 960, 0, 0},
    {U16, 4, 0, {16, 10, 9, 8}, {32, 320, 2880}, {8, 3, 4, 5}, ONES, {8, -1, 7, -2}, 960, 0, 0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {1, 1, 1, 1, 1},
     576,
     0,
     0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {2, 1, 1, 1, 1},
     576,
     0,
     0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {5, 4, 3, -1, 2},
     576,
     0,
     0},
    {F64,
     5,
     0,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {2, 3, 2, 2, 3},
     ONES,
     {4, 4, 3, -1, 2},
     576,
     0,
     0},
    {F64,
     5,
     3,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {4, 3, 2, 2, 4},
     {1, 1, 1, 2, 2},
     {-1, 4, -1, 0, 1},
     384,
     0,
     0},
    {F64,
     5,
     3,
     {6, 5, 4, 3, 4},
     {48, 240, 960, 2880},
     {4, 3, 2, 2, 4},
     {1, 1, 1, 2, 2},
     {-2, 4, -1, 0, 1},
     384,
     0,
     0},
    {U8, 2, 0, {33, 9}, {48}, {16, 4}, ONES, {20, 7}, 64, 0, 0},
    {U8, 2, 0, {33, 9}, {48}, {16, 4}, ONES, {16, 7}, 64, 0, 0},
    {F32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {95, 46}, 512, 0, 1},
    {F32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {92, 46}, 512, 0, 1},
    {F16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {95, 46}, 256, 0, 1},
    {F16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {88, 46}, 256, 0, 1},
    {F64, 2, 0, {10, 50}, {80}, {4, 8}, ONES, {8, 46}, 256, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {95, 46}, 256, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 0, {100, 50}, {208}, {16, 8}, ONES, {88, 46}, 256, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {95, 46},
     512,
     0,
     1},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {92, 46},
     512,
     0,
     1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {95, 46}, 512, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {92, 46}, 512, 0, 1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {95, 46},
     512,
     0,
     1},
    {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
     2,
     0,
     {100, 50},
     {400},
     {16, 8},
     ONES,
     {92, 46},
     512,
     0,
     1},
};

static void tiled(size_t index, const char *const *texts, const char *end, bool store)
{
    static CUfunction functions[6];
    const struct tile *t = &tiles[index];
    char text[512];
    snprintf(text, sizeof text, "%s, %s", texts[t->rank - 1], end);
    if (!functions[t->rank])
        functions[t->rank] = kernel(text, "");
    one(functions[t->rank], t, store);
}

static void tiled_load(size_t index)
{
    tiled(index, loads, "[bar];", false);
}

static void tiled_store(size_t index)
{
    tiled(index, stores, "[%to];" COMMIT, true);
}

static void tiled_loads(void)
{
    series(sizeof tiles / sizeof *tiles, tiled_load);
}

static void tiled_stores(void)
{
    series(sizeof tiles / sizeof *tiles, tiled_store);
}

/* With words that hold every kind of float: infinities, NaN, subnormals, halves that round. */
static void convert(size_t index)
{
    static const CUtensorMapDataType types[] = {
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ};
    static const unsigned words[64] = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
        0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0x3f803001,
        0xbf801000, 0xbf803000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001,
        0x7fc00000, 0xffc00001, 0x7fffffff, 0x00001000, 0x00002000, 0x00000fff, 0x00003000,
        0x007ff000, 0x007fefff, 0x7f7fefff, 0x7f7ff000};
    CUfunction load = kernel("cp.async.bulk.tensor.1d.shared::cluster.global.tile"
                             ".mbarrier::complete_tx::bytes [%to], [%map, {%c0}], [bar];",
                             "");
    CUfunction store = kernel("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
                              "[%map, {%c0}], [%to];" COMMIT,
                              "");
    struct tile t = {types[index / 2], 1, 0, {64}, {0}, {64}, ONES, {0}, 256, 0, 0};
    bool way = index % 2;
    struct arguments all = {.bytes = way ? 0 : 256};
    prepare();
    MUST(cu->cuMemcpyHtoD(way ? from : tensor, words, sizeof words));
    MUST(encode(&t));
    launch(way ? store : load, 1, &all);
    EACH(cu->cuCtxSynchronize(), "type %d %s", (int)t.type, way ? "stored" : "loaded");
    see(1, way);
}

static void converted(void)
{
    series(8, convert);
}

static void reduce(const char *operation, size_t type)
{
    static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    static CUfunction function;
    char text[512];
    struct arguments all = {.at = {0, 2}};
    struct tile t = {
        (CUtensorMapDataType)type, 2, 0, {32, 16}, {256}, {16, 6}, ONES, {0, 2}, 0, 0, 0};
    t.box[0] = 64 / sizes[type];
    t.dims[0] = 67 / sizes[type] - 3;
    prepare();
    snprintf(text, sizeof text,
             "cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group "
             "[%%map, {%%c0, %%c1}], [%%to];" COMMIT,
             operation);
    if (!function)
        function = kernel(text, "");
    MUST(encode(&t));
    launch(function, 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s type %d", operation, (int)type);
    see(1, true);
}

#define REDUCE(name)                                                                               \
    static void reduce_##name##_type(size_t type)                                                  \
    {                                                                                              \
        reduce(#name, type);                                                                       \
    }                                                                                              \
    static void reduce_##name(void)                                                                \
    {                                                                                              \
        series(13, reduce_##name##_type);                                                          \
    }
REDUCE(add)
REDUCE(min)
REDUCE(max)
REDUCE(inc)
REDUCE(dec)
REDUCE(and)
REDUCE(or)
REDUCE(xor)

/* Bulk reductions without a map: to global memory, and within shared memory. */
static void reduce_global_one(size_t index)
{
    static const char *const operations[] = {
        "add.u32", "add.s32", "add.u64", "add.f32",  "add.f64",        "add.noftz.f16", "min.u32",
        "min.s32", "min.u64", "min.s64", "min.f16",  "add.noftz.bf16", "max.u32",       "max.s32",
        "max.u64", "max.s64", "max.f16", "max.bf16", "inc.u32",        "dec.u32",       "and.b32",
        "and.b64", "or.b32",  "or.b64",  "xor.b32",  "xor.b64",        "min.bf16"};
    char text[512];
    struct arguments all = {.to = 64};
    prepare();
    all.map = tensor + 32;
    snprintf(text, sizeof text,
             "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%map], [%%to], 4096;" COMMIT,
             operations[index]);
    launch(kernel(text, ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s", operations[index]);
    see(1, true);
}

static void reduce_global(void)
{
    series(27, reduce_global_one);
}

/* A block's own shared memory, as a cluster of one block. */
#define CLUSTER(count) ".explicitcluster\n.reqnctapercluster " #count ", 1, 1\n"

static void reduce_shared_one(size_t index)
{
    static const char *const operations[] = {"add.u32", "add.s32", "add.u64", "min.u32",
                                             "min.s32", "max.u32", "max.s32", "inc.u32",
                                             "dec.u32", "and.b32", "or.b32",  "xor.b32"};
    char text[512];
    struct arguments all = {.to = 64, .bytes = 4096};
    prepare();
    snprintf(text, sizeof text,
             "add.u32 %%x4, %%to, 8192;\nmapa.shared::cluster.u32 %%x5, %%to, %%rank;\n"
             "mapa.shared::cluster.u32 %%x6, %%bar, %%rank;\n"
             "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s "
             "[%%x5], [%%x4], 4096, [%%x6];",
             operations[index]);
    launch(kernel(text, CLUSTER(1)), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s", operations[index]);
    see(1, false);
}

static void reduce_shared(void)
{
    series(12, reduce_shared_one);
}

static void asynchronous_one(size_t index)
{
    static const struct {
        const char *text;
        unsigned bytes;
    } cases[] = {
        {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%to], %x0, [%bar];", 4},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%to+8], %map, [%bar];", 8},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%to+8], {%x0, %x1}, "
         "[%bar];",
         8},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%to+16], {%x0, %x1, %x2, "
         "7}, [%bar];",
         16},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%to+16], {%map, 9}, "
         "[%bar];\nst.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%to+24], 5, [%bar];",
         24},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%to], "
         "%map, [%bar];",
         8},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%to], "
         "%x1, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.dec.u32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or.b32 [%to], "
         "%x0, [%bar];",
         4},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%to], "
         "%x0, [%bar];",
         4},
    };
    char text[512];
    struct arguments all = {.more = {123456789, 0x80000005, 77},
                            .map = 0x123456789abcdef0,
                            .bytes = cases[index / 2].bytes};
    prepare();
    snprintf(text, sizeof text,
             "mapa.shared::cluster.u32 %%to, %%to, %%rank;\n"
             "mapa.shared::cluster.u32 %%bar, %%bar, %%rank;\n%s",
             cases[index / 2].text);
    launch(kernel(text, index % 2 ? CLUSTER(1) : ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%.9s case %u%s", cases[index / 2].text, (unsigned)index / 2,
         index % 2 ? " in a cluster" : "");
    see(1, false);
}

static void asynchronous(void)
{
    series(30, asynchronous_one);
}

/* The first block's copy reaches both blocks of a cluster, and its peer's alone. */
static void multicast_one(size_t index)
{
    static const char *const texts[] = {
        "setp.ne.u32 %p, %rank, 0;\n@%p bra DONE;\nmov.b16 %h, 3;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%to], [%map, {%c0, %c1}], [bar], %h;",
        "setp.ne.u32 %p, %rank, 0;\nselp.u16 %h, 1, 2, %p;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%to], [%map, {%c0, %c1}], [bar], %h;",
        "setp.ne.u32 %p, %rank, 0;\nselp.u32 %x4, 0, 1, %p;\n"
        "mapa.shared::cluster.u32 %x5, %to, %x4;\nmapa.shared::cluster.u32 %x6, %bar, %x4;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%x5], [%map, {%c0, %c1}], [%x6];",
        "setp.ne.u32 %p, %rank, 0;\nselp.u32 %x4, 0, 1, %p;\n"
        "mapa.shared::cluster.u32 %x5, %to, %x4;\nmapa.shared::cluster.u32 %x6, %bar, %x4;\n"
        "add.u32 %x7, %to, 4096;\n"
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
        "[%x5], [%x7], 512, [%x6];"};
    struct tile t = {U32, 2, 3, {100, 50}, {400}, {16, 8}, ONES, {4, 5}, 512, 1024, 0};
    struct arguments all = {.bytes = 512, .to = 1024, .at = {4, 5}};
    prepare();
    MUST(encode(&t));
    launch(kernel(texts[index], CLUSTER(2)), 2, &all);
    EACH(cu->cuCtxSynchronize(), "case %u", (unsigned)index);
    see(2, false);
}

static void multicast(void)
{
    series(4, multicast_one);
}

static void im2col_one(size_t index)
{
    static const struct {
        CUtensorMapDataType type;
        unsigned rank;
        cuuint64_t dims[5], strides[4];
        int lower[3], upper[3];
        unsigned channels, pixels;
        cuuint32_t steps[5];
        int at[5];
        unsigned offsets[3], bytes;
        int swizzle;
    } cases[] = {
        {U32, 3, {8, 10, 4}, {32, 320}, {0}, {0}, 8, 16, ONES, {0, 0, 0}, {0}, 512, 0},
        {U32, 3, {8, 10, 4}, {32, 320}, {-1}, {-1}, 8, 16, ONES, {0, -1, 1}, {1}, 512, 0},
        {U32, 3, {8, 10, 4}, {32, 320}, {-1}, {-1}, 4, 16, ONES, {4, 3, 2}, {2}, 256, 0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         8,
         32,
         ONES,
         {0, -1, -1, 0},
         {0, 0},
         1024,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         8,
         32,
         ONES,
         {0, -1, -1, 0},
         {2, 1},
         1024,
         1},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {1, 1},
         8,
         32,
         ONES,
         {0, 5, 7, 1},
         {2, 1},
         1024,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {0, 0},
         {-2, -2},
         8,
         64,
         {1, 2, 2, 1, 1},
         {0, 0, 0, 0},
         {1, 2},
         2048,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -2},
         {-2, -1},
         8,
         64,
         {1, 3, 2, 1, 1},
         {0, 2, 2, 2},
         {1, 2},
         2048,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         4,
         64,
         ONES,
         {6, 3, 7, 3},
         {2, 2},
         1024,
         0},
        {U32,
         5,
         {8, 6, 5, 4, 3},
         {32, 192, 960, 3840},
         {-1, -1, -1},
         {-1, -1, -1},
         8,
         100,
         ONES,
         {0, -1, -1, -1, 0},
         {1, 2, 0},
         3200,
         0},
        {U32,
         5,
         {8, 6, 5, 4, 3},
         {32, 192, 960, 3840},
         {-1, -1, -1},
         {0, 0, 0},
         8,
         100,
         ONES,
         {0, 3, 2, 1, 1},
         {0, 0, 1},
         3200,
         0},
        {U32,
         4,
         {8, 10, 9, 4},
         {32, 320, 2880},
         {-1, -1},
         {-1, -1},
         4,
         64,
         ONES,
         {4, 3, 7, 3},
         {2, 2},
         1024,
         0},
    };
    static const char *const texts[] = {
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%to], [%map, {%c0, %c1, %c2}], [bar], {%h0};",
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%to], [%map, {%c0, %c1, %c2, %c3}], [bar], {%h0, %h1};",
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%to], [%map, {%c0, %c1, %c2, %c3, %c4}], [bar], {%h0, %h1, %h2};",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%map, {%c0, %c1, %c2}], [%to];" COMMIT,
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%map, {%c0, %c1, %c2, %c3}], [%to];" COMMIT,
        "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%map, {%c0, %c1, %c2, %c3, %c4}], [%to];" COMMIT};
    size_t c = index / 2;
    bool way = index % 2;
    struct arguments all = {.bytes = way ? 0 : cases[c].bytes};
    char text[512];
    snprintf(text, sizeof text,
             ".reg .b16 %%h0, %%h1, %%h2;\ncvt.u16.u32 %%h0, %%x0;\ncvt.u16.u32 %%h1, %%x1;\n"
             "cvt.u16.u32 %%h2, %%x2;\n%s",
             texts[cases[c].rank - 3 + (way ? 3 : 0)]);
    prepare();
    memcpy(all.at, cases[c].at, sizeof all.at);
    memcpy(all.more, cases[c].offsets, sizeof all.more);
    MUST(cu->cuTensorMapEncodeIm2col(
        &descriptor, cases[c].type, cases[c].rank, (void *)(uintptr_t)tensor, cases[c].dims,
        cases[c].strides, cases[c].lower, cases[c].upper, cases[c].channels, cases[c].pixels,
        cases[c].steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)cases[c].swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    launch(kernel(text, ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s case %u", way ? "store" : "load", (unsigned)c);
    see(1, way);
}

static void im2col(void)
{
    series(24, im2col_one);
}

/* --- What goes wrong, and what does not --- */
enum map_kind { PLAIN, NO_MEMORY, ZEROS, ONES_ALL, NOISE, IN_GLOBAL, NOWHERE, RANK_3, IM2COL };
struct trial {
    const char *name, *text;
    struct arguments all;
    enum map_kind map;
    unsigned move; /* of a map in global memory */
};
#define LOADED(rank, mode, coordinates)                                                            \
    "cp.async.bulk.tensor." rank ".shared::cluster.global." mode                                   \
    ".mbarrier::complete_tx::bytes [%to], [%map, " coordinates "], "
#define LOAD2 LOADED("2d", "tile", AT2)
#define STORE2                                                                                     \
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%c0, %c1}], [%to];" COMMIT
#define FETCH2 "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map, {%c0, %c1}];"
#define COPIED                                                                                     \
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%map], [%to], %x0;" COMMIT
#define OWN                                                                                        \
    "mapa.shared::cluster.u32 %to, %to, %rank;\nmapa.shared::cluster.u32 %bar, %bar, %rank;\n"
#define STORED(bar)                                                                                \
    OWN "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%to], %x0, [" bar "];"
#define REDUCED                                                                                    \
    OWN "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%to], "   \
        "%x0, [%bar];"
#define TO(where)                                                                                  \
    {                                                                                              \
        .bytes = 512, .to = where                                                                  \
    }
#define FROM(where)                                                                                \
    {                                                                                              \
        .to = where                                                                                \
    }
#define IN_AT(x, y)                                                                                \
    {                                                                                              \
        .bytes = 512, .at = { x, y }                                                               \
    }
#define OUT_AT(x, y)                                                                               \
    {                                                                                              \
        .at = { x, y }                                                                             \
    }

static const struct trial trials[] = {
    {"load to + 4", LOAD2 "[bar];", TO(4), PLAIN, 0},
    {"load to + 16", LOAD2 "[bar];", TO(16), PLAIN, 0},
    {"load to + 32", LOAD2 "[bar];", TO(32), PLAIN, 0},
    {"load to + 64", LOAD2 "[bar];", TO(64), PLAIN, 0},
    {"load to + 128", LOAD2 "[bar];", TO(128), PLAIN, 0},
    {"store from + 4", STORE2, FROM(4), PLAIN, 0},
    {"store from + 16", STORE2, FROM(16), PLAIN, 0},
    {"store from + 64", STORE2, FROM(64), PLAIN, 0},
    {"store from + 128", STORE2, FROM(128), PLAIN, 0},
    {"mbarrier + 4", LOAD2 "[bar+4];", TO(0), PLAIN, 0},
    {"mbarrier outside", LOAD2 "[bar+1048576];", TO(0), PLAIN, 0},
    {"load outside", LOAD2 "[bar];", TO(1 << 20), PLAIN, 0},
    {"store outside", STORE2, FROM(1 << 20), PLAIN, 0},
    {"load at 1, 0", LOAD2 "[bar];", IN_AT(1, 0), PLAIN, 0},
    {"load at 2, 0", LOAD2 "[bar];", IN_AT(2, 0), PLAIN, 0},
    {"load at 4, 0", LOAD2 "[bar];", IN_AT(4, 0), PLAIN, 0},
    {"load at 0, 3", LOAD2 "[bar];", IN_AT(0, 3), PLAIN, 0},
    {"load at -1, 0", LOAD2 "[bar];", IN_AT(-1, 0), PLAIN, 0},
    {"load at -4, 0", LOAD2 "[bar];", IN_AT(-4, 0), PLAIN, 0},
    {"load at 0, -1", LOAD2 "[bar];", IN_AT(0, -1), PLAIN, 0},
    {"load at 0, 49", LOAD2 "[bar];", IN_AT(0, 49), PLAIN, 0},
    {"load at 96, 0", LOAD2 "[bar];", IN_AT(96, 0), PLAIN, 0},
    {"load at 100, 50", LOAD2 "[bar];", IN_AT(100, 50), PLAIN, 0},
    {"load at 97, 0", LOAD2 "[bar];", IN_AT(97, 0), PLAIN, 0},
    {"store at 1, 0", STORE2, OUT_AT(1, 0), PLAIN, 0},
    {"store at 4, 0", STORE2, OUT_AT(4, 0), PLAIN, 0},
    {"store at 0, 3", STORE2, OUT_AT(0, 3), PLAIN, 0},
    {"store at -4, 0", STORE2, OUT_AT(-4, 0), PLAIN, 0},
    {"store at 0, -1", STORE2, OUT_AT(0, -1), PLAIN, 0},
    {"store at 0, 49", STORE2, OUT_AT(0, 49), PLAIN, 0},
    {"store at 96, 0", STORE2, OUT_AT(96, 0), PLAIN, 0},
    {"load of no memory", LOAD2 "[bar];", TO(0), NO_MEMORY, 0},
    {"load beyond no memory", LOAD2 "[bar];", IN_AT(100, 0), NO_MEMORY, 0},
    {"store to no memory", STORE2, FROM(0), NO_MEMORY, 0},
    {"prefetch of no memory", FETCH2, FROM(0), NO_MEMORY, 0},
    {"prefetch", FETCH2, FROM(0), PLAIN, 0},
    {"load, zeros", LOAD2 "[bar];", TO(0), ZEROS, 0},
    {"store, zeros", STORE2, FROM(0), ZEROS, 0},
    {"prefetch, zeros", FETCH2, FROM(0), ZEROS, 0},
    {"load, ones", LOAD2 "[bar];", TO(0), ONES_ALL, 0},
    {"store, ones", STORE2, FROM(0), ONES_ALL, 0},
    {"load, noise", LOAD2 "[bar];", TO(0), NOISE, 0},
    {"map in global memory", LOAD2 "[bar];", TO(0), IN_GLOBAL, 0},
    {"map in global memory + 16", LOAD2 "[bar];", TO(0), IN_GLOBAL, 16},
    {"map in global memory + 32", LOAD2 "[bar];", TO(0), IN_GLOBAL, 32},
    {"map in global memory + 64", LOAD2 "[bar];", TO(0), IN_GLOBAL, 64},
    {"map in no memory", LOAD2 "[bar];", TO(0), NOWHERE, 0},
    {"map in shared memory", "cvta.shared.u64 %map, 1024;\n" LOAD2 "[bar];", TO(0), PLAIN, 0},
    {"1d of 2", LOADED("1d", "tile", AT1) "[bar];", {.bytes = 64}, PLAIN, 0},
    {"3d of 2", LOADED("3d", "tile", AT3) "[bar];", TO(0), PLAIN, 0},
    {"2d of 3", LOAD2 "[bar];", TO(0), RANK_3, 0},
    {"store 1d of 2",
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%map, {%c0}], [%to];" COMMIT, FROM(0),
     PLAIN, 0},
    {"im2col by a tiled map", LOADED("3d", "im2col", AT3) "[bar], {0};", TO(0), RANK_3, 0},
    {"tiled by an im2col map", LOADED("3d", "tile", AT3) "[bar];", TO(0), IM2COL, 0},
    {"reduce 24 bytes", COPIED, {.more = {24}}, PLAIN, 0},
    {"reduce 0 bytes", COPIED, {.more = {0}}, PLAIN, 0},
    {"reduce 16 bytes", COPIED, {.more = {16}}, PLAIN, 0},
    {"reduce from + 8", COPIED, {.more = {32}, .to = 8}, PLAIN, 0},
    {"reduce to + 8", COPIED, {.more = {32}, .map = 8}, PLAIN, 0},
    {"reduce to nowhere", COPIED, {.more = {32}, .map = 1ULL << 44}, PLAIN, 0},
    {"reduce from outside", COPIED, {.more = {32}, .to = 1 << 20}, PLAIN, 0},
    {"copy 24 bytes",
     "cp.async.bulk.global.shared::cta.bulk_group [%map], [%to], %x0;" COMMIT,
     {.more = {24}},
     PLAIN,
     0},
    {"load 24 bytes",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%map], %x0, [bar];",
     {.more = {24}, .bytes = 24},
     PLAIN,
     0},
    {"load 24 bytes, expect 16",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%map], %x0, [bar];",
     {.more = {24}, .bytes = 16},
     PLAIN,
     0},
    {"store async", STORED("%bar"), {.bytes = 4}, PLAIN, 0},
    {"store async + 2", STORED("%bar"), {.bytes = 4, .to = 2}, PLAIN, 0},
    {"store async, mbarrier + 4", STORED("%bar+4"), {.bytes = 4}, PLAIN, 0},
    {"red async + 2", REDUCED, {.bytes = 4, .to = 2}, PLAIN, 0},
};

/* A map of a kind; where the kernel finds it, if not in its parameter. */
static CUdeviceptr trial_map(const struct trial *trial)
{
    struct tile t = {U32, 2, 0, {100, 50}, {400}, {16, 8}, ONES, {0, 0}, 512, 0, 0};
    CUdeviceptr real = tensor, place;
    switch (trial->map) {
    case ZEROS:
        memset(&descriptor, 0, sizeof descriptor);
        return 0;
    case ONES_ALL:
        memset(&descriptor, 0xff, sizeof descriptor);
        return 0;
    case NOISE:
        memset(&descriptor, 0x5a, sizeof descriptor);
        return 0;
    case NOWHERE:
        return 1ULL << 44;
    case RANK_3:
        t.rank = 3, t.dims[2] = 4, t.strides[1] = 20000, t.box[2] = 1;
        break;
    case IM2COL:
        MUST(cu->cuTensorMapEncodeIm2col(
            &descriptor, U32, 3, (void *)(uintptr_t)tensor, (cuuint64_t[]){8, 10, 4},
            (cuuint64_t[]){32, 320}, (int[]){0}, (int[]){0}, 8, 16, t.steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        return 0;
    case NO_MEMORY:
        tensor = 1ULL << 44;
        break;
    default:
        break;
    }
    MUST(encode(&t));
    tensor = real;
    if (trial->map != IN_GLOBAL)
        return 0;
    place = conform_memory(4096);
    MUST(cu->cuMemcpyHtoD(place + trial->move, &descriptor, sizeof descriptor));
    return place + trial->move;
}

static void try(size_t index)
{
    const struct trial *trial = &trials[index];
    struct arguments all = trial->all;
    prepare();
    CUdeviceptr map = trial_map(trial);
    if (!strstr(trial->text, "tensor")) /* the address of a copy without a map */
        all.map = all.map < 4096 ? tensor + all.map : all.map;
    else
        all.map = map;
    launch(kernel(trial->text, strstr(trial->text, "mapa") ? CLUSTER(1) : ""), 1, &all);
    EACH(cu->cuCtxSynchronize(), "%s", trial->name);
    see(1, !all.bytes);
}

static void tried(void)
{
    series(sizeof trials / sizeof *trials, try);
}

/* A map that the kernel changes. */
static void replaced_one(size_t index)
{
    static const char *const texts[] = {
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%x4], %l;",
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%x4], 1, 4;",
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%x4], 0, 10;",
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%x4], 0, 800;",
        "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%x4], 1, 2;",
        "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%x4], 1;",
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%x4], 0;",
        "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%x4], 0;",
        "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%x4], 0;",
        "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%x4], 1;"};
    struct tile t = {F32, 2, 0, {100, 50}, {400}, {8, 8}, ONES, {0, 0}, 256, 0, 0};
    static char text[16384];
    struct arguments all = {.bytes = index == 1   ? 128
                                     : index == 4 ? 128
                                     : index == 6 ? 64
                                                  : 256,
                            .at = {96, 45}};
    CUmodule module = NULL;
    CUfunction function = NULL;
    prepare();
    MUST(encode(&t));
    MUST(cu->cuMemcpyHtoD(from + 16384, &descriptor, sizeof descriptor));
    all.map = conform_memory(4096);
    MUST(cu->cuMemcpyHtoD(all.map, &tensor, 8));
    int used = snprintf(text, sizeof text, head, "");
    snprintf(text + used, sizeof text - (size_t)used,
             "ld.global.u64 %%l, [%%map];\nadd.u64 %%l, %%l, 64;\nadd.u32 %%x4, %%to, 16384;\n"
             "%s\nmov.u32 %%x5, 0;\nCOPY:\nadd.u32 %%x6, %%x4, %%x5;\nld.shared.u32 %%x7, "
             "[%%x6];\ncvt.u64.u32 %%a, %%x5;\nadd.u64 %%a, %%a, %%map;\nst.global.u32 [%%a], "
             "%%x7;\nadd.u32 %%x5, %%x5, 4;\nsetp.lt.u32 %%p, %%x5, 128;\n@%%p bra COPY;\n"
             "mov.u32 %%x5, 0;\nWIPE:\nadd.u32 %%x6, %%x4, %%x5;\nst.shared.u32 [%%x6], 0;\n"
             "add.u32 %%x5, %%x5, 4;\nsetp.lt.u32 %%p, %%x5, 128;\n@%%p bra WIPE;\n"
             "fence.proxy.tensormap::generic.release.gpu;\n"
             "fence.proxy.tensormap::generic.acquire.gpu [%%map], 128;\n%s[bar];%s",
             texts[index], LOAD2, foot);
    char *target = strstr(text, ".target sm_90\n");
    memmove(target + 14, target + 13, strlen(target + 13) + 1);
    target[13] = 'a';
    MUST(cu->cuModuleLoadData(&module, text));
    MUST(cu->cuModuleGetFunction(&function, module, "k"));
    launch(function, 1, &all);
    EACH(cu->cuCtxSynchronize(), "case %u", (unsigned)index);
    see(1, false);
}

static void replaced(void)
{
    series(10, replaced_one);
}

static const struct sequence sequences[] = {S(tiled_loads, BARE),
                                            S(tiled_stores, BARE),
                                            S(converted, BARE),
                                            S(reduce_add, BARE),
                                            S(reduce_min, BARE),
                                            S(reduce_max, BARE),
                                            S(reduce_inc, BARE),
                                            S(reduce_dec, BARE),
                                            S(reduce_and, BARE),
                                            S(reduce_or, BARE),
                                            S(reduce_xor, BARE),
                                            S(reduce_global, BARE),
                                            S(reduce_shared, BARE),
                                            S(asynchronous, BARE),
                                            S(multicast, BARE),
                                            S(im2col, BARE),
                                            S(tried, BARE),
                                            S(replaced, BARE),
                                            {0}};
const struct family tensor_copy_family = {"tensor_copy", sequences};
