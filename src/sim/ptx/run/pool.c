/* SPDX-License-Identifier: MIT */
/* Threads of the CPU that help launches. They are made when a launch first wants help, wait between
 * launches, and serve launches of several host threads at once. A child after fork has none of them
 * and makes its own: the pool knows whose it is, and no lock of the parent's is ever touched. */
#include "ptx/run/run.h"

#include <stdlib.h>
#include <unistd.h>

struct job {
    struct launch *launch;
    struct job *next;
    unsigned inside, wanted;
    pthread_cond_t left;
};

struct pool {
    pid_t owner;
    pthread_mutex_t lock;
    pthread_cond_t work, gone;
    struct job *jobs;
    unsigned threads, idle;
    bool closing;
};

static struct pool *_Atomic current_pool;

/* Asked for once, as the C library opens a file for the answer. */
unsigned pool_cores(void)
{
    static _Atomic unsigned known;
    unsigned cores = atomic_load_explicit(&known, memory_order_relaxed);

    if (!cores) {
        long count = sysconf(_SC_NPROCESSORS_ONLN); /* of any number, unlike a cpu_set_t */

        cores = count > 0 ? (unsigned)count : 1;
        atomic_store_explicit(&known, cores, memory_order_relaxed);
    }
    return cores;
}

static struct pool *pool_get(void)
{
    struct pool *pool = atomic_load(&current_pool), *made;

    if (pool && pool->owner == getpid())
        return pool;
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->owner = getpid();
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work, NULL);
    pthread_cond_init(&made->gone, NULL);
    if (atomic_compare_exchange_strong(&current_pool, &pool, made))
        return made; /* a parent's pool stays as it is: its locks may be held */
    pthread_cond_destroy(&made->gone);
    pthread_cond_destroy(&made->work);
    pthread_mutex_destroy(&made->lock);
    free(made);
    return pool;
}

static struct job *pool_job(const struct pool *pool)
{
    for (struct job *job = pool->jobs; job; job = job->next)
        if (job->wanted)
            return job;
    return NULL;
}

static void *pool_thread(void *argument)
{
    struct pool *pool = argument;

    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        struct job *job = pool_job(pool);

        if (!job) {
            pool->idle++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->idle--;
            continue;
        }
        job->wanted--;
        job->inside++;
        pthread_mutex_unlock(&pool->lock);
        block_worker(job->launch);
        pthread_mutex_lock(&pool->lock);
        job->wanted = 0; /* there are no blocks left */
        if (--job->inside == 0)
            pthread_cond_signal(&job->left);
    }
    if (--pool->threads == 0)
        pthread_cond_signal(&pool->gone);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool pool_grow(struct pool *pool)
{
    pthread_t thread;

    if (!ptx_thread_start(&thread, 0, pool_thread, pool))
        return false;
    pthread_detach(thread);
    pool->threads++;
    return true;
}

static void pool_remove(struct pool *pool, struct job *job)
{
    struct job **at = &pool->jobs;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
}

/* Run with up to `workers` threads, the caller's among them. */
void pool_run(struct launch *launch, unsigned workers)
{
    struct pool *pool = pool_get();
    struct job job = {.launch = launch, .wanted = workers - 1};

    if (!pool) {
        block_worker(launch);
        return;
    }
    pthread_cond_init(&job.left, NULL);
    pthread_mutex_lock(&pool->lock);
    job.next = pool->jobs;
    pool->jobs = &job;
    for (unsigned missing = job.wanted > pool->idle ? job.wanted - pool->idle : 0;
         missing && !pool->closing && pool->threads < workers - 1; missing--)
        if (!pool_grow(pool))
            break;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    block_worker(launch);
    pthread_mutex_lock(&pool->lock);
    job.wanted = 0;
    while (job.inside)
        pthread_cond_wait(&job.left, &pool->lock);
    pool_remove(pool, &job);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&job.left);
}

void ptx_pool_close(void)
{
    struct pool *pool = atomic_exchange(&current_pool, NULL);

    if (!pool || pool->owner != getpid())
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    while (pool->threads)
        pthread_cond_wait(&pool->gone, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&pool->gone);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
