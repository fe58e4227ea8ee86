/* SPDX-License-Identifier: MIT */
/* Loads the driver as many programs do: README.md shows what becomes of it on older drivers. */
#include <dlfcn.h>
#include <stdio.h>

typedef int (*init_fn)(unsigned flags);
typedef int (*retain_fn)(void **context, int device);
typedef int (*enter_fn)(void *context);
typedef int (*allocate_fn)(unsigned long long *memory, size_t bytes, void *stream);

int main(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda) {
        puts("no driver");
        return 0;
    }
    init_fn init = (init_fn)dlsym(cuda, "cuInit");
    retain_fn retain = (retain_fn)dlsym(cuda, "cuDevicePrimaryCtxRetain");
    enter_fn enter = (enter_fn)dlsym(cuda, "cuCtxSetCurrent");
    allocate_fn allocate = (allocate_fn)dlsym(cuda, "cuMemAllocAsync");
    void *context = NULL;
    unsigned long long memory = 0;
    if (init(0) || retain(&context, 0) || enter(context))
        return 1;
    return allocate(&memory, 4096, NULL);
}
