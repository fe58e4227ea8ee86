/* SPDX-License-Identifier: MIT */
/* The first call of a program, from sixteen threads at once. */
#define _POSIX_C_SOURCE 200112L
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 16

static pthread_barrier_t start;
static int versions[THREADS];

static void *call(void *version)
{
    pthread_barrier_wait(&start);
    cuDriverGetVersion((int *)version);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int alike = 1;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call, &versions[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        alike &= versions[i] == versions[0];
    }
    printf("version %d\nalike %d\n", versions[0], alike);
    return 0;
}
