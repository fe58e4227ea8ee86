/* SPDX-License-Identifier: MIT */
/* Does with drivers what its arguments say, in their order, and prints what comes of it:
 *
 *     open PATH, global PATH, lazy PATH   the next driver, from 0 on; or the loader's words
 *     linked                              the next driver is what the program finds by itself
 *     version N, devices N, work N, error N, forked N, threads N
 *                                         call driver N
 *     close N, chdir FOLDER, engines, leaks
 *                                         dlclose; how many engines are mapped; what is visible
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, LIMIT = 64 };

/* Also functions of the engine's names, for which it must not take these. */
int sim_begin(void);
int sim_begin(void)
{
    abort();
}
int cushim_sim_attach(void);
int cushim_sim_attach(void)
{
    abort();
}

static void *drivers[LIMIT];
static int count;

static int call(void *driver, const char *name, void *a, void *b)
{
    int (*function)(void *, void *) = (int (*)(void *, void *))(uintptr_t)dlsym(driver, name);
    if (!function) {
        printf("no %s\n", name);
        exit(1);
    }
    return function(a, b);
}

static void open_driver(const char *path, int flags)
{
    void *driver = dlopen(path, flags);
    if (!driver) {
        printf("%s\n", dlerror());
        exit(1);
    }
    drivers[count++] = driver;
}

static int version(void *driver)
{
    int number = 0, rc = call(driver, "cuDriverGetVersion", &number, NULL);
    return rc ? -rc : number;
}

static int fill(void *driver, void *memory, void *stream)
{
    int (*function)(void *, unsigned char, size_t, void *) =
        (int (*)(void *, unsigned char, size_t, void *))(uintptr_t)dlsym(driver, "cuMemsetD8Async");
    return function(memory, 1, 4096, stream);
}

/* A context with a stream that waits for a thread of the driver's. */
static int work(void *driver)
{
    void *context, *stream, *value;
    int rc = call(driver, "cuInit", NULL, NULL);
    rc = rc ? rc : call(driver, "cuDevicePrimaryCtxRetain", &context, NULL);
    rc = rc ? rc : call(driver, "cuCtxSetCurrent", context, NULL);
    rc = rc ? rc : call(driver, "cuStreamCreate", &stream, NULL);
    rc = rc ? rc : call(driver, "cuMemAlloc_v2", &value, (void *)(uintptr_t)4096);
    rc = rc ? rc : fill(driver, value, stream);
    rc = rc ? rc : call(driver, "cuStreamSynchronize", stream, NULL);
    rc = rc ? rc : call(driver, "cuMemFree_v2", value, NULL);
    return rc ? rc : call(driver, "cuStreamDestroy_v2", stream, NULL);
}

static void *ask(void *driver)
{
    return (void *)(intptr_t)version(driver);
}

static void threads(void *driver)
{
    pthread_t ids[THREADS];
    void *first = NULL, *other;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, ask, driver) != 0)
            exit(1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], i == 0 ? &first : &other);
        if (i != 0 && first != other)
            exit(1);
    }
    printf("%d\n", (int)(intptr_t)first);
}

/* How many different files of an engine are mapped: a copy has a mapping of its own. */
static int engines(void)
{
    char line[4500], last[4500] = "";
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strstr(line, " r-xp ");
        if (path && strstr(path, "libcushim-sim-engine") && strcmp(path, last) != 0) {
            found++;
            strcpy(last, path);
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

static void in_child(void *driver)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(version(driver) / 100);
    waitpid(child, &status, 0);
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void devices(void *driver)
{
    int number = -1;
    int rc = call(driver, "cuInit", NULL, NULL);
    rc = rc ? rc : call(driver, "cuDeviceGetCount", &number, NULL);
    printf("%d %d\n", rc, number);
}

static void error_text(void *driver)
{
    const char *text = "untouched";
    int rc = call(driver, "cuGetErrorString", (void *)(uintptr_t)100, &text);
    printf("%d %s\n", rc, text);
}

static void on_driver(const char *what, void *driver)
{
    if (strcmp(what, "version") == 0)
        printf("%d\n", version(driver));
    else if (strcmp(what, "devices") == 0)
        devices(driver);
    else if (strcmp(what, "work") == 0)
        printf("%d\n", work(driver));
    else if (strcmp(what, "error") == 0)
        error_text(driver);
    else if (strcmp(what, "forked") == 0)
        in_child(driver);
    else if (strcmp(what, "threads") == 0)
        threads(driver);
    else if (strcmp(what, "close") == 0)
        printf("%d\n", dlclose(driver));
    else
        exit(2);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(what, "engines") == 0)
            printf("%d\n", engines());
        else if (strcmp(what, "leaks") == 0)
            printf("%d %d\n", !!dlsym(RTLD_DEFAULT, "cuInit"),
                   dlsym(RTLD_DEFAULT, "cushim_sim_attach") !=
                       (void *)(uintptr_t)cushim_sim_attach);
        else if (strcmp(what, "linked") == 0)
            drivers[count++] = RTLD_DEFAULT;
        else if (++i && strcmp(what, "open") == 0)
            open_driver(next, RTLD_NOW | RTLD_LOCAL);
        else if (strcmp(what, "global") == 0)
            open_driver(next, RTLD_NOW | RTLD_GLOBAL);
        else if (strcmp(what, "lazy") == 0)
            open_driver(next, RTLD_LAZY | RTLD_LOCAL);
        else if (strcmp(what, "chdir") == 0 && chdir(next) == 0)
            continue;
        else
            on_driver(what, drivers[atoi(next)]);
    }
    return 0;
}
