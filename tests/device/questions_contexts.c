/* SPDX-License-Identifier: MIT */
/* What is no context, made current. Each call prints its code before the next one. */
#include <stdint.h>
#include <string.h>

#include "questions.h"

enum way { SET, PUSH };
enum what { NUMBER, ZEROS, ONES, INSIDE, MODULE, STREAM, DESTROYED };

struct trial {
    enum way way;
    enum what what;
};

static char zeros[8192], ones[8192];

static const char module_text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                  ".visible .entry k() { ret; }\n";

/* A handle of that kind; the primary context is current, and others are gone. */
static CUcontext make(const struct cushim_api *cu, enum what what, CUcontext primary)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUstream stream = NULL;
    CUdevice device = 0;

    switch (what) {
    case NUMBER:
        return (CUcontext)(uintptr_t)0x1234;
    case ZEROS:
        return (CUcontext)(void *)(zeros + 4096);
    case ONES:
        memset(ones, 0xff, sizeof ones);
        return (CUcontext)(void *)(ones + 4096);
    case INSIDE:
        return (CUcontext)(void *)((char *)primary + 8);
    case MODULE:
        question_need("cuModuleLoadData", cu->cuModuleLoadData(&module, module_text));
        return (CUcontext)(void *)module;
    case STREAM:
        question_need("cuStreamCreate", cu->cuStreamCreate(&stream, 0));
        return (CUcontext)(void *)stream;
    default:
        question_need("cuCtxCreate", cu->cuCtxCreate_v2(&context, 0, device));
        question_need("cuCtxDestroy", cu->cuCtxDestroy_v2(context));
        question_need("cuCtxSetCurrent", cu->cuCtxSetCurrent(primary));
        return context;
    }
}

static void ask(const struct cushim_api *cu, const void *data)
{
    const struct trial *trial = data;
    CUcontext primary, odd, now = NULL;
    CUdeviceptr memory = 0;
    CUdevice device = 0;
    CUresult code;

    question_context(cu, &primary);
    odd = make(cu, trial->what, primary);
    code = trial->way == SET ? cu->cuCtxSetCurrent(odd) : cu->cuCtxPushCurrent_v2(odd);
    question_answer(trial->way == SET ? "cuCtxSetCurrent" : "cuCtxPushCurrent", "%d", (int)code);
    code = cu->cuCtxGetCurrent(&now);
    question_answer("cuCtxGetCurrent", "%d, %s", (int)code,
                    now == odd       ? "the odd one"
                    : now == primary ? "the primary one"
                    : now            ? "another"
                                     : "none");
    question_answer("cuCtxGetDevice", "%d", (int)cu->cuCtxGetDevice(&device));
    question_answer("cuMemAlloc", "%d", (int)cu->cuMemAlloc_v2(&memory, 4096));
    question_answer("cuCtxSynchronize", "%d", (int)cu->cuCtxSynchronize());
    code = cu->cuCtxPopCurrent_v2(&now);
    question_answer("cuCtxPopCurrent", "%d, %s", (int)code,
                    code != CUDA_SUCCESS ? "nothing"
                    : now == odd         ? "the odd one"
                    : now == primary     ? "the primary one"
                                         : "another");
    question_answer("cuCtxSetCurrent of the primary one", "%d", (int)cu->cuCtxSetCurrent(primary));
    question_answer("cuMemAlloc", "%d", (int)cu->cuMemAlloc_v2(&memory, 4096));
}

#define BOTH(name, what)                                                                           \
    {"context-set-" name, ask, &(const struct trial){SET, what}},                                  \
    {                                                                                              \
        "context-push-" name, ask, &(const struct trial)                                           \
        {                                                                                          \
            PUSH, what                                                                             \
        }                                                                                          \
    }
const struct question questions_contexts[] = {
    BOTH("number", NUMBER),       BOTH("zeros", ZEROS),   BOTH("ones", ONES),
    BOTH("inside", INSIDE),       BOTH("module", MODULE), BOTH("stream", STREAM),
    BOTH("destroyed", DESTROYED), {NULL, NULL, NULL},
};
