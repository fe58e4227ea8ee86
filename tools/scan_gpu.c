/* SPDX-License-Identifier: MIT */
#include "scan_gpu.h"

#include <cushim/compat.h>

/* Machine code runs on its own architecture and on later ones of the same major number. */
static bool cubin_fits(const struct fatbin_code *code, int capability)
{
    return code->kind == FATBIN_CUBIN && code->architecture / 10 == capability / 10 &&
           code->architecture <= capability;
}

/* PTX is compiled for its own architecture and later ones; that of sm_90a for no other, that of
 * sm_100f for those of its major number. */
static bool ptx_fits(const struct fatbin_code *code, int capability)
{
    if (code->kind != FATBIN_PTX || code->architecture > capability)
        return false;
    if (code->variant == 'a')
        return code->architecture == capability;
    return code->variant != 'f' || code->architecture / 10 == capability / 10;
}

static struct gpu_verdict of_fatbin(const struct fatbin *fatbin, int capability, int release)
{
    struct gpu_verdict verdict = {GPU_NO_CODE, false, 0};
    const struct fatbin_code *best = NULL;
    int known = cushim_capability_release(capability);

    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_code *code = &fatbin->code[i];
        if (cubin_fits(code, capability)) {
            verdict.answer = GPU_RUNS;
            verdict.from = known;
        }
        if (ptx_fits(code, capability) && (!best || code->architecture >= best->architecture))
            best = code;
    }
    if (verdict.answer != GPU_RUNS && best) {
        verdict.answer = GPU_COMPILED;
        verdict.from = cushim_ptx_release(best->ptx_version);
        if (verdict.from < known)
            verdict.from = known;
        if (release > 0 && release < cushim_ptx_release(best->ptx_version))
            verdict.answer = GPU_TOO_NEW;
    }
    if (verdict.answer != GPU_NO_CODE && release > 0 && release < known)
        verdict.answer = GPU_NOT_KNOWN;
    return verdict;
}

struct gpu_verdict scan_gpu(const struct scan_file *file, int capability, int release)
{
    struct gpu_verdict worst = {GPU_RUNS, false, 0};

    for (size_t i = 0; i < file->code_count; i++) {
        struct gpu_verdict one = of_fatbin(&file->code[i].fatbin, capability, release);
        bool partly = worst.partly || (i > 0 && one.answer != worst.answer);
        int from = one.from > worst.from ? one.from : worst.from;
        if (i == 0 || one.answer > worst.answer)
            worst = one;
        worst.partly = partly;
        worst.from = worst.answer == GPU_NO_CODE ? 0 : from;
    }
    return worst;
}

const char *scan_gpu_name(enum gpu_answer answer)
{
    static const char *const names[] = {"runs", "compiled", "222", "209", "unknown"};

    return names[answer];
}

int scan_gpu_next(int capability)
{
    while (++capability < 200) {
        if (cushim_capability_release(capability) > 0)
            return capability;
    }
    return 0;
}
