/* SPDX-License-Identifier: MIT */
/*
 * A fake CUDA 10.2 driver with two devices, just enough for `cushim info --init` and `cushim demo`.
 * "Device memory" is the host's, and its only kernel is vecadd. Set by the environment:
 *
 *   FAKE_FAIL=SYMBOL[:N]  the Nth call of SYMBOL, or every call, returns 999
 *   FAKE_WRONG            vecadd leaves the last element as it is
 *   FAKE_DEVICES=N        number of devices; -1: cuInit returns 100, as real drivers do then
 *   FAKE_LOG=FILE         when the process ends, "cuInit N" and "held N" are written there: how
 *                         often cuInit was called, and how many objects were not released
 *
 * Built with FAKE_WITHOUT_MEMSET it exports no cuMemsetD8_v2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    UNKNOWN = 999
};
enum { JIT_ERROR_LOG_BUFFER = 5 };
enum { HEADER = 64 }; /* bytes before a block of memory */
enum { ATTRIBUTE_CAPABILITY_MAJOR = 75, ATTRIBUTE_CAPABILITY_MINOR = 76 };

typedef unsigned long long device_pointer;

static int inits;  /* calls of cuInit */
static int held;   /* objects created and not yet released */
static int pushed; /* contexts on the stack */
static char object;

__attribute__((destructor)) static void write_log(void)
{
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (file) {
        fprintf(file, "cuInit %d\nheld %d\n", inits, held + pushed);
        fclose(file);
    }
}

/* Whether this call is the one that FAKE_FAIL names. */
static int fails(const char *symbol)
{
    static int calls;
    const char *named = getenv("FAKE_FAIL");
    size_t length = strlen(symbol);

    if (!named || strncmp(named, symbol, length) != 0)
        return 0;
    if (named[length] == '\0')
        return 1;
    return named[length] == ':' && ++calls == atoi(named + length + 1);
}

/* Every call begins with this: the failure asked for, and what a real driver would refuse. */
#define BEGIN                                                                                      \
    do {                                                                                           \
        if (fails(__func__))                                                                       \
            return UNKNOWN;                                                                        \
        if (inits == 0)                                                                            \
            return NOT_INITIALIZED;                                                                \
    } while (0)
#define BEGIN_IN_CONTEXT                                                                           \
    do {                                                                                           \
        BEGIN;                                                                                     \
        if (pushed == 0)                                                                           \
            return INVALID_CONTEXT;                                                                \
    } while (0)

static int create(void **result)
{
    *result = &object;
    held++;
    return SUCCESS;
}

static int destroy(const void *pointer)
{
    if (pointer != &object)
        return INVALID_VALUE;
    held--;
    return SUCCESS;
}

static int device_count(void)
{
    const char *text = getenv("FAKE_DEVICES");

    return text ? atoi(text) : 2;
}

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags)
{
    if (fails(__func__))
        return UNKNOWN;
    inits++;
    if (device_count() < 0)
        return NO_DEVICE;
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDriverGetVersion(int *version)
{
    *version = 10020;
    return SUCCESS;
}

EXPORT int cuGetErrorName(int error, const char **name);
EXPORT int cuGetErrorName(int error, const char **name)
{
    *name = error ? "CUDA_ERROR" : "CUDA_SUCCESS";
    return SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count);
EXPORT int cuDeviceGetCount(int *count)
{
    BEGIN;
    *count = device_count();
    return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal);
EXPORT int cuDeviceGet(int *device, int ordinal)
{
    BEGIN;
    if (ordinal < 0 || ordinal >= device_count())
        return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int size, int device);
EXPORT int cuDeviceGetName(char *name, int size, int device)
{
    BEGIN;
    snprintf(name, (size_t)size, "Fake GPU %c", 'A' + device);
    return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    BEGIN;
    (void)device;
    *value = attribute == ATTRIBUTE_CAPABILITY_MAJOR   ? 7
             : attribute == ATTRIBUTE_CAPABILITY_MINOR ? 5
                                                       : 0;
    return SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device);
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    BEGIN;
    (void)device;
    *bytes = (size_t)3 << 30;
    return SUCCESS;
}

EXPORT int cuDeviceGetPCIBusId(char *text, int size, int device);
EXPORT int cuDeviceGetPCIBusId(char *text, int size, int device)
{
    BEGIN;
    snprintf(text, (size_t)size, "0000:%02X:00.0", 0xa0 + device);
    return SUCCESS;
}

EXPORT int cuDeviceGetUuid(unsigned char uuid[16], int device);
EXPORT int cuDeviceGetUuid(unsigned char uuid[16], int device)
{
    BEGIN;
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(i * 17);
    uuid[15] = (unsigned char)(0xf0 + device);
    return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BEGIN;
    (void)device;
    return create(context);
}

EXPORT int cuDevicePrimaryCtxRelease(int device);
EXPORT int cuDevicePrimaryCtxRelease(int device)
{
    BEGIN;
    (void)device;
    return destroy(&object);
}

EXPORT int cuCtxPushCurrent_v2(void *context);
EXPORT int cuCtxPushCurrent_v2(void *context)
{
    BEGIN;
    if (context != &object)
        return INVALID_CONTEXT;
    pushed++;
    return SUCCESS;
}

EXPORT int cuCtxPopCurrent_v2(void **context);
EXPORT int cuCtxPopCurrent_v2(void **context)
{
    BEGIN_IN_CONTEXT;
    *context = &object;
    pushed--;
    return SUCCESS;
}

EXPORT int cuMemAlloc_v2(device_pointer *pointer, size_t bytes);
EXPORT int cuMemAlloc_v2(device_pointer *pointer, size_t bytes)
{
    static char *blocks; /* all there ever were, so that no leak checker minds what is held */

    BEGIN_IN_CONTEXT;
    char *block = malloc(HEADER + bytes);
    memcpy(block, &blocks, sizeof blocks);
    blocks = block;
    *pointer = (device_pointer)(size_t)(block + HEADER);
    held++;
    return SUCCESS;
}

EXPORT int cuMemFree_v2(device_pointer pointer);
EXPORT int cuMemFree_v2(device_pointer pointer)
{
    BEGIN_IN_CONTEXT;
    held--;
    return pointer != 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t bytes);
EXPORT int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t bytes)
{
    BEGIN_IN_CONTEXT;
    memcpy((void *)(size_t)to, from, bytes);
    return SUCCESS;
}

EXPORT int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t bytes);
EXPORT int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t bytes)
{
    BEGIN_IN_CONTEXT;
    memcpy(to, (const void *)(size_t)from, bytes);
    return SUCCESS;
}

#ifndef FAKE_WITHOUT_MEMSET
EXPORT int cuMemsetD8_v2(device_pointer to, unsigned char value, size_t bytes);
EXPORT int cuMemsetD8_v2(device_pointer to, unsigned char value, size_t bytes)
{
    BEGIN_IN_CONTEXT;
    memset((void *)(size_t)to, value, bytes);
    return SUCCESS;
}
#endif

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                              void **values);
EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                              void **values)
{
    for (unsigned i = 0; fails(__func__) && i < count; i++) {
        if (options[i] == JIT_ERROR_LOG_BUFFER)
            strcpy(values[i], "ptxas fatal : the fake compiler refuses");
    }
    BEGIN_IN_CONTEXT;
    return strstr(image, ".entry vecadd(") ? create(module) : INVALID_VALUE;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name);
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
    BEGIN_IN_CONTEXT;
    *function = module;
    return strcmp(name, "vecadd") == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuModuleUnload(void *module);
EXPORT int cuModuleUnload(void *module)
{
    BEGIN_IN_CONTEXT;
    return destroy(module);
}

EXPORT int cuEventCreate(void **event, unsigned flags);
EXPORT int cuEventCreate(void **event, unsigned flags)
{
    BEGIN_IN_CONTEXT;
    return flags == 0 ? create(event) : INVALID_VALUE;
}

EXPORT int cuEventDestroy_v2(void *event);
EXPORT int cuEventDestroy_v2(void *event)
{
    BEGIN_IN_CONTEXT;
    return destroy(event);
}

EXPORT int cuEventRecord(void *event, void *stream);
EXPORT int cuEventRecord(void *event, void *stream)
{
    BEGIN_IN_CONTEXT;
    return event == &object && !stream ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuEventSynchronize(void *event);
EXPORT int cuEventSynchronize(void *event)
{
    BEGIN_IN_CONTEXT;
    return event == &object ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *stop);
EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *stop)
{
    BEGIN_IN_CONTEXT;
    *milliseconds = 0.125F;
    return start == &object && stop == &object ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **parameters, void **extra);
EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **parameters, void **extra)
{
    BEGIN_IN_CONTEXT;
    const float *a = (const float *)(size_t) * (device_pointer *)parameters[0];
    const float *b = (const float *)(size_t) * (device_pointer *)parameters[1];
    float *sum = (float *)(size_t) * (device_pointer *)parameters[2];
    unsigned count = *(unsigned *)parameters[3];
    unsigned wrong = !!getenv("FAKE_WRONG");

    if (function != &object || gy * gz * by * bz != 1 || shared != 0 || stream || extra)
        return INVALID_VALUE;
    for (unsigned i = 0; i < gx * bx && i < count - wrong; i++)
        sum[i] = a[i] + b[i];
    return SUCCESS;
}
