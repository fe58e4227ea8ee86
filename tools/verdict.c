/* SPDX-License-Identifier: MIT */
/*
 * The rules, each in a function that leaves the verdict alone where it does not apply. They go from
 * the worst answer to the best, so that the first that applies decides.
 */
#include "verdict.h"

#include "facts.h"
#include "known.h"
#include "names.h"
#include "scan_gpu.h"

#include <cushim/compat.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    NO_DEVICE = 100,
    RUNTIME_REFUSES = 35,
    NO_BINARY = 209,
    PTX_REFUSED = 218,
    PTX_TOO_NEW = 222
};

struct question {
    const struct scan_file *file;
    const struct subject *driver; /* may be NULL */
    int capability;               /* may be 0 */
};

const char *verdict_name(enum verdict_answer answer)
{
    static const char *const names[] = {"runs", "limits", "unknown", "fails"};

    return names[answer];
}

__attribute__((format(printf, 5, 6))) static bool answer(struct verdict *verdict,
                                                         enum verdict_answer answer, int code,
                                                         const char *rule, const char *format, ...)
{
    va_list values;

    verdict->answer = answer;
    verdict->code = code;
    verdict->rule = rule;
    va_start(values, format);
    vsnprintf(verdict->reason, sizeof verdict->reason, format, values);
    va_end(values);
    return true;
}

__attribute__((format(printf, 2, 3))) static void fix(struct verdict *verdict, const char *format,
                                                      ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(verdict->fix, sizeof verdict->fix, format, values);
    va_end(values);
}

/* "a driver of CUDA 12.0 or later (branch 525)" */
static const char *driver_from(char text[VERDICT_TEXT_SIZE], int release)
{
    char version[VERSION_TEXT_SIZE], branch[32] = "";

    if (facts_release_branch(release) > 0)
        snprintf(branch, sizeof branch, " (branch %d)", facts_release_branch(release));
    snprintf(text, VERDICT_TEXT_SIZE, "a driver of CUDA %s or later%s",
             version_text(version, release), branch);
    return text;
}

/* ---- entries */

/* How many of the entries of a kind a driver lacks; the first of them, and the newest release. */
static size_t count_missing(const struct question *question,
                            bool (*wanted)(const struct scan_file *file, size_t index),
                            size_t *first, int *release)
{
    size_t count = 0;

    *release = 0;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (!wanted(question->file, i) || verdict_driver_has(question->file, question->driver, i))
            continue;
        if (count++ == 0)
            *first = i;
        if (known_entry(i).since > *release)
            *release = known_entry(i).since;
    }
    return count;
}

/* " and 3 more" */
static const char *more_text(char text[48], size_t count)
{
    text[0] = '\0';
    if (count > 1)
        snprintf(text, 48, " and %zu more", count - 1);
    return text;
}

static bool required_entry(const struct question *question, struct verdict *verdict)
{
    char from[VERDICT_TEXT_SIZE], more[48];
    size_t count, first = 0;
    int release;

    count = question->driver ? count_missing(question, verdict_requires, &first, &release) : 0;
    if (count == 0 || question->driver->newer)
        return false;
    verdict->needs = release;
    fix(verdict, "%s", driver_from(from, release));
    if (question->file->object)
        return answer(verdict, VERDICT_UNKNOWN, 0, "object-entry",
                      "the object calls %s%s, which the driver lacks: linked with -lcuda the "
                      "program does not start, with cushim's drop-in the call returns an error",
                      known_entry(first).symbol, more_text(more, count));
    return answer(verdict, VERDICT_FAILS, 0, "required-entry",
                  "undefined symbol: %s%s: the program is linked to what the driver lacks",
                  known_entry(first).symbol, more_text(more, count));
}

static bool called_entry(const struct question *question, struct verdict *verdict)
{
    char from[VERDICT_TEXT_SIZE], more[48];
    size_t count, first = 0;
    int release;

    count = question->driver ? count_missing(question, verdict_calls, &first, &release) : 0;
    if (count == 0 || question->driver->newer)
        return false;
    verdict->needs = release;
    fix(verdict, "%s", driver_from(from, release));
    return answer(verdict, VERDICT_UNKNOWN, 0, "called-entry",
                  "the program starts without %s%s, which the driver lacks, and ends with "
                  "\"undefined symbol\" when it calls it; whether it does is not known",
                  known_entry(first).symbol, more_text(more, count));
}

static bool unknown_entry(const struct question *question, struct verdict *verdict)
{
    const struct scan_file *file = question->file;
    const struct subject *driver = question->driver;

    for (size_t i = 0; driver && i < file->unknown_count; i++) {
        bool there = false;
        for (size_t k = 0; k < driver->unknown_count; k++)
            there |= strcmp(driver->unknown[k], file->unknown[i]) == 0;
        if (there)
            continue;
        if (driver->path && !file->lazy && !file->object)
            return answer(verdict, VERDICT_FAILS, 0, "required-entry",
                          "undefined symbol: %s: the driver's library does not export it",
                          file->unknown[i]);
        return answer(verdict, VERDICT_UNKNOWN, 0, "unknown-entry",
                      "the program is linked to %s, which this build does not know",
                      file->unknown[i]);
    }
    return false;
}

static bool named_entry(const struct question *question, struct verdict *verdict)
{
    char from[VERDICT_TEXT_SIZE], more[48];
    size_t count, first = 0;
    int release;

    count = question->driver ? count_missing(question, verdict_may_need, &first, &release) : 0;
    if (count == 0)
        return false;
    verdict->needs = release;
    fix(verdict, "for all of them %s", driver_from(from, release));
    return answer(verdict, VERDICT_UNKNOWN, 0, "named-entry",
                  "the program looks up %s%s by name, which the driver lacks; whether it does "
                  "without is not known",
                  known_entry(first).symbol, more_text(more, count));
}

/* Until CUDA 3.2 sizes and addresses had 32 bits. A name that ends a message is no look-up. */
static bool old_abi(const struct question *question, struct verdict *verdict)
{
    const struct scan_file *file = question->file;
    size_t count = 0, old = KNOWN_NONE, later = KNOWN_NONE;
    char more[48];

    if (!question->driver ||
        (file->machine && (strcmp(file->machine, "x86") == 0 || strcmp(file->machine, "arm") == 0)))
        return false;
    for (size_t i = CUSHIM_ENTRY_COUNT; i-- > 0;) {
        size_t found = verdict_later_abi(file, i, 3020);
        if (found == KNOWN_NONE || file->how[i] & SCAN_MENTIONED)
            continue;
        count++;
        old = i;
        later = found;
    }
    if (count == 0)
        return false;
    fix(verdict, "look up %s", known_entry(later).symbol);
    return answer(
        verdict, VERDICT_LIMITS, 0, "old-abi",
        "the program looks up %s%s, whose sizes and addresses have 32 bits; headers since "
        "CUDA 3.2 mean %s",
        known_entry(old).symbol, more_text(more, count), known_entry(later).symbol);
}

static bool optional_entry(const struct question *question, struct verdict *verdict)
{
    char from[VERDICT_TEXT_SIZE], more[48];
    size_t count, first = 0;
    int release;

    count = question->driver ? count_missing(question, verdict_may_use, &first, &release) : 0;
    if (count == 0)
        return false;
    verdict->needs = release;
    fix(verdict, "for all of them %s", driver_from(from, release));
    return answer(verdict, VERDICT_LIMITS, 0, "optional-entry",
                  "the driver lacks %s%s, which the program asks for one by one or links weakly: "
                  "what uses them does not work",
                  known_entry(first).symbol, more_text(more, count));
}

/* Names in messages alone: a file that wraps others, such as a module of Python's, calls what they
 * find. */
static bool mentioned_alone(const struct question *question, struct verdict *verdict)
{
    const struct scan_file *file = question->file;
    unsigned how = 0;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        how |= file->how[i];
    if (how != SCAN_MENTIONED || file->code_count > 0 || file->unknown_count > 0 || file->cushim ||
        file->loads || file->links || file->runtime.inside || file->runtime.library[0])
        return false;
    return answer(verdict, VERDICT_UNKNOWN, 0, "mentioned-alone",
                  "entries are mentioned, and neither linked nor looked up here: what calls them "
                  "is elsewhere");
}

void verdict_run(char text[VERDICT_TEXT_SIZE], const struct scan_file *file)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+";
    const char *name = file->name;

    if (!name || name[strspn(name, plain)] != '\0' || strlen(name) > VERDICT_TEXT_SIZE / 2 ||
        strstr(name, ".so") || strstr(name, ".whl") || file->object)
        name = "PROGRAM";
    snprintf(text, VERDICT_TEXT_SIZE, "cushim matrix -- %s%s",
             strchr(name, '/') || strcmp(name, "PROGRAM") == 0 ? "" : "./", name);
}

/* Calls through cushim leave no trace in the file: nothing tells that a driver has what they take.
 * One that has every entry lacks none of them. */
static bool through_cushim(const struct question *question, struct verdict *verdict)
{
    const struct scan_file *file = question->file;
    size_t lacking = KNOWN_NONE, named = KNOWN_NONE;
    char names[128] = "", run[VERDICT_TEXT_SIZE];

    if (!question->driver || !file->cushim)
        return false;
    for (size_t i = CUSHIM_ENTRY_COUNT; i-- > 0;) {
        if (verdict_driver_has(file, question->driver, i))
            continue;
        lacking = i;
        if (file->how[i] & SCAN_ASKED)
            named = i;
    }
    if (lacking == KNOWN_NONE)
        return false;
    if (named != KNOWN_NONE)
        snprintf(names, sizeof names, "; %s %s, which the driver lacks",
                 file->cushim_library[0] ? "it names" : "it, or cushim in it, names",
                 known_entry(named).symbol);
    verdict_run(run, file);
    fix(verdict, "scan its sources, which show calls and guards, or run it: '%s'", run);
    return answer(verdict, VERDICT_UNKNOWN, 0, "through-cushim",
                  "the program uses cushim, and which entries it calls through it cannot be seen "
                  "in the file%s",
                  names);
}

/* ---- the runtime */

static enum cushim_runs runs_with(const struct question *question, int release)
{
    const struct subject *driver = question->driver;

    if (driver->version[0] == '\0')
        return cushim_release_runs(driver->release, release);
    return question->file->windows ? facts_driver_runs_windows(driver->version, release)
                                   : facts_driver_runs(driver->version, release);
}

static bool runtime_floor(const struct question *question, struct verdict *verdict)
{
    const struct scan_runtime *runtime = &question->file->runtime;
    const char *floor = NULL, *windows = NULL,
               *name = runtime->library[0] ? runtime->library : "the one inside";
    char version[VERSION_TEXT_SIZE], own[VERSION_TEXT_SIZE], from[VERDICT_TEXT_SIZE];
    int family = runtime->release / 1000;

    if (!question->driver || runtime->release == 0 || question->driver->newer)
        return false;
    if (runs_with(question, runtime->release) != CUSHIM_RUNS_NOT)
        return false;
    bool known = facts_family_floor(family, &floor, &windows);
    verdict->needs = known ? family * 1000 : runtime->release;
    if (known && question->file->windows && windows)
        fix(verdict, "Windows driver %s or later", windows);
    else if (known && !question->file->windows)
        fix(verdict, "Linux driver %s or later, or package cuda-compat-%d-* on data center GPUs",
            floor, family);
    else
        fix(verdict, "%s", driver_from(from, runtime->release));
    return answer(verdict, VERDICT_FAILS, RUNTIME_REFUSES, "runtime-floor",
                  "CUDA driver version is insufficient for CUDA runtime version: the runtime (%s) "
                  "is of CUDA %s%s, the driver of %s",
                  name, floor ? version_text(version, family * 1000) : "",
                  floor ? " or later" : version_text(version, runtime->release),
                  version_text(own, question->driver->release));
}

static bool not_read(const struct question *question, struct verdict *verdict)
{
    if (question->file->unread == 0)
        return false;
    fix(verdict, "scan the program that is linked of them");
    return answer(verdict, VERDICT_UNKNOWN, 0, "not-read",
                  "Windows objects (COFF) are not read: %zu here", question->file->unread);
}

static bool runtime_unknown(const struct question *question, struct verdict *verdict)
{
    if (!question->driver || !question->file->runtime.inside || question->file->runtime.release > 0)
        return false;
    return answer(verdict, VERDICT_UNKNOWN, 0, "runtime-unknown",
                  "the CUDA runtime is in the file, and its bytes do not tell of which release it "
                  "is");
}

static bool runtime_later(const struct question *question, struct verdict *verdict)
{
    const struct scan_runtime *runtime = &question->file->runtime;
    char version[VERSION_TEXT_SIZE], own[VERSION_TEXT_SIZE], from[VERDICT_TEXT_SIZE];

    if (!question->driver || runtime->release <= question->driver->release)
        return false;
    verdict->needs = runtime->release;
    fix(verdict, "for all of it %s", driver_from(from, runtime->release));
    return answer(verdict, VERDICT_LIMITS, 0, "minor-version",
                  "the runtime is of CUDA %s or later, the driver of %s: what came in between is "
                  "not there",
                  version_text(version, runtime->release),
                  version_text(own, question->driver->release));
}

/* ---- the GPU and the driver */

static bool other_machine(const struct question *question, struct verdict *verdict)
{
    const struct facts_architecture *gpu = facts_architecture(question->capability);
    const char *machine = question->file->machine;

    if (!gpu || !gpu->tegra || !machine || strcmp(machine, "aarch64") == 0 ||
        strcmp(machine, "arm") == 0 || strcmp(machine, "CUDA") == 0)
        return false;
    fix(verdict, "a build for aarch64");
    return answer(verdict, VERDICT_FAILS, 0, "tegra-machine",
                  "exec format error: machines with this GPU are aarch64, and the file is for %s",
                  machine);
}

static bool gpu_dropped(const struct question *question, struct verdict *verdict)
{
    const struct facts_architecture *gpu = facts_architecture(question->capability);

    if (!question->driver || !gpu || gpu->last == 0 || question->driver->branch <= gpu->last)
        return false;
    fix(verdict, "driver branch %d, the last one with %s GPUs", gpu->last, gpu->name);
    return answer(verdict, VERDICT_FAILS, NO_DEVICE, "gpu-dropped",
                  "no CUDA-capable device is detected: drivers after branch %d do not have %s GPUs",
                  gpu->last, gpu->name);
}

static bool gpu_later(const struct question *question, struct verdict *verdict)
{
    const struct facts_architecture *gpu = facts_architecture(question->capability);
    int known = facts_capability_release(question->capability);
    char from[VERDICT_TEXT_SIZE], version[VERSION_TEXT_SIZE];

    if (question->capability == 0)
        return false;
    if (known == 0)
        return answer(verdict, VERDICT_UNKNOWN, 0, "gpu-not-known",
                      "this build does not know the compute capability %d.%d",
                      question->capability / 10, question->capability % 10);
    if (!question->driver || question->driver->release >= known)
        return false;
    verdict->needs = known;
    fix(verdict, "%s", driver_from(from, known));
    /* Jetson has drivers of its own, and of a file only the oldest possible release is known. */
    if (!gpu || gpu->tegra || question->driver->path)
        return answer(verdict, VERDICT_UNKNOWN, 0, "gpu-later-perhaps",
                      "the driver may be older than the first one that has this GPU");
    return answer(verdict, VERDICT_FAILS, NO_DEVICE, "gpu-later",
                  "no CUDA-capable device is detected: drivers have %s GPUs of %d.%d from CUDA %s "
                  "on",
                  gpu->name, gpu->capability / 10, gpu->capability % 10,
                  version_text(version, known));
}

static bool driver_newer(const struct question *question, struct verdict *verdict)
{
    if (!question->driver || !question->driver->newer)
        return false;
    return answer(verdict, VERDICT_UNKNOWN, 0, "driver-newer",
                  "the driver is newer than this build knows; what older ones have, it should have "
                  "too, but perhaps not this GPU");
}

/* ---- device code */

/* For any GPU: what fails on all of them fails. */
static bool code_for_any(const struct question *question, struct gpu_verdict *worst)
{
    int release = question->driver ? question->driver->release : 0;
    bool any = false;

    for (int gpu = 49; (gpu = scan_gpu_next(gpu)) != 0;) {
        const struct facts_architecture *known = facts_architecture(gpu);
        struct gpu_verdict one = scan_gpu(question->file, gpu, release);
        if ((known && (known->tegra || (known->last > 0 && question->driver &&
                                        question->driver->branch > known->last))) ||
            one.answer == GPU_NOT_KNOWN)
            continue;
        if (one.running > 0)
            return false;
        if (!any || one.answer < worst->answer)
            *worst = one;
        any = true;
    }
    return any;
}

/* Why PTX does not run, with what to do: it is newer than the driver, or for another GPU. */
static const char *ptx_reason(char text[VERDICT_TEXT_SIZE], const struct question *question,
                              const struct gpu_verdict *code, struct verdict *verdict)
{
    int release = question->driver ? question->driver->release : 0;
    char from[VERDICT_TEXT_SIZE], version[VERSION_TEXT_SIZE];

    if (code->answer != GPU_TOO_NEW) {
        if (question->capability > 0)
            fix(verdict, "PTX for sm_%d or earlier", question->capability);
        return "its .target is no such GPU's";
    }
    verdict->needs = facts_ptx_release(code->ptx);
    fix(verdict, "%s, machine code for the GPU, or PTX of an older toolkit",
        driver_from(from, facts_ptx_release(code->ptx)));
    snprintf(text, VERDICT_TEXT_SIZE,
             "it is PTX %d.%d, and the driver of CUDA %s takes it up to %d.%d", code->ptx / 10,
             code->ptx % 10, version_text(version, release), facts_release_ptx(release) / 10,
             facts_release_ptx(release) % 10);
    return text;
}

static bool device_code(const struct question *question, struct verdict *verdict)
{
    int gpu = question->capability;
    int release = question->driver ? question->driver->release : 0;
    struct gpu_verdict code;
    char from[VERDICT_TEXT_SIZE], text[VERDICT_TEXT_SIZE];
    const bool ptx = strcmp(question->file->format, SCAN_PTX) == 0;

    if (question->file->code_count == 0 || (gpu > 0 && facts_capability_release(gpu) == 0))
        return false;
    if (gpu == 0) {
        if (!code_for_any(question, &code))
            return false;
    } else {
        code = scan_gpu(question->file, gpu, release);
    }
    /* Where the driver is older than the GPU, that is the verdict. */
    if (code.judged == 0 || code.answer <= GPU_COMPILED || code.answer == GPU_NOT_KNOWN)
        return false;
    if (code.running > 0 && scan_gpu_is_little(code.running_fatbins, code.fatbins)) {
        if (gpu > 0)
            fix(verdict, "compile for sm_%d, or add PTX", gpu);
        return answer(verdict, VERDICT_FAILS, NO_BINARY, "little-code",
                      "no kernel image is available for execution on the device: of %zu fatbins "
                      "%zu have code that runs here",
                      code.fatbins, code.running_fatbins);
    }
    if (code.running > 0 && code.texts < code.judged && code.running == code.running_texts &&
        code.unsure == 0)
        return answer(verdict, VERDICT_UNKNOWN, 0, "text-alone",
                      "no %s has code that runs here, and PTX as text has; which of them the "
                      "program uses is not known",
                      code.cubins == 0 ? "fatbin" : "fatbin and no cubin");
    if (code.running > 0) {
        const char *kinds = code.texts == code.judged    ? "PTX texts"
                            : code.cubins == code.judged ? "cubins"
                            : code.cubins > 0            ? "fatbins, cubins and PTX texts"
                            : code.texts > 0             ? "fatbins and PTX texts"
                                                         : "fatbins";
        fix(verdict, "code for this GPU in all parts, if they are needed");
        return answer(verdict, VERDICT_LIMITS, 0, "some-code",
                      "%zu of %zu %s have no code that runs here; a kernel of these fails, if the "
                      "program has no other",
                      code.judged - code.running, code.judged, kinds);
    }
    if (code.unsure > 0) {
        if (code.from > 0)
            fix(verdict, "%s", driver_from(from, code.from));
        return answer(verdict, VERDICT_UNKNOWN, 0, "later-family",
                      "the machine code is of a later family of toolkits than the driver's, which "
                      "NVIDIA does not support");
    }
    if (code.texts == code.judged && !ptx)
        return answer(verdict, VERDICT_UNKNOWN, 0, "text-alone",
                      "the PTX that the program has as text does not run here: %.120s; whether the "
                      "program loads it is not known",
                      ptx_reason(text, question, &code, verdict));
    if (code.answer == GPU_TOO_NEW)
        return answer(verdict, VERDICT_FAILS, PTX_TOO_NEW, "ptx-too-new",
                      "the provided PTX was compiled with an unsupported toolchain: %.120s",
                      ptx_reason(text, question, &code, verdict));
    if (ptx)
        return answer(verdict, VERDICT_FAILS, PTX_REFUSED, "no-code",
                      "a PTX JIT compilation failed: %.120s",
                      ptx_reason(text, question, &code, verdict));
    if (gpu > 0)
        fix(verdict, "compile for sm_%d, or add PTX", gpu);
    return answer(verdict, VERDICT_FAILS, NO_BINARY, "no-code",
                  "no kernel image is available for execution on the device: neither machine code "
                  "for it nor PTX");
}

bool verdict_is_of_code(const struct verdict *verdict)
{
    return verdict->code == NO_BINARY || verdict->code == PTX_REFUSED ||
           verdict->code == PTX_TOO_NEW;
}

struct verdict verdict_of(const struct scan_file *file, const struct subject *driver,
                          int capability)
{
    static bool (*const rules[])(const struct question *, struct verdict *) = {
        other_machine,   required_entry, runtime_floor,   gpu_dropped,    gpu_later,    device_code,
        unknown_entry,   driver_newer,   runtime_unknown, not_read,       called_entry, named_entry,
        mentioned_alone, through_cushim, runtime_later,   optional_entry, old_abi,
    };
    enum { RULES = sizeof rules / sizeof rules[0] };
    struct question question = {file, driver, capability};
    struct verdict applied[RULES + 1] = {{.rule = "runs", .rank = RULES}}, worst;
    size_t count = 1;

    snprintf(applied[0].reason, sizeof applied[0].reason,
             "nothing is known that stands against it");
    for (int i = 0; i < RULES; i++) {
        applied[count] = (struct verdict){.rank = i};
        count += rules[i](&question, &applied[count]);
    }
    verdict_worst(applied, count, &worst);
    if (capability > 0) {
        struct gpu_verdict code = scan_gpu(file, capability, driver ? driver->release : 0);
        worst.fatbins = code.fatbins;
        worst.running = code.running_fatbins;
    }
    return worst;
}
