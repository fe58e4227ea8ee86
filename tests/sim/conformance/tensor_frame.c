/* SPDX-License-Identifier: MIT */
#include "tensor_frame.h"

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
    " .reg .b64 %%out, %%tensor_from, %%map, %%a, %%b, %%l;\n .reg .b16 %%h;\n .reg .pred %%p, "
    "%%q;\n"
    " .shared .align 1024 .b8 room[32768];\n .shared .align 8 .b64 bar[2];\n"
    " ld.param.u64 %%out, [all];\n ld.param.u64 %%tensor_from, [all+8];\n"
    " ld.param.u32 %%bytes, [all+16];\n ld.param.u32 %%to, [all+20];\n"
    " ld.param.v2.u32 {%%c0, %%c1}, [all+24];\n ld.param.v2.u32 {%%c2, %%c3}, [all+32];\n"
    " ld.param.u32 %%c4, [all+40];\n ld.param.u32 %%x0, [all+44];\n"
    " ld.param.v2.u32 {%%x1, %%x2}, [all+48];\n ld.param.u64 %%map, [all+56];\n"
    " setp.eq.u64 %%p, %%map, 0;\n mov.u64 %%a, map;\n cvta.param.u64 %%a, %%a;\n"
    " selp.u64 %%map, %%a, %%map, %%p;\n"
    " mov.u32 %%v, room;\n add.u32 %%to, %%to, %%v;\n mov.u32 %%bar, bar;\n"
    " mov.u32 %%rank, %%cluster_ctarank;\n mov.u32 %%i, %%tid.x;\n shl.b32 %%i, %%i, 2;\n"
    "FILL:\n cvt.u64.u32 %%a, %%i;\n add.u64 %%a, %%a, %%tensor_from;\n ld.global.u32 %%n, [%%a];\n"
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

CUdeviceptr tensor_memory, tensor_from;
CUtensorMap tensor_map;
static CUdeviceptr out;
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

void tensor_series(size_t count, void (*run)(size_t index))
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

void tensor_prepare(void)
{
    if (!tensor_memory) {
        tensor_memory = conform_memory(TENSOR);
        tensor_from = conform_memory(ROOM);
        out = conform_memory(2 * (ROOM + 16));
    }
    fill(0);
    MUST(cu->cuMemcpyHtoD(tensor_memory, host, TENSOR));
    fill(1 << 20);
    MUST(cu->cuMemcpyHtoD(tensor_from, host, ROOM));
    MUST(cu->cuMemsetD8(out, 0, 2 * (ROOM + 16)));
}

CUresult tensor_encode(const struct tile *t, CUtensorMapInterleave interleave)
{
    return cu->cuTensorMapEncodeTiled(
        &tensor_map, t->type, t->rank, (void *)(uintptr_t)tensor_memory, t->dims, t->strides,
        t->box, t->steps, interleave, (CUtensorMapSwizzle)t->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)t->fill);
}

const char *tensor_text(const char *operation, const char *attributes)
{
    static char text[16384];
    int used = snprintf(text, sizeof text, head, attributes);
    snprintf(text + used, sizeof text - (size_t)used, "%s%s", operation, foot);
    return text;
}

CUfunction tensor_kernel(const char *operation, const char *attributes)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    MUST(cu->cuModuleLoadData(&module, tensor_text(operation, attributes)));
    MUST(cu->cuModuleGetFunction(&function, module, "k"));
    return function;
}

void tensor_launch(CUfunction function, unsigned blocks, struct arguments *all)
{
    void *values[] = {&tensor_map, all};
    all->out = out;
    all->from = tensor_from;
    MUST(cu->cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, NULL, values, NULL));
}

static void keep_bytes(const char *name, const void *bytes, size_t size)
{
    unsigned long long hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    conform_value("%s=%016llx", name, hash);
}

void tensor_see(unsigned blocks, bool whole)
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
    MUST(cu->cuMemcpyDtoH(host, tensor_memory, TENSOR));
    keep_bytes("tensor", host, TENSOR);
}
