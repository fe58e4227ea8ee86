/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include "facts.h"
#include "names.h"

#include <cushim/compat.h>

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LIBRARIES = 32 };

static const char *const library_folders[] = {"/usr/lib/x86_64-linux-gnu",
                                              "/usr/lib/aarch64-linux-gnu",
                                              "/usr/lib64",
                                              "/usr/lib",
                                              "/usr/lib/wsl/lib",
                                              "/usr/lib/x86_64-linux-gnu/nvidia/current",
                                              "/usr/local/nvidia/lib64",
                                              "/run/opengl-driver/lib",
                                              "/usr/local/cuda/compat",
                                              "/opt/cuda/compat"};

/* A driver's library, each file once. */
struct library {
    char path[PATH_MAX]; /* without the root */
    char version[DOCTOR_VERSION_SIZE];
    dev_t device;
    ino_t number;
};

struct libraries {
    struct library item[MOST_LIBRARIES];
    size_t count;
};

/* "550.163.01" of a link to "libcuda.so.550.163.01", or of such a file beside it. */
static void read_version(const char *path, char version[DOCTOR_VERSION_SIZE])
{
    static const char name[] = "libcuda.so.";
    char target[PATH_MAX];
    const char *last, *found;

    version[0] = '\0';
    if (!realpath(path, target))
        return;
    last = strrchr(target, '/');
    found = last ? strstr(last, name) : NULL;
    if (found && strchr(found + sizeof name - 1, '.'))
        snprintf(version, DOCTOR_VERSION_SIZE, "%s", found + sizeof name - 1);
}

static void note_library(struct libraries *libraries, const char *root, const char *folder)
{
    char path[PATH_MAX];
    struct stat facts;

    snprintf(path, sizeof path, "%s%s/libcuda.so.1", root, folder);
    if (libraries->count == MOST_LIBRARIES || stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return;
    for (size_t i = 0; i < libraries->count; i++) {
        if (libraries->item[i].device == facts.st_dev && libraries->item[i].number == facts.st_ino)
            return;
    }
    struct library *item = &libraries->item[libraries->count++];
    item->device = facts.st_dev;
    item->number = facts.st_ino;
    snprintf(item->path, sizeof item->path, "%s/libcuda.so.1", folder);
    read_version(path, item->version);
}

static void check_mismatch(struct doctor *doctor, const struct library *library)
{
    if (library->version[0] == '\0' || doctor->module[0] == '\0' ||
        strcmp(library->version, doctor->module) == 0)
        return;
    if (strstr(library->path, "compat")) {
        doctor_add(doctor, DOCTOR_WARNING, "libraries",
                   "%s is of a cuda-compat package, version %s; the kernel module is %s",
                   library->path, library->version, doctor->module);
        doctor_fix(doctor, "it serves data center GPUs alone: on others take its folder out of "
                           "LD_LIBRARY_PATH");
        return;
    }
    doctor_add(doctor, DOCTOR_ERROR, "libraries",
               "%s is of version %s, and the kernel module of %s: cuInit returns 803",
               library->path, library->version, doctor->module);
    doctor_fix(doctor, "restart the machine after an update; in a container or with a library of "
                       "another package, remove that library");
}

static void check_libraries(struct doctor *doctor)
{
    static struct libraries libraries;
    const char *search = secure_getenv("LD_LIBRARY_PATH");
    char folder[PATH_MAX];

    libraries.count = 0;
    while (search && *search != '\0') {
        size_t length = strcspn(search, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, search);
        if (length > 0)
            note_library(&libraries, doctor->root, folder);
        search += length + (search[length] == ':');
    }
    for (size_t i = 0; i < sizeof library_folders / sizeof library_folders[0]; i++)
        note_library(&libraries, doctor->root, library_folders[i]);
    if (libraries.count == 0) {
        doctor_add(doctor, doctor->root[0] != '\0' ? DOCTOR_ERROR : DOCTOR_WARNING, "libraries",
                   "no usual folder has a libcuda.so.1");
        doctor_fix(doctor, doctor->container
                               ? "start the container with its GPU option, and "
                                 "NVIDIA_DRIVER_CAPABILITIES with compute"
                               : "install NVIDIA's driver; on Debian the package libcuda1");
        return;
    }
    snprintf(doctor->library, sizeof doctor->library, "%s", libraries.item[0].version);
    doctor->release = facts_driver_release(doctor->library);
    for (size_t i = 0; i < libraries.count; i++) {
        const struct library *item = &libraries.item[i];
        doctor_add(doctor, DOCTOR_OK, "libraries", "%s, version %s", item->path,
                   item->version[0] != '\0' ? item->version : "not known");
        check_mismatch(doctor, item);
    }
    for (size_t i = 1; i < libraries.count; i++) {
        if (strcmp(libraries.item[i].version, libraries.item[0].version) == 0)
            continue;
        doctor_add(doctor, DOCTOR_WARNING, "libraries",
                   "two drivers' libraries lie about: %s, and %s, which is found first",
                   libraries.item[i].path, libraries.item[0].path);
        doctor_fix(doctor, "keep the one whose version is the kernel module's");
    }
}

/* The release of a toolkit: of version.json, or of version.txt of old ones. */
static int toolkit_release(const char *folder)
{
    static const struct {
        const char *file, *before;
    } forms[] = {{"version.json", "\"version\" : \""}, {"version.txt", "CUDA Version "}};
    char path[PATH_MAX], text[4096];

    for (size_t i = 0; i < 2; i++) {
        int major, minor;
        snprintf(path, sizeof path, "%s/%s", folder, forms[i].file);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        const char *at = strstr(text, forms[i].before);
        if (at && sscanf(at + strlen(forms[i].before), "%d.%d", &major, &minor) == 2)
            return 1000 * major + 10 * minor;
    }
    return 0;
}

static void check_toolkit(struct doctor *doctor, const char *path)
{
    char own[VERSION_TEXT_SIZE], theirs[VERSION_TEXT_SIZE];
    int release = toolkit_release(path);
    const char *name = path + strlen(doctor->root);

    if (release == 0)
        return;
    version_text(own, release);
    if (doctor->release == 0 || doctor->release >= release) {
        doctor_add(doctor, DOCTOR_OK, "toolkit", "%s, CUDA %s", name, own);
        return;
    }
    version_text(theirs, doctor->release);
    if (facts_driver_runs(doctor->library, release) == CUSHIM_RUNS_LIMITED) {
        doctor_add(doctor, DOCTOR_WARNING, "toolkit",
                   "%s is CUDA %s, and the driver %s: PTX that it makes, also by NVRTC, ends with "
                   "222",
                   name, own, theirs);
        doctor_fix(doctor,
                   "compile to machine code (sm_NN), update the driver, or install a "
                   "toolkit up to %s",
                   theirs);
    } else {
        doctor_add(doctor, DOCTOR_WARNING, "toolkit",
                   "%s is CUDA %s, and the driver %s: programs that it makes end with 35", name,
                   own, theirs);
        doctor_fix(doctor, "update the driver, or install a toolkit up to %s", theirs);
    }
}

static void check_toolkits(struct doctor *doctor)
{
    static const char *const places[] = {"/usr/local/cuda-*", "/opt/cuda"};
    char pattern[PATH_MAX];
    glob_t found;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(pattern, sizeof pattern, "%s%s", doctor->root, places[i]);
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            check_toolkit(doctor, found.gl_pathv[k]);
        globfree(&found);
    }
}

/* Whether a folder can be written, or the nearest one above it that exists. */
static bool can_make(const char *folder)
{
    char path[PATH_MAX];
    char *end;

    snprintf(path, sizeof path, "%s", folder);
    while (access(path, F_OK) != 0 && (end = strrchr(path, '/')) && end != path)
        *end = '\0';
    return access(path, W_OK | X_OK) == 0;
}

static void check_cache(struct doctor *doctor)
{
    const char *set = secure_getenv("CUDA_CACHE_PATH"), *home = secure_getenv("HOME");
    const char *off = secure_getenv("CUDA_CACHE_DISABLE");
    char folder[PATH_MAX];

    if (off && strcmp(off, "1") == 0) {
        doctor_add(doctor, DOCTOR_WARNING, "cache",
                   "CUDA_CACHE_DISABLE is 1: PTX is compiled in each process again");
        doctor_fix(doctor, "unset CUDA_CACHE_DISABLE");
        return;
    }
    if (!set && !home) {
        doctor_add(doctor, DOCTOR_WARNING, "cache",
                   "neither HOME nor CUDA_CACHE_PATH is set: there is no place for the cache");
        doctor_fix(doctor, "set CUDA_CACHE_PATH to a folder");
        return;
    }
    snprintf(folder, sizeof folder, "%s%s%s", doctor->root, set ? set : home,
             set ? "" : "/.nv/ComputeCache");
    if (can_make(folder)) {
        doctor_add(doctor, DOCTOR_OK, "cache", "%s", folder + strlen(doctor->root));
        return;
    }
    doctor_add(doctor, DOCTOR_WARNING, "cache",
               "%s cannot be written: PTX is compiled in each process again",
               folder + strlen(doctor->root));
    doctor_fix(doctor, "set CUDA_CACHE_PATH to a folder that this user may write");
}

void doctor_files(struct doctor *doctor)
{
    check_libraries(doctor);
    check_toolkits(doctor);
    check_cache(doctor);
}
