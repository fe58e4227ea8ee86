/* SPDX-License-Identifier: MIT */
/* Runs the sequences, each in a child, and prints what they recorded, sorted by name. */
#include "conform.h"

#include <poll.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 180, MOST_JOBS = 64 };

struct job {
    char name[96];
    const struct sequence *sequence;
    char *text;
    size_t length;
    size_t room;
};

struct running {
    struct job *job;
    pid_t pid;
    int pipe;
    time_t started;
};

static const struct family *const families[] = {
    &array_family,
    &box_family,
    &capture_family,
    &context_family,
    &copy_family,
    &device_family,
    &edge_family,
    &event_family,
    &function_family,
    &graph_family,
    &graph_exec_family,
    &green_family,
    &host_family,
    &init_family,
    &launch_family,
    &library_family,
    &memory_family,
    &module_family,
    &pointer_family,
    &pool_family,
    &primary_family,
    &sticky_family,
    &stream_family,
    &texture_family,
    &virtual_family,
    &share_memory_family,
    &share_event_family,
    &share_pool_family,
    &share_virtual_family,
    &conditional_family,
    &told_family,
    &tensor_family,
    &tensor_copy_family,
    &tensor_tile_family,
    &tensor_im2col_family,
    &tensor_interleave_family,
    &tensor_slice_family,
    &tensor_wide_family,
    &asked_family,
    &share_range_family,
    &coredump_family,
    &external_family,
    &graph_node_family,
    &mipmap_family,
    &prefetch_family,
    &reference_family,
    NULL,
};

static const char *library;

static _Noreturn void child(const struct job *job, int out);

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static void keep(struct job *job, const char *bytes, size_t count)
{
    if (job->length + count + 1 > job->room) {
        job->room = 2 * (job->length + count + 1);
        job->text = realloc(job->text, job->room);
        if (!job->text)
            abort();
    }
    memcpy(job->text + job->length, bytes, count);
    job->length += count;
    job->text[job->length] = '\0';
}

static bool start(struct running *slot, struct job *job)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        return false;
    if (pid == 0) {
        close(ends[0]);
        child(job, ends[1]);
    }
    close(ends[1]);
    *slot = (struct running){.job = job, .pid = pid, .pipe = ends[0], .started = now()};
    return true;
}

/* The child is done, or took too long: its last line says how it ended where that was not well. */
static void finish(struct running *slot, bool late)
{
    int status;
    char end[32] = "";
    if (late)
        kill(slot->pid, SIGKILL);
    waitpid(slot->pid, &status, 0);
    if (late)
        snprintf(end, sizeof end, " timeout");
    else if (WIFSIGNALED(status))
        snprintf(end, sizeof end, " signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(end, sizeof end, " exit %d", WEXITSTATUS(status));
    keep(slot->job, end, strlen(end));
    keep(slot->job, "\n", 1);
    close(slot->pipe);
    slot->job = NULL;
}

static void collect(struct running *slots, int count)
{
    struct pollfd waits[MOST_JOBS];
    for (int i = 0; i < count; i++)
        waits[i] = (struct pollfd){.fd = slots[i].job ? slots[i].pipe : -1, .events = POLLIN};
    poll(waits, (nfds_t)count, 1000);
    for (int i = 0; i < count; i++) {
        char bytes[4096];
        if (!slots[i].job)
            continue;
        if (waits[i].revents) {
            ssize_t got = read(slots[i].pipe, bytes, sizeof bytes);
            if (got > 0)
                keep(slots[i].job, bytes, (size_t)got);
            else
                finish(&slots[i], false);
        } else if (now() - slots[i].started > SECONDS) {
            finish(&slots[i], true);
        }
    }
}

static bool run(struct job *jobs, size_t count, int most)
{
    struct running slots[MOST_JOBS] = {{0}};
    size_t next = 0;
    for (;;) {
        bool busy = false;
        for (int i = 0; i < most; i++) {
            if (!slots[i].job && next < count && !start(&slots[i], &jobs[next++]))
                return false;
            busy = busy || slots[i].job;
        }
        if (!busy)
            return true;
        collect(slots, most);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct job *)a)->name, ((const struct job *)b)->name);
}

static struct job *choose(const char *prefix, size_t *count)
{
    size_t room = 0;
    for (const struct family *const *f = families; *f; f++)
        for (const struct sequence *s = (*f)->sequences; s->name; s++)
            room++;
    struct job *jobs = calloc(room + 1, sizeof *jobs);
    if (!jobs)
        abort();
    *count = 0;
    for (const struct family *const *f = families; *f; f++) {
        for (const struct sequence *s = (*f)->sequences; s->name; s++) {
            struct job *job = &jobs[*count];
            snprintf(job->name, sizeof job->name, "%s/%s", (*f)->name, s->name);
            job->sequence = s;
            if (strncmp(job->name, prefix, strlen(prefix)) == 0)
                ++*count;
        }
    }
    qsort(jobs, *count, sizeof *jobs, by_name);
    return jobs;
}

static int usage(void)
{
    fputs("usage: sim-conformance [--list] [--only PREFIX] [--library PATH] [--jobs N]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *prefix = "";
    int most = 1;
    bool list = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (i + 1 == argc)
            return usage();
        else if (strcmp(argv[i], "--only") == 0)
            prefix = argv[++i];
        else if (strcmp(argv[i], "--library") == 0)
            library = argv[++i];
        else if (strcmp(argv[i], "--jobs") == 0)
            most = atoi(argv[++i]);
        else
            return usage();
    }
    if (most < 1 || most > MOST_JOBS)
        return usage();
    size_t count;
    struct job *jobs = choose(prefix, &count);
    bool good = list || run(jobs, count, most);
    for (size_t i = 0; i < count; i++) {
        if (list)
            puts(jobs[i].name);
        else if (jobs[i].text)
            fputs(jobs[i].text, stdout);
        free(jobs[i].text);
    }
    free(jobs);
    return good && count ? 0 : 1;
}

/* What runs in the child. */

const struct cushim_api *cu;
CUdevice dev;
CUcontext ctx;
static const char *current_name;
static int *current_step; /* of all processes of the sequence */
static const char *who = "";
static int output;

static void put(const char *text)
{
    size_t left = strlen(text);
    while (left) {
        ssize_t done = write(output, text, left);
        if (done <= 0)
            _exit(4);
        text += done;
        left -= (size_t)done;
    }
}

/* How the text of a call is broken over lines in the source must not matter. */
static void put_text(const char *text)
{
    char line[1024];
    size_t length = 0;
    for (; *text && length + 1 < sizeof line; text++) {
        if (strncmp(text, "cu->", 4) == 0) {
            text += 3;
            continue;
        }
        if (*text == ' ' && length && line[length - 1] == '(')
            continue;
        line[length++] = *text;
    }
    line[length] = '\0';
    put(line);
}

void conform_who(const char *name)
{
    who = name;
}

void conform_step(const char *format, ...)
{
    char text[1024];
    char head[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(head, sizeof head, "%s%s.%03d %s", *current_step ? "\n" : "", current_name,
             *current_step + 1, who);
    ++*current_step;
    put(head);
    put_text(text);
    put(" =");
}

CUresult conform_result(CUresult code)
{
    char text[16];
    snprintf(text, sizeof text, " %d", (int)code);
    put(text);
    return code;
}

void conform_value(const char *format, ...)
{
    char text[512] = " ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 1, sizeof text - 1, format, arguments);
    va_end(arguments);
    put(text);
}

void conform_must(const char *text, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return;
    conform_step("%s", text);
    conform_result(code);
    conform_value("(needed by what follows)");
    _exit(3);
}

static _Noreturn void child(const struct job *job, int out)
{
    struct cushim_options options = {.size = sizeof options, .path = library};
    output = out;
    current_step =
        mmap(NULL, sizeof *current_step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (current_step == MAP_FAILED)
        _exit(4);
    current_name = job->name;
    cu = cushim_load(&options);
    if (cushim_status(cushim_load(NULL)) != CUSHIM_OK) {
        conform_step("load");
        conform_value("%s", cushim_message(cushim_load(NULL)));
        _exit(3);
    }
    if (job->sequence->need >= INIT)
        MUST(cu->cuInit(0));
    if (job->sequence->need >= PRIMARY) {
        MUST(cu->cuDevicePrimaryCtxRetain(&ctx, dev));
        MUST(cu->cuCtxSetCurrent(ctx));
    }
    job->sequence->run();
    /* The driver's own clean-up at exit is not what is recorded. */
    _exit(0);
}
