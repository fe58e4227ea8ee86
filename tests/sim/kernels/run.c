/* SPDX-License-Identifier: MIT */
/* Run the conformance kernels with the driver in use, and record what they give or compare it with
 * what was recorded.
 *
 *     sim-kernels record|compare [-f] FOLDER FILE.ptx...
 *
 * FILE.ptx is NAME.VARIANT.ptx of this folder, or NAME.ptx of kernels/. Recorded are
 * FOLDER/NAME.VARIANT.bin and .txt; compared is with those, or where there is none of the variant's
 * own, with FOLDER/NAME.bin and .txt. -f runs each file in a process of its own, with 60 seconds of
 * time: what a simulator under construction needs.
 *
 * Ends with 1 if anything differs or fails, with 77 where there is no device. */
#define _POSIX_C_SOURCE 200809L /* fork, dup2, fileno */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/context.h>
#include <cushim/cushim.h>
#include <cushim/error.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "harness.h"

const struct cushim_api *cu;
const struct cushim_api *api;

static bool recording;
static const char *folder;

enum { GUARD = 64, SECONDS = 60 };
static const uint32_t guard_word = 0xa5a5a5a5;

void check_call(CUresult code, const char *call, const char *file, int line)
{
    if (code == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s: %s: %s\n", file, line, call, cushim_error_name(code),
            cushim_last_error());
    exit(1);
}

void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory) {
        perror("memory");
        exit(1);
    }
    return memory;
}

/* The driver is opened late, after the fork of those that run in a process of their own. */
static void start(void)
{
    CUcontext context;
    int devices = 0;

    if (api)
        return;
    api = cushim_load(NULL);
    cu = cushim_load(NULL);
    if (api->cuInit(0) != CUDA_SUCCESS || api->cuDeviceGetCount(&devices) != CUDA_SUCCESS ||
        devices == 0) {
        printf("no device: %s\n", cushim_message(cu));
        exit(77);
    }
    CALL(cushim_primary_retain(cu, 0, &context));
    CALL(api->cuCtxSetCurrent(context));
}

/* ---- text that a kernel writes ---- */

struct capture {
    FILE *file;
    int saved[2];
};

static void capture_begin(struct capture *capture)
{
    fflush(stdout);
    capture->file = tmpfile();
    if (!capture->file) {
        perror("tmpfile");
        exit(1);
    }
    for (int i = 0; i < 2; i++) {
        capture->saved[i] = dup(i + 1);
        dup2(fileno(capture->file), i + 1);
    }
}

static char *capture_end(struct capture *capture)
{
    char *text;
    long bytes;

    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(capture->saved[i], i + 1);
        close(capture->saved[i]);
    }
    fseek(capture->file, 0, SEEK_END);
    bytes = ftell(capture->file);
    rewind(capture->file);
    text = allocate((size_t)bytes + 64);
    if (fread(text, 1, (size_t)bytes, capture->file) != (size_t)bytes)
        exit(1);
    fclose(capture->file);
    return text;
}

/* ---- one kernel ---- */

static CUmodule load(const char *path)
{
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NULL;

    if (cushim_module_load_file(cu, path, NULL, &result, &module) != CUDA_SUCCESS) {
        fprintf(stderr, "%s: %s\n%s\n", path, cushim_last_error(), result.error_log);
        exit(1);
    }
    cushim_jit_result_release(&result);
    return module;
}

static CUresult launch(const struct kernel *kernel, CUmodule module, CUdeviceptr in,
                       CUdeviceptr out)
{
    struct cushim_launch how = {
        .size = sizeof how, .shared = kernel->shared, .cooperative = kernel->kind == COOPERATIVE};
    unsigned n = kernel->n;
    CUfunction function;
    CUresult code;

    memcpy(how.grid, kernel->grid, sizeof how.grid);
    memcpy(how.block, kernel->block, sizeof how.block);
    CALL(cushim_module_function(cu, module, kernel->name, &function));
    code = CUSHIM_LAUNCH(cu, function, &how, in, out, n);
    return code == CUDA_SUCCESS ? api->cuCtxSynchronize() : code;
}

static void check_guard(const struct kernel *kernel, CUdeviceptr out, size_t bytes)
{
    uint32_t words[GUARD];

    CALL(cushim_copy_to_host(cu, words, out + bytes, sizeof words));
    for (int i = 0; i < GUARD; i++)
        if (words[i] != guard_word) {
            printf("%s: writes behind its output\n", kernel->name);
            exit(1);
        }
}

/* Run one file's kernel; returns its text, or NULL where it writes none. */
static char *run_kernel(const struct kernel *kernel, const char *path, uint32_t *words,
                        struct result *result)
{
    const size_t bytes = sizeof(uint32_t) * kernel->sections * kernel->n;
    const bool speaks = kernel->kind == PRINT || kernel->kind == FAIL;
    CUmodule module = load(path);
    CUdeviceptr in, out;
    struct capture capture = {0};
    char *text = NULL;
    CUresult code;

    fill_input(kernel, words);
    if (kernel->kind == TEXTURES || kernel->kind == SURFACES)
        make_objects(kernel, words);
    CALL(cushim_memory_alloc(cu, 8 * kernel->n * sizeof *words, &in));
    CALL(cushim_memory_alloc(cu, bytes + GUARD * sizeof *words, &out));
    CALL(cushim_copy_to_device(cu, in, words, 8 * kernel->n * sizeof *words));
    CALL(api->cuMemsetD8_v2(out, 0, bytes));
    CALL(api->cuMemsetD32_v2(out + bytes, guard_word, GUARD));
    if (speaks)
        capture_begin(&capture);
    code = launch(kernel, module, in, out);
    if (speaks)
        text = capture_end(&capture);
    if (code != kernel->code) {
        fprintf(stderr, "%s: %s, expected %s: %s\n", path, cushim_error_name(code),
                cushim_error_name(kernel->code), cushim_last_error());
        exit(1);
    }
    if (code != CUDA_SUCCESS)
        return text; /* the context is of no use any more */
    result->count = bytes / sizeof *words;
    result->words = allocate(bytes);
    CALL(cushim_copy_to_host(cu, result->words, out, bytes));
    check_guard(kernel, out, bytes);
    destroy_objects(kernel);
    CALL(cushim_memory_free(cu, in));
    CALL(cushim_memory_free(cu, out));
    CALL(cushim_module_unload(cu, module));
    return text;
}

/* ---- files ---- */

static void write_file(const char *name, const char *suffix, const void *data, size_t bytes)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
    file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* What was recorded: the variant's own, else the kernel's. NULL where there is nothing. */
static void *read_file(const char *full, const char *name, const char *suffix, size_t *bytes)
{
    const char *names[] = {full, name};
    char path[4096];

    for (int i = 0; i < 2; i++) {
        FILE *file;
        char *data;

        snprintf(path, sizeof path, "%s/%s.%s", folder, names[i], suffix);
        file = fopen(path, "rb");
        if (!file)
            continue;
        data = allocate(1 << 20);
        *bytes = fread(data, 1, (1 << 20) - 1, file);
        fclose(file);
        return data;
    }
    return NULL;
}

static bool same_text(const char *full, const char *name, const char *text)
{
    size_t bytes = 0;
    char *expected = read_file(full, name, "txt", &bytes);
    bool same = expected && bytes == strlen(text) && memcmp(expected, text, bytes) == 0;

    if (!same)
        printf("%s: expected the text\n%s\ngot\n%s\n", full,
               expected ? expected : "(none recorded)", text);
    free(expected);
    return same;
}

/* Print the first differing words. */
static unsigned compare_exact(const struct kernel *kernel, const uint32_t *expected,
                              const struct result *got)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < got->count; i++) {
        if (expected[i] == got->words[i] || wrong++ >= 4)
            continue;
        printf("  word %zu", i);
        if (kernel)
            printf(" (section %zu, element %zu)", i / kernel->n, i % kernel->n);
        printf(": expected 0x%08x, got 0x%08x\n", expected[i], got->words[i]);
    }
    return wrong;
}

static bool same_words(const char *full, const char *name, const struct kernel *kernel,
                       const uint32_t *in, const struct result *got)
{
    size_t bytes = 0;
    uint32_t *expected = read_file(full, name, "bin", &bytes);
    unsigned wrong;

    if (!expected || bytes != got->count * sizeof *expected) {
        printf("%s: nothing of this size was recorded\n", full);
        free(expected);
        return false;
    }
    wrong = kernel && kernel->bounds ? compare_bounds(kernel, in, expected, got->words)
                                     : compare_exact(kernel, expected, got);
    if (wrong)
        printf("%s: %u of %zu words differ\n", full, wrong, got->count);
    free(expected);
    return wrong == 0;
}

static bool settle(const char *full, const char *name, const struct kernel *kernel,
                   const uint32_t *in, const char *text, const struct result *got)
{
    bool good = true;

    if (recording) {
        if (text)
            write_file(full, "txt", text, strlen(text));
        if (got->words)
            write_file(full, "bin", got->words, got->count * sizeof *got->words);
        /* What a real device gives must be as near as we ask of a simulated one. */
        return !kernel || !kernel->bounds ||
               compare_bounds(kernel, in, got->words, got->words) == 0;
    }
    if (text)
        good = same_text(full, name, text);
    if (got->words)
        good = same_words(full, name, kernel, in, got) && good;
    return good;
}

/* Run one file and record or compare. */
static bool run_file(const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char full[256], name[256], *text = NULL;
    const struct kernel *kernel;
    struct result result = {NULL, 0};
    uint32_t *in = NULL;
    bool good;

    snprintf(full, sizeof full, "%s", base);
    if (strlen(full) > 4)
        full[strlen(full) - 4] = '\0'; /* ".ptx" */
    snprintf(name, sizeof name, "%s", full);
    name[strcspn(name, ".")] = '\0';
    kernel = find_kernel(name);
    start();
    if (kernel) {
        in = allocate(8 * kernel->n * sizeof *in);
        text = run_kernel(kernel, path, in, &result);
    } else if (!run_folder_kernel(name, path, &result)) {
        printf("%s: no such kernel\n", path);
        return false;
    }
    good = settle(full, name, kernel, in, text, &result);
    free(in);
    free(text);
    free(result.words);
    return good;
}

static bool run_apart(const char *path)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(SECONDS);
        exit(run_file(path) ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        printf("%s: ended by signal %d\n", path, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        exit(77);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool fails(const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char name[256];
    const struct kernel *kernel;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    kernel = find_kernel(name);
    return kernel && kernel->kind == FAIL;
}

int main(int argc, char **argv)
{
    bool apart = false;
    int first = 2, wrong = 0;

    if (argc > 2 && strcmp(argv[2], "-f") == 0) {
        apart = true;
        first = 3;
    }
    if (argc < first + 2 || (strcmp(argv[1], "record") != 0 && strcmp(argv[1], "compare") != 0)) {
        fprintf(stderr, "usage: %s record|compare [-f] FOLDER FILE.ptx...\n", argv[0]);
        return 2;
    }
    recording = strcmp(argv[1], "record") == 0;
    folder = argv[first++];
    /* A failed context is of no use: those that fail go first, each in its own process. */
    for (int pass = 0; pass < 2; pass++)
        for (int i = first; i < argc; i++) {
            bool own = apart || fails(argv[i]);

            if (own != (pass == 0))
                continue;
            if (!(own ? run_apart(argv[i]) : run_file(argv[i]))) {
                printf("%s: wrong\n", argv[i]);
                wrong++;
            }
        }
    printf("%d of %d files %s\n", argc - first - wrong, argc - first,
           recording ? "recorded" : "as recorded");
    return wrong != 0;
}
