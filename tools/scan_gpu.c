/* SPDX-License-Identifier: MIT */
#include "scan_gpu.h"

#include "facts.h"

#include <cushim/compat.h>

#include <string.h>

/* NVIDIA's libraries have code for at least a tenth of their fatbins on each GPU that they serve.
 */
enum { MANY = 100, SHARE = 20 };

/* The family of a compute capability, by its major number: 10.1 was renamed to 11.0. */
static int family_of(int capability)
{
    return capability == 101 ? 11 : capability / 10;
}

static bool is_tegra(int capability)
{
    const struct facts_architecture *known = facts_architecture(capability);

    return known && known->tegra;
}

/* Machine code runs on its own architecture and on later ones of the same major number; that of
 * sm_90a on no other, that of sm_100f within its family, that of and for Tegra on no other. */
static bool cubin_fits(const struct fatbin_code *code, int capability)
{
    if (code->kind != FATBIN_CUBIN || code->architecture > capability)
        return false;
    if (code->variant == 'a' || is_tegra(code->architecture) || is_tegra(capability))
        return code->architecture == capability;
    return code->architecture / 10 == capability / 10 &&
           (code->variant != 'f' || family_of(code->architecture) == family_of(capability));
}

/* The first release whose driver takes a toolkit's machine code: from CUDA 11 on the first of the
 * same family. */
static int toolkit_driver(int toolkit)
{
    return toolkit >= 11000 ? toolkit / 1000 * 1000 : toolkit;
}

/* PTX is compiled for its own architecture and later ones; that of sm_90a for no other, that of
 * sm_100f for those of its family. */
static bool ptx_fits(const struct fatbin_code *code, int capability)
{
    if (code->kind != FATBIN_PTX || code->architecture > capability)
        return false;
    if (code->variant == 'a')
        return code->architecture == capability;
    return code->variant != 'f' || family_of(code->architecture) == family_of(capability);
}

static int later(int one, int other)
{
    return one > other ? one : other;
}

static struct gpu_verdict of_fatbin(const struct fatbin *fatbin, int capability, int release)
{
    struct gpu_verdict verdict = {.answer = GPU_NO_CODE};
    const struct fatbin_code *best = NULL;
    int known = facts_capability_release(capability);

    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_code *code = &fatbin->code[i];
        if (code->empty)
            continue;
        int from = later(known, toolkit_driver(code->toolkit));
        if (cubin_fits(code, capability) &&
            (verdict.answer == GPU_NO_CODE || from < verdict.from)) {
            verdict.answer = GPU_RUNS;
            verdict.from = from;
        }
        if (ptx_fits(code, capability) && (!best || code->architecture >= best->architecture))
            best = code;
    }
    if (verdict.answer == GPU_RUNS && release > 0 && release < verdict.from)
        verdict.answer = GPU_FAMILY;
    if (verdict.answer != GPU_RUNS && best) {
        int takes = facts_ptx_release(best->ptx_version);
        if (release == 0 || release >= takes) {
            verdict.answer = GPU_COMPILED;
            verdict.from = later(known, takes);
        } else if (verdict.answer == GPU_NO_CODE) {
            verdict.answer = GPU_TOO_NEW;
            verdict.ptx = best->ptx_version;
            verdict.from = later(known, takes);
        }
    }
    if (verdict.answer != GPU_NO_CODE && release > 0 && release < known)
        verdict.answer = GPU_NOT_KNOWN;
    return verdict;
}

/* What a fatbin is for. */
enum use { USE_NONE, USE_ONE_ARCHITECTURE, USE_ANY };

static enum use use_of(const struct fatbin *fatbin)
{
    enum use use = USE_NONE;

    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_code *code = &fatbin->code[i];
        if (code->kind == FATBIN_OTHER || code->empty)
            continue;
        if (code->variant == 0)
            return USE_ANY;
        use = USE_ONE_ARCHITECTURE;
    }
    return use;
}

static void add_verdict(struct gpu_verdict *worst, struct gpu_verdict one,
                        const struct scan_code *code)
{
    bool cubin = code->fatbin.kernels != 0;
    size_t fatbins = code->text || cubin ? 0 : code->times;
    bool first = worst->judged == 0;
    bool partly = worst->partly || (!first && one.answer != worst->answer);
    int from = later(one.from, worst->from);

    if (first || one.answer > worst->answer)
        worst->answer = one.answer;
    worst->partly = partly;
    worst->from = worst->answer == GPU_NO_CODE ? 0 : from;
    worst->judged++;
    worst->running += one.answer <= GPU_COMPILED;
    worst->cubins += cubin;
    worst->texts += code->text;
    worst->running_texts += code->text && one.answer <= GPU_COMPILED;
    worst->fatbins += fatbins;
    if (one.answer <= GPU_COMPILED || one.answer == GPU_FAMILY)
        worst->running_fatbins += fatbins;
    worst->unsure += one.answer == GPU_FAMILY;
    worst->ptx = later(worst->ptx, one.ptx);
}

struct gpu_verdict scan_gpu(const struct scan_file *file, int capability, int release)
{
    struct gpu_verdict worst = {0};

    for (int pass = USE_ANY; pass > USE_NONE && worst.running == worst.judged; pass--) {
        bool any = worst.judged > 0;
        for (size_t i = 0; i < file->code_count; i++) {
            const struct fatbin *fatbin = &file->code[i].fatbin;
            struct gpu_verdict one = of_fatbin(fatbin, capability, release);
            if ((int)use_of(fatbin) == pass && !(any && one.answer > GPU_COMPILED))
                add_verdict(&worst, one, &file->code[i]);
        }
    }
    return worst;
}

bool scan_gpu_is_little(size_t running, size_t fatbins)
{
    return fatbins >= MANY && running < fatbins / SHARE;
}

const char *scan_gpu_name(const struct scan_file *file, enum gpu_answer answer)
{
    static const char *const names[] = {"runs", "compiled", "222", "family", "209", "unknown"};

    return answer == GPU_NO_CODE && strcmp(file->format, SCAN_PTX) == 0 ? "218" : names[answer];
}

int scan_gpu_next(int capability)
{
    while (++capability < 200) {
        if (facts_capability_release(capability) > 0)
            return capability;
    }
    return 0;
}
