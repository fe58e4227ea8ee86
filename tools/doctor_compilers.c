/* SPDX-License-Identifier: MIT */
/*
 * Compilers beside the toolkits: NVRTC, whose PTX a driver must take, and ptxas, in the folders of
 * the system, of Python packages and of the loader's path.
 */
#include "doctor.h"

#include "facts.h"
#include "names.h"

#include <cushim/compat.h>

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 1 << 28 };

/* Where packages of Python lie; "~" is the user's folder, "$" a variable's. */
static const char *const python_folders[] = {
    "/usr/lib/python3*/dist-packages",         "/usr/local/lib/python3*/dist-packages",
    "/usr/local/lib/python3*/site-packages",   "/opt/conda/lib/python3*/site-packages",
    "~/.local/lib/python3*/site-packages",     "$VIRTUAL_ENV/lib/python3*/site-packages",
    "$CONDA_PREFIX/lib/python3*/site-packages"};

static const char *const library_folders[] = {"/usr/lib/x86_64-linux-gnu",
                                              "/usr/lib/aarch64-linux-gnu",
                                              "/usr/lib64",
                                              "/usr/lib",
                                              "/usr/local/lib",
                                              "/opt/conda/lib",
                                              "$CONDA_PREFIX/lib"};

static const char *const ptxas_files[] = {"/usr/bin/ptxas",
                                          "/usr/lib/nvidia-cuda-toolkit/bin/ptxas",
                                          "/opt/conda/bin/ptxas", "$CONDA_PREFIX/bin/ptxas"};

static const char *const nvrtc_in_python[] = {"/nvidia/cuda_nvrtc/lib", "/nvidia/cu1*/lib"};
static const char *const ptxas_in_python[] = {
    "/nvidia/cuda_nvcc/bin/ptxas", "/nvidia/cu1*/bin/ptxas", "/triton/backends/nvidia/bin/ptxas",
    "/triton/backends/nvidia/bin/ptxas-blackwell"};

/* The beginning of a path; false for that of a variable which is not set. */
static bool expand(char path[PATH_MAX], const struct doctor *doctor, const char *name)
{
    char variable[32];
    const char *rest = name, *value = "";

    if (*name == '~') {
        value = secure_getenv("HOME");
        rest = name + 1;
    } else if (*name == '$') {
        size_t length = strcspn(name + 1, "/");
        snprintf(variable, sizeof variable, "%.*s", (int)length, name + 1);
        value = secure_getenv(variable);
        rest = name + 1 + length;
    }
    if (!value)
        return false;
    snprintf(path, PATH_MAX, "%s%s%s", doctor->root, value, rest);
    return true;
}

/* What a compiler means for the driver; ptxas makes machine code, which its whole family takes. */
static void tell(struct doctor *doctor, const char *what, const char *path, int release)
{
    char own[VERSION_TEXT_SIZE], theirs[VERSION_TEXT_SIZE];
    bool ptx = strcmp(what, "NVRTC") == 0;
    const char *name = path + strlen(doctor->root);

    version_text(own, release);
    version_text(theirs, doctor->release);
    if (doctor->release == 0 || doctor->release >= release ||
        (!ptx && doctor->release / 1000 == release / 1000)) {
        doctor_add(doctor, DOCTOR_OK, "compilers", "%s: %s of CUDA %s", name, what, own);
        return;
    }
    doctor_add(doctor, DOCTOR_WARNING, "compilers",
               ptx ? "%s: %s of CUDA %s, and the driver is of %s: PTX that it makes ends with 222"
                   : "%s: %s of CUDA %s, and the driver is of %s: machine code of a later family, "
                     "which NVIDIA does not support",
               name, what, own, theirs);
    doctor_fix(
        doctor,
        ptx ? "let it compile for sm_NN instead of compute_NN, update the driver, or install "
              "%s up to %s"
            : "update the driver, or install %s of CUDA up to %s",
        what, theirs);
}

/* "libnvrtc-builtins.so.12.9" has the release; that of libnvrtc.so.12 is not exact. */
static void check_nvrtc(struct doctor *doctor, const char *folder)
{
    static const char stem[] = "libnvrtc-builtins.so.";
    char pattern[PATH_MAX];
    glob_t found;

    if (snprintf(pattern, sizeof pattern, "%s/%s*", folder, stem) >= PATH_MAX ||
        glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *number = strrchr(found.gl_pathv[i], '/') + strlen(stem) + 1;
        int major, minor, length = 0;
        if (sscanf(number, "%2d.%2d%n", &major, &minor, &length) == 2 && number[length] == '\0')
            tell(doctor, "NVRTC", found.gl_pathv[i], 1000 * major + 10 * minor);
    }
    globfree(&found);
}

/* The release in the sentence that --version prints; 0 for a file without it. */
static int ptxas_release(const char *path)
{
    static const char sentence[] = "Cuda compilation tools, release ";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), release = 0;
    struct stat facts;

    if (file < 0)
        return 0;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 &&
        facts.st_size < LARGEST) {
        size_t size = (size_t)facts.st_size;
        const char *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        const char *at = data != MAP_FAILED ? memmem(data, size, sentence, strlen(sentence)) : NULL;
        if (at && size - (size_t)(at - data) > strlen(sentence) + 8) {
            char number[8] = "";
            int major, minor;
            memcpy(number, at + strlen(sentence), sizeof number - 1);
            if (sscanf(number, "%2d.%1d", &major, &minor) == 2)
                release = 1000 * major + 10 * minor;
        }
        if (data != MAP_FAILED)
            munmap((void *)data, size);
    }
    close(file);
    return release;
}

static void check_ptxas(struct doctor *doctor, const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        int release = ptxas_release(found.gl_pathv[i]);
        if (release > 0)
            tell(doctor, "ptxas", found.gl_pathv[i], release);
    }
    globfree(&found);
}

static void check_python(struct doctor *doctor, const char *folder)
{
    char pattern[PATH_MAX];

    for (size_t i = 0; i < sizeof nvrtc_in_python / sizeof nvrtc_in_python[0]; i++) {
        if (snprintf(pattern, sizeof pattern, "%s%s", folder, nvrtc_in_python[i]) < PATH_MAX)
            check_nvrtc(doctor, pattern);
    }
    for (size_t i = 0; i < sizeof ptxas_in_python / sizeof ptxas_in_python[0]; i++) {
        if (snprintf(pattern, sizeof pattern, "%s%s", folder, ptxas_in_python[i]) < PATH_MAX)
            check_ptxas(doctor, pattern);
    }
}

void doctor_compilers(struct doctor *doctor)
{
    const char *search = secure_getenv("LD_LIBRARY_PATH");
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof library_folders / sizeof library_folders[0]; i++) {
        if (expand(path, doctor, library_folders[i]))
            check_nvrtc(doctor, path);
    }
    while (search && *search != '\0') {
        size_t length = strcspn(search, ":");
        snprintf(path, sizeof path, "%s%.*s", doctor->root, (int)length, search);
        if (length > 0)
            check_nvrtc(doctor, path);
        search += length + (search[length] == ':');
    }
    for (size_t i = 0; i < sizeof ptxas_files / sizeof ptxas_files[0]; i++) {
        if (expand(path, doctor, ptxas_files[i]))
            check_ptxas(doctor, path);
    }
    for (size_t i = 0; i < sizeof python_folders / sizeof python_folders[0]; i++) {
        if (expand(path, doctor, python_folders[i]))
            check_python(doctor, path);
    }
}
