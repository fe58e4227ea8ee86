/* SPDX-License-Identifier: MIT */
/* Images of up to 1 MB, made of pieces of real ones, and a process that may have little memory: too
 * little of it is a refusal, never a crash. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module/module.h"
#include "ptx/lower/lower.h"

enum { MOST_FILES = 1024, MOST_BYTES = 1 << 20, STUCK_SECONDS = 60 };

static struct {
    char *data;
    size_t size;
} files[MOST_FILES];
static size_t file_count;
static uint64_t state;

static uint64_t next(void) /* splitmix64 */
{
    uint64_t value = (state += 0x9e3779b97f4a7c15u);
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static size_t below(size_t limit)
{
    return limit ? next() % limit : 0;
}

static void read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = file ? malloc(MOST_BYTES) : NULL;
    size_t size = data ? fread(data, 1, MOST_BYTES, file) : 0;
    if (size > 0 && file_count < MOST_FILES) {
        files[file_count].data = data;
        files[file_count++].size = size;
    } else {
        free(data);
    }
    if (file)
        fclose(file);
}

static void read_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_REG)
            read_file(name);
    }
    if (folder)
        closedir(folder);
}

/* A kernel of the input again and again, under other names: a large module that is good. */
static size_t repeat_kernel(char *input, size_t size, size_t wanted)
{
    char *start = memmem(input, size, ".visible .entry ", 16);
    char *name_end = start ? memchr(start, '(', size - (size_t)(start - input)) : NULL;
    char *end = name_end ? memmem(name_end, size - (size_t)(name_end - input), "\n}\n", 3) : NULL;
    if (!end)
        return size;
    size_t head = (size_t)(name_end - start), body = (size_t)(end + 3 - name_end);
    size_t made = (size_t)(end + 3 - input); /* what follows it may define something twice */
    for (unsigned number = 0; made + head + body + 16 < wanted; number++) {
        memcpy(input + made, start, head);
        made += head;
        made += (size_t)sprintf(input + made, "_%u", number);
        memcpy(input + made, name_end, body);
        made += body;
    }
    return made;
}

/* A file, then the same piece of one again and again, or pieces of several; some bytes are wrong.
 */
static size_t make(char *input)
{
    size_t first = below(file_count), size = files[first].size, wanted = below(MOST_BYTES);
    memcpy(input, files[first].data, size);
    size_t source = first, at = below(size), length = 1 + below(size - at);
    bool same = below(2) == 0;
    if (below(2)) /* and most of these stay good */
        return repeat_kernel(input, size, wanted);
    while (size < wanted) {
        if (!same) {
            source = below(4) ? first : below(file_count);
            at = below(files[source].size);
            length = 1 + below(files[source].size - at);
        }
        size_t room = (size_t)MOST_BYTES - size;
        memcpy(input + size, files[source].data + at, length < room ? length : room);
        size += length < room ? length : room;
    }
    for (size_t wrong = below(3); wrong > 0; wrong--)
        input[below(size)] = (char)next();
    return size;
}

static void limit_memory(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu", &pages) != 1)
        _exit(2);
    fclose(file);
    rlim_t most = pages * (size_t)sysconf(_SC_PAGESIZE) + ((size_t)1 << (20 + below(9)));
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

/* In a process of its own. */
static void use(const char *input, size_t size)
{
    struct ptx_options options = {.version = 901, .architecture = 120};
    struct ptx_source source = {.name = "input", .text = input, .size = size};
    struct ptx_text errors = {0}, info = {0};
    struct ptx_module *module = NULL;
    struct sim_image image;
    limit_memory();
    enum ptx_status status = ptx_compile(&options, &source, 1, &errors, &info, &module);
    if ((status == PTX_OK) != !!module)
        abort();
    if (module)
        ptx_module_release(module);
    if (sim_image_read(input, size, 80, &image, &errors) == CUDA_SUCCESS)
        sim_image_free(&image);
    ptx_text_free(&errors);
    ptx_text_free(&info);
}

static bool survived(uint64_t seed)
{
    static char input[MOST_BYTES + 1];
    int status = 0;
    state = seed << 20;
    size_t size = make(input);
    uint32_t magic;
    memcpy(&magic, input, sizeof magic);
    if (magic == 0x466243b1U) /* a wrapper holds an address, which is believed */
        return true;
    pid_t child = fork();
    if (child == 0) {
        alarm(STUCK_SECONDS);
        use(input, size);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (status != 0)
        printf("seed %llu, %zu bytes: status 0x%x\n", (unsigned long long)seed, size,
               (unsigned)status);
    return status == 0;
}

int main(int argc, char **argv)
{
    unsigned long long seed = 1, count = 100, found = 0;
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
        *(strcmp(argv[at], "--seed") == 0 ? &seed : &count) = strtoull(argv[at + 1], NULL, 10);
    for (; at < argc; at++)
        read_folder(argv[at]);
    if (file_count == 0) {
        fprintf(stderr, "usage: fuzz_limits [--seed N] [--count N] FOLDER...\n");
        return 2;
    }
    for (unsigned long long i = 0; i < count; i++)
        found += !survived(seed + i);
    printf("%llu inputs from seed %llu, %llu findings\n", count, seed, found);
    return found > 0;
}
