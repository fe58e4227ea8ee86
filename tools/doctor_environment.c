/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_on(const char *value)
{
    return value[0] != '\0' && strcmp(value, "0") != 0;
}

static bool is_hiding(const char *value)
{
    return value[0] == '\0' || value[0] == '-' || strcmp(value, "NoDevFiles") == 0;
}

static bool is_there(const char *value)
{
    return value[0] != '\0';
}

static bool has_compat(const char *value)
{
    return strstr(value, "/compat");
}

static bool always(const char *value)
{
    (void)value;
    return true;
}

/* In the order in which they are told; of one variable the first that applies. */
static const struct {
    const char *name;
    bool (*applies)(const char *value);
    enum doctor_level level;
    const char *text, *fix;
} variables[] = {
    {"CUDA_VISIBLE_DEVICES", is_hiding, DOCTOR_ERROR, "it hides all GPUs: cuInit returns 100",
     "unset it"},
    {"CUDA_VISIBLE_DEVICES", is_there, DOCTOR_WARNING, "programs see these GPUs alone",
     "unset it to see all"},
    {"LD_LIBRARY_PATH", has_compat, DOCTOR_WARNING,
     "a folder of a cuda-compat package is in it: on GPUs that it does not serve cuInit returns "
     "804",
     "take the folder out of it, unless the GPU is one of a data center"},
    {"LD_PRELOAD", is_there, DOCTOR_WARNING,
     "libraries stand before the driver's, and may answer in its place", "unset it to compare"},
    {"LD_AUDIT", is_there, DOCTOR_WARNING,
     "a library is asked about each file that is loaded, and may give another one",
     "unset it to compare"},
    {"CUSHIM_LIBCUDA", is_there, DOCTOR_WARNING,
     "programs with cushim take this library and no other", "unset it to search again"},
    {"CUSHIM_LIBCUDA", always, DOCTOR_WARNING, "it hides the driver from programs with cushim",
     "unset it"},
    {"CUDA_DISABLE_PTX_JIT", is_on, DOCTOR_ERROR,
     "PTX is not compiled: programs without machine code for the GPU end with 223", "unset it"},
    {"CUDA_FORCE_PTX_JIT", is_on, DOCTOR_WARNING,
     "machine code is not used: programs without PTX end with 209", "unset it"},
    {"CUDA_LAUNCH_BLOCKING", is_on, DOCTOR_WARNING, "each launch waits for its kernel", "unset it"},
    {"CUDA_MPS_PIPE_DIRECTORY", is_there, DOCTOR_WARNING,
     "programs connect to the MPS daemon of this folder", "unset it where no daemon runs"},
    {"CUDA_INJECTION64_PATH", is_there, DOCTOR_WARNING,
     "the driver loads this library into each program", "unset it"},
};

/* Libraries that are put in front of each program, as tools that share GPUs do. */
static void check_preload(struct doctor *doctor)
{
    char path[PATH_MAX], text[256] = "";
    FILE *file;

    snprintf(path, sizeof path, "%s/etc/ld.so.preload", doctor->root);
    file = fopen(path, "re");
    if (!file)
        return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    if (text[strspn(text, " ")] == '\0')
        return;
    doctor_add(doctor, DOCTOR_WARNING, "environment",
               "/etc/ld.so.preload has '%s': it stands before the driver's library in each "
               "program, and may answer in its place",
               text);
    doctor_fix(doctor, "a tool that shares the GPU may be meant; compare without it");
}

/* The toolkit's folder has its stub as libcuda.so, which programs link; some images have it as
 * libcuda.so.1, too, which they load. */
static void check_stubs(struct doctor *doctor)
{
    const char *search = secure_getenv("LD_LIBRARY_PATH");
    char path[PATH_MAX];

    while (search && *search != '\0') {
        size_t length = strcspn(search, ":");
        snprintf(path, sizeof path, "%s%.*s/libcuda.so.1", doctor->root, (int)length, search);
        bool loaded = access(path, F_OK) == 0;
        path[strlen(path) - strlen(".1")] = '\0';
        if (strstr(path, "/stubs/") && (loaded || access(path, F_OK) == 0)) {
            if (loaded)
                doctor_add(doctor, DOCTOR_ERROR, "environment",
                           "LD_LIBRARY_PATH has '%.*s' with the toolkit's stub as libcuda.so.1: "
                           "cuInit returns 34",
                           (int)length, search);
            else
                doctor_add(doctor, DOCTOR_WARNING, "environment",
                           "LD_LIBRARY_PATH has '%.*s' with the toolkit's stub as libcuda.so: in "
                           "programs that load it by this name cuInit returns 34",
                           (int)length, search);
            doctor_fix(doctor, "take the folder out of it");
        }
        search += length + (search[length] == ':');
    }
}

void doctor_environment(struct doctor *doctor)
{
    size_t before = doctor->count;
    const char *told = "";

    check_preload(doctor);
    check_stubs(doctor);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = secure_getenv(variables[i].name);
        if (!value || strcmp(told, variables[i].name) == 0 || !variables[i].applies(value))
            continue;
        told = variables[i].name;
        doctor_add(doctor, variables[i].level, "environment", "%s is '%s': %s", told, value,
                   variables[i].text);
        doctor_fix(doctor, "%s", variables[i].fix);
    }
    if (doctor->count == before)
        doctor_add(doctor, DOCTOR_OK, "environment", "no variable hides or redirects GPUs");
}
