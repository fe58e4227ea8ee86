/* SPDX-License-Identifier: MIT */
/* Libraries, variables, children and files of the tests; the rest of common.h is in common.c. */
#include "common.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 20 };

#ifdef TESTS_COVERAGE
void __gcov_dump(void);
#endif

static char folder[64];

const char *fake_path(const char *name)
{
    static _Thread_local char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/fake_%s.so", CUSHIM_FAKES, name);
    return path;
}

void *exported(const char *path, const char *symbol)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *address = dlsym(handle, symbol);
    struct link_map *map = NULL;
    Dl_info where;
    /* dlsym looks into the library's own dependencies too. */
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    if (address && dladdr(address, &where) && (uintptr_t)where.dli_fbase != map->l_addr)
        return NULL;
    return address;
}

void set_environment(const char *name, const char *value)
{
    int result = value ? setenv(name, value, 1) : unsetenv(name);
    assert_int_equal(result, 0);
}

/* In the child: where its output goes, and an end for every way in which it can go wrong. */
static void become_child(int output)
{
    static const int signals[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
    for (size_t i = 0; i < COUNT(signals); i++)
        signal(signals[i], SIG_DFL); /* cmocka would go on with the parent's next test */
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(output);
    alarm(CHILD_SECONDS);
}

static void read_all(int from, char *output)
{
    size_t length = 0;
    for (;;) {
        char rest[512];
        bool room = length < TEXT_SIZE - 1;
        ssize_t got = room ? read(from, output + length, TEXT_SIZE - 1 - length)
                           : read(from, rest, sizeof rest);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (room)
            length += (size_t)got;
    }
    output[length] = '\0';
}

static int finish_child(pid_t child, int from, char *output)
{
    int status = -1;
    read_all(from, output);
    close(from);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static void assert_succeeded(int status, const char *output)
{
    if (WIFSIGNALED(status))
        fail_msg("child ended by signal %d:\n%s", WTERMSIG(status), output);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("child ended with status %d:\n%s", status, output);
}

static pid_t start_child(int ends[2])
{
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    close(ends[child == 0 ? 0 : 1]);
    if (child == 0)
        become_child(ends[1]);
    return child;
}

int try_in_child(void (*body)(void *), void *argument, char *output)
{
    int ends[2];
    pid_t child = start_child(ends);
    if (child == 0) {
        body(argument);
        fflush(NULL);
#ifdef TESTS_COVERAGE
        __gcov_dump(); /* which _exit leaves out */
#endif
        _exit(0);
    }
    return finish_child(child, ends[0], output);
}

void run_in_child(void (*body)(void *), void *argument, char *output)
{
    char own[TEXT_SIZE];
    output = output ? output : own;
    assert_succeeded(try_in_child(body, argument, output), output);
}

int try_again(const char *program, const char *mode, char *const environment[], char *output)
{
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)mode, NULL};
    int ends[2];
    pid_t child = start_child(ends);
    if (child == 0) {
        execve(program, arguments, environment);
        dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
        _exit(126);
    }
    return finish_child(child, ends[0], output);
}

void run_again(const char *program, const char *mode, char *const environment[], char *output)
{
    char own[TEXT_SIZE];
    output = output ? output : own;
    assert_succeeded(try_again(program, mode, environment, output), output);
}

const char *make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cushim-unit-XXXXXX",
             base && strlen(base) < 32 ? base : "/tmp");
    if (!mkdtemp(folder))
        return NULL;
    chmod(folder, 0755); /* some tests look at it as another user */
    return folder;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void remove_folder(void)
{
    if (folder[0])
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *in_folder(const char *name)
{
    static _Thread_local char paths[4][PATH_SIZE];
    static _Thread_local unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

const char *write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = in_folder(name);
    unlink(path); /* never write into a file that may be mapped */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(size == 0 || fwrite(bytes, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}
