/* SPDX-License-Identifier: MIT */
/* A thin library's moments: loaded, where it looks for the engine in its own folder, and unloaded.
 *
 * All happens while the library is loaded, so that no call has to look whether it did, and neither
 * chdir() nor chroot() comes between. The system's loader calls one constructor at a time. */
#include "thin/thin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define ENGINE "libcushim-sim-engine.so"

void *sim_thin_table[SIM_ENTRY_COUNT];
static void *engine;
static void (*unload)(void);

/* --- Without an engine --- */

static char reason[3 * PATH_MAX];
static atomic_flag said = ATOMIC_FLAG_INIT;

static CUresult refuse(void)
{
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "cushim: simulated driver: %s\n", reason);
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
}

/* cuGetErrorName and cuGetErrorString: callers print the text and look at no code. */
static CUresult refuse_text(CUresult error, const char **text)
{
    (void)error;
    if (text)
        *text = "the simulated driver has no engine";
    return refuse();
}

static void refuse_all(void)
{
    for (size_t i = 0; i < SIM_ENTRY_COUNT; i++)
        sim_thin_table[i] = (void *)(uintptr_t)refuse;
    sim_thin_table[SIM_NUMBER_cuGetErrorName] = (void *)(uintptr_t)refuse_text;
    sim_thin_table[SIM_NUMBER_cuGetErrorString] = (void *)(uintptr_t)refuse_text;
}

/* --- With one --- */

/* The engine's path: in the folder of this library's file, through all symbolic links. */
static bool find(char path[PATH_MAX])
{
    char real[PATH_MAX];
    Dl_info self;
    if (dladdr(sim_thin_table, &self) == 0 || !self.dli_fname || !realpath(self.dli_fname, real)) {
        snprintf(reason, sizeof reason, "its own file is not there any more");
        return false;
    }
    *strrchr(real, '/') = '\0';
    if (snprintf(path, PATH_MAX, "%s/" ENGINE, real) < PATH_MAX)
        return true;
    snprintf(reason, sizeof reason, "the path of its folder %s is too long", real);
    return false;
}

/* Attach to an opened engine, and close it where that fails. */
static enum sim_attached attach(void *handle, const char *path)
{
    static struct sim_thin self = {SIM_ENTRIES_ID, 0, sim_thin_table, sim_thin_address};
    self.version = sim_thin_version;
    if (!handle) {
        const char *words = dlerror();
        snprintf(reason, sizeof reason, "its engine cannot be loaded: %s", words ? words : path);
        return SIM_ATTACH_REFUSED;
    }
    sim_attach *ask = (sim_attach *)dlsym(handle, SIM_ATTACH);
    enum sim_attached attached = ask ? ask(&self, &unload) : SIM_ATTACH_REFUSED;
    if (attached == SIM_ATTACHED) {
        engine = handle;
        return attached;
    }
    snprintf(reason, sizeof reason, "its engine %s is of another build", path);
    (void)dlerror(); /* of a symbol that is not there */
    dlclose(handle);
    return attached;
}

/* The system's loader takes files of one device and inode for one library; a file in memory has
 * its own. */

static bool copy_file(const char *from, int to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t written = in < 0 ? -1 : 1;
    while (written > 0)
        written = sendfile(to, in, NULL, 1 << 30);
    if (in >= 0)
        close(in);
    return written == 0;
}

/* Open a copy of a library, with variables of its own, although the library is open already; NULL:
 * dlerror() says why, if it has words. */
static void *open_copy(const char *path)
{
    char name[4096];
    void *open_already, *handle = NULL;
    int file = memfd_create("libcushim-sim-engine.so", MFD_CLOEXEC);
    if (file < 0 || !copy_file(path, file)) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    /* The loader also takes equal names for one library, and an earlier copy's may be of a
     * descriptor of this number, closed since. */
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    while ((open_already = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) && strlen(name) < 4000) {
        dlclose(open_already);
        memmove(name + 2, name, strlen(name) + 1);
        memcpy(name, "/.", 2);
    }
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    close(file);
    return handle;
}

__attribute__((constructor)) static void load(void)
{
    char path[PATH_MAX];
    enum sim_attached attached = SIM_ATTACH_REFUSED;
    if (find(path))
        attached = attach(dlopen(path, RTLD_NOW | RTLD_LOCAL), path);
    if (attached == SIM_ATTACH_TAKEN)
        attached = attach(open_copy(path), path);
    if (attached != SIM_ATTACHED)
        refuse_all();
}

__attribute__((destructor)) static void end(void)
{
    if (!engine)
        return;
    unload();
    dlclose(engine);
}

__attribute__((visibility("default"))) void *cushim_sim_engine(const char *symbol)
{
    return engine ? dlsym(engine, symbol) : NULL;
}
