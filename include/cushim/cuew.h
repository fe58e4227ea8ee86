/* SPDX-License-Identifier: MIT */
/**
 * @file
 * For source written for cuew: its names over cushim. Link the drop-in, which has the functions
 * (cuInit, cuMemAlloc, ...), and include this header instead of cuew.h.
 *
 *     if (cuewInit(CUEW_INIT_CUDA) != CUEW_SUCCESS)
 *         return use_the_cpu();
 *     CUresult result = cuInit(0);
 *     if (result != CUDA_SUCCESS)
 *         puts(cuewErrorString(result));
 *
 * What differs: a function of the driver is a function and no pointer, so it is never NULL. Whether
 * the driver has it, CUSHIM_HAS(cushim_load(NULL), cuMemAllocAsync) tells. The types of functions
 * (tcuInit) have other names, those of cushim/cudaTypedefs.h. NVRTC is not loaded, and its names
 * are not there: cuewInit(CUEW_INIT_NVRTC) fails. cushim_message(cushim_load(NULL)) has the reason
 * of a failure. After NVIDIA's cuda.h, the names of OpenGL are those of its cudaGL.h.
 */
#ifndef CUSHIM_CUEW_H
#define CUSHIM_CUEW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** @cond */
#ifndef CUSHIM_DROPIN
#define CUSHIM_DROPIN /* its users call functions of the driver's own names */
#endif
#ifndef CUSHIM_COMPANIONS
#define CUSHIM_COMPANIONS /* in the two files to copy: cudaGL.h and the others */
#endif
/** @endcond */
#include <cushim/cushim.h>
#if defined(CUSHIM_CUDA_TYPES_H) && !defined(CUSHIM_CUDA_FUNCTIONS_H)
#error "cuew.h comes before cushim.h, which then declares the functions too"
#endif
/** @cond what cuew declares as well */
#ifdef CUSHIM_CUDA_TYPES_H
#ifndef CUDAGL_H
#include <cushim/cudaGL.h>
#endif
/* Values that had another name in CUDA 9.2, or went. */
#define CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS ((CUdevice_attribute)92)
#define CU_DEVICE_P2P_ATTRIBUTE_ARRAY_ACCESS_ACCESS_SUPPORTED ((CUdevice_P2PAttribute)4)
#define CU_TARGET_COMPUTE_20 ((CUjit_target)20)
#define CU_TARGET_COMPUTE_21 ((CUjit_target)21)
#define CU_TARGET_COMPUTE_73 ((CUjit_target)73)
#endif

#define CUEW_VERSION_MAJOR 2
#define CUEW_VERSION_MINOR 0
typedef unsigned int GLenum;
typedef unsigned int GLuint;
typedef int GLint;
/** @endcond */

enum {
    CUEW_SUCCESS = 0,
    CUEW_ERROR_OPEN_FAILED = -1,
    CUEW_ERROR_ATEXIT_FAILED = -2, /* never returned here */
    CUEW_NOT_INITIALIZED = -3      /* no flag was given */
};

enum { CUEW_INIT_CUDA = 1, CUEW_INIT_NVRTC = 2 };

/** Load what the flags name. Threads: safe. */
static inline int cuewInit(unsigned int flags)
{
    if (!(flags & (CUEW_INIT_CUDA | CUEW_INIT_NVRTC)))
        return CUEW_NOT_INITIALIZED;
    if (flags & CUEW_INIT_CUDA && cushim_status(cushim_load(NULL)) != CUSHIM_OK)
        return CUEW_ERROR_OPEN_FAILED;
    return flags & CUEW_INIT_NVRTC ? CUEW_ERROR_OPEN_FAILED : CUEW_SUCCESS;
}

/** What a code means, in a few words. */
static inline const char *cuewErrorString(CUresult result)
{
    const char *text = cushim_error_string(result);
    return text ? text : "Unknown CUDA error value";
}

#ifdef _WIN32
#define CUSHIM_CUEW_NVCC_ "nvcc.exe"
#define CUSHIM_CUEW_LISTS_ ";"
#define CUSHIM_CUEW_USUAL_ "C:/CUDA/bin"
#else
#define CUSHIM_CUEW_NVCC_ "nvcc"
#define CUSHIM_CUEW_LISTS_ ":"
#define CUSHIM_CUEW_USUAL_ "/usr/local/cuda/bin"
#endif

/* Writes folder/nvcc, and returns it if that file is there. */
static inline const char *cushim_cuew_try_(const char *folder, size_t length, char *path,
                                           size_t size)
{
    int written = snprintf(path, size, "%.*s/%s", (int)length, folder, CUSHIM_CUEW_NVCC_);
    FILE *file = length && written > 0 && (size_t)written < size ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    fclose(file);
    return path;
}

/**
 * Path of nvcc, from CUDA_BIN_PATH, the usual folder or PATH; NULL if it is in none.
 *
 * @return a static buffer. Threads: one at a time
 */
static inline const char *cuewCompilerPath(void)
{
    static char path[4096];
    const char *folder = getenv("CUDA_BIN_PATH");
    if (folder && cushim_cuew_try_(folder, strlen(folder), path, sizeof path))
        return path;
    folder = CUSHIM_CUEW_USUAL_;
    if (cushim_cuew_try_(folder, strlen(folder), path, sizeof path))
        return path;
    for (folder = getenv("PATH"); folder && *folder;) {
        size_t length = strcspn(folder, CUSHIM_CUEW_LISTS_);
        if (cushim_cuew_try_(folder, length, path, sizeof path))
            return path;
        folder += length + (folder[length] != '\0');
    }
    return NULL;
}

/**
 * Release of the toolkit that cuewCompilerPath found, 124 for 12.4; 0 if it is not known. It is
 * read from the cuda.h beside the compiler, and no program is run. Threads: one at a time.
 */
static inline int cuewCompilerVersion(void)
{
    const char *nvcc = cuewCompilerPath(), *mark = "#define CUDA_VERSION ";
    char text[4096 + 64];
    int version = 0;
    if (!nvcc)
        return 0;
    snprintf(text, sizeof text, "%.*s../include/cuda.h",
             (int)(strlen(nvcc) - strlen(CUSHIM_CUEW_NVCC_)), nvcc);
    FILE *header = fopen(text, "rb");
    while (header && !version && fgets(text, sizeof text, header))
        if (!strncmp(text, mark, strlen(mark)))
            version = atoi(text + strlen(mark));
    if (header)
        fclose(header);
    return version / 100 + version % 100 / 10;
}

/** NVRTC is not loaded: 0. */
static inline int cuewNvrtcVersion(void)
{
    return 0;
}

#endif
