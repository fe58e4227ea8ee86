/* SPDX-License-Identifier: MIT */
/* Calls what an old driver lacks, from several threads and again; knows nothing of cushim. */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *call_missing(void *result)
{
    CUdeviceptr memory = 0;
    *(CUresult *)result = cuMemAllocAsync(&memory, 16, NULL);
    return NULL;
}

int main(int count, char **arguments)
{
    CUresult results[4];
    pthread_t threads[4];
    const char *name = "none";
    int version = -1;
    if (count > 1 && !strcmp(arguments[1], "init"))
        printf("init %d %d\n", cuInit(0), cuInit(0));
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, call_missing, &results[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("missing %d %d %d %d\n", results[0], results[1], results[2], results[3]);
    printf("again %d\n", cuMemFreeAsync(0, NULL));
    printf("init %d\n", cuInit(0));
    cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name);
    cuDriverGetVersion(&version);
    printf("name %s, version %d\n", name, version);
    return 0;
}
