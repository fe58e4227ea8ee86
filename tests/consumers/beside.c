/* SPDX-License-Identifier: MIT */
/* A program that links a libcuda, or a library that does, and is linked with the drop-in too. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

/* What the libcuda counted, which the program asks under names that are nobody else's. */
static int ask(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*function)(void);
    if (!driver)
        return -1;
    *(void **)&function = dlsym(driver, name);
    return function ? function() : -1;
}

#ifdef OTHER
int other_device_count(void); /* of a shared library that calls libcuda itself */
#endif

int main(void)
{
    int count = -1;
    printf("init %d\n", cuInit(0));
    cuDeviceGetCount(&count);
    printf("count %d\n", count);
    printf("calls %d\n", ask("driver_calls"));
#ifdef OTHER
    printf("other %d\n", other_device_count());
    printf("later %d\n", ask("driver_calls"));
#endif
    return 0;
}
