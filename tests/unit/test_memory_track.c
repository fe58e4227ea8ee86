/* SPDX-License-Identifier: MIT */
/* What cushim remembers of allocations: against a plain model, from many threads, and its cost. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test_memory_fake.h"

enum { LIVE = 400, STEPS = 20000, THREADS = 4, ROUNDS = 2000, COPIES = 200000 };

static unsigned random_below(unsigned *seed, unsigned limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % limit;
}

/* Sizes, places and ends at random; a list of what is live says what must be refused. */
static void test_model(void **state)
{
    (void)state;
    struct {
        CUdeviceptr address;
        size_t size;
    } live[LIVE];
    const struct cushim_api *cu = fake_open(13000);
    unsigned seed = 1, count = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        if (count < LIVE && (!count || random_below(&seed, 2))) {
            live[count].size = 1 + random_below(&seed, 3000);
            ASSERT_OK(cushim_memory_alloc(cu, live[count].size, &live[count].address));
            count++;
        } else {
            unsigned i = random_below(&seed, count);
            ASSERT_OK(cushim_memory_free(cu, live[i].address));
            assert_int_equal(cushim_fill_8(cu, live[i].address, 0, 1), CUDA_ERROR_INVALID_VALUE);
            live[i] = live[--count];
        }
        assert_int_equal(cushim_memory_live(cu, NULL), count);
        if (!count)
            continue;
        unsigned i = random_below(&seed, count);
        size_t offset = random_below(&seed, (unsigned)live[i].size);
        size_t bytes = 1 + random_below(&seed, (unsigned)live[i].size + 100);
        CUresult expected = bytes > live[i].size - offset ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
        assert_int_equal(cushim_fill_8(cu, live[i].address + offset, 0, bytes), expected);
    }
    while (count)
        ASSERT_OK(cushim_memory_free(cu, live[--count].address));
    fake_close(cu);
}

/* Internal: what closing an instance does for the next one at its address. */
void cushim_track_forget(const struct cushim_api *cu);

static void test_forget(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(13000), *other = fake_open(13000);
    CUdeviceptr address, freed, theirs;
    ASSERT_OK(cushim_memory_alloc(cu, 512, &address));
    ASSERT_OK(cushim_memory_alloc(cu, 512, &freed));
    ASSERT_OK(cushim_memory_alloc(other, 512, &theirs));
    ASSERT_OK(cushim_memory_free(cu, freed));
    cushim_track_forget(cu);
    assert_int_equal(cushim_memory_live(cu, NULL), 0);
    assert_int_equal(cushim_memory_live(other, NULL), 1);
    ASSERT_OK(cushim_fill_8(cu, address, 0, 513));
    ASSERT_OK(cushim_fill_8(cu, freed, 0, 1));
    assert_int_equal(cushim_fill_8(other, theirs, 0, 513), CUDA_ERROR_INVALID_VALUE);
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_OK(cushim_memory_free(other, theirs));
    fake_close(cu);
    fake_close(other);
}

/* ---- threads */

static const struct cushim_api *shared;
static CUdeviceptr steady;
static atomic_int wrong;

static void *allocate_and_copy(void *number)
{
    uintptr_t which = (uintptr_t)number;
    unsigned seed = 17u * (unsigned)which;
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = 1 + random_below(&seed, 2000);
        CUdeviceptr address;
        if (cushim_memory_alloc(shared, size, &address) != CUDA_SUCCESS ||
            cushim_fill_8(shared, address, 1, size) != CUDA_SUCCESS ||
            cushim_fill_8(shared, steady + 160 * which, 1, 160) != CUDA_SUCCESS ||
            cushim_memory_free(shared, address) != CUDA_SUCCESS)
            wrong++;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    shared = fake_open(13000);
    ASSERT_OK(cushim_memory_alloc(shared, 640, &steady));
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_copy, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(cushim_memory_live(shared, NULL), 1);
    assert_int_equal(cushim_fill_8(shared, steady, 1, 641), CUDA_ERROR_INVALID_VALUE);
    ASSERT_OK(cushim_memory_free(shared, steady));
    fake_close(shared);
}

/* ---- cost */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Nanoseconds of one call of a helper that checks one address, its driver's function included. */
static double cost(const struct cushim_api *cu, CUdeviceptr address)
{
    double best = 1e9;
    for (int run = 0; run < 5; run++) {
        double start = seconds();
        for (int i = 0; i < COPIES; i++)
            cushim_fill_8(cu, address, 1, 1);
        double taken = (seconds() - start) / COPIES * 1e9;
        best = taken < best ? taken : best;
    }
    return best;
}

static double raw_cost(const struct cushim_api *cu, CUdeviceptr address)
{
    double best = 1e9;
    for (int run = 0; run < 5; run++) {
        double start = seconds();
        for (int i = 0; i < COPIES; i++)
            cu->cuMemsetD8_v2(address, 1, 1);
        double taken = (seconds() - start) / COPIES * 1e9;
        best = taken < best ? taken : best;
    }
    return best;
}

static void test_cost(void **state)
{
    (void)state;
    CUdeviceptr all[LIVE];
    char byte;
    const struct cushim_api *cu = fake_open(13000);
    for (int i = 0; i < LIVE; i++)
        ASSERT_OK(cushim_memory_alloc(cu, 512, &all[i]));
    double raw = raw_cost(cu, all[LIVE / 3]), helper = cost(cu, all[LIVE / 3]);
    double unknown = cost(cu, (uintptr_t)&byte);
    print_message("# a check among %d allocations: %.0f ns, of an unknown address %.0f ns "
                  "(a raw call here: %.0f ns)\n",
                  LIVE, helper - raw, unknown - raw, raw);
    for (int i = 0; i < LIVE; i++)
        ASSERT_OK(cushim_memory_free(cu, all[i]));
    fake_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests_name("memory_track", tests, NULL, NULL);
}
