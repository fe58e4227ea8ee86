/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

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

static bool has_stubs(const char *value)
{
    return strstr(value, "/stubs");
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
    {"LD_LIBRARY_PATH", has_stubs, DOCTOR_ERROR,
     "a folder of it has the toolkit's stub: cuInit returns 34", "take the folder out of it"},
    {"LD_LIBRARY_PATH", has_compat, DOCTOR_WARNING,
     "a folder of a cuda-compat package is in it: on GPUs that it does not serve cuInit returns "
     "804",
     "take the folder out of it, unless the GPU is one of a data center"},
    {"LD_PRELOAD", is_there, DOCTOR_WARNING,
     "libraries stand before the driver's, and may answer in its place", "unset it to compare"},
    {"CUSHIM_LIBCUDA", always, DOCTOR_WARNING,
     "programs with cushim take this library and no other", "unset it to search again"},
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

void doctor_environment(struct doctor *doctor)
{
    size_t before = doctor->count;
    const char *told = "";

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
