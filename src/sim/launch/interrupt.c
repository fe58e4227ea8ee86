/* SPDX-License-Identifier: MIT */
/* An interrupt (SIGINT) while a kernel runs: the kernel ends, with the place where it was. If the
 * program has no handler, the signal then ends the process, as it would have done at once. A
 * handler of the program's is called at once, and the kernel has two seconds to end by itself. A
 * program that sets a handler later has the signal for itself. */
#include "launch/launch.h"

#include <signal.h>

#define PATIENCE_NS UINT64_C(2000000000)
#define GRACE_NS UINT64_C(300000000)

static struct sigaction before;
static bool watched;
static atomic_int running;  /* launches */
static atomic_bool ends;    /* the process ends with the last of them */
static _Atomic pid_t owner; /* a child has none of its parent's launches */

static void interrupted(int number, siginfo_t *info, void *context)
{
    const bool runs = atomic_load(&running) > 0 && getpid() == atomic_load(&owner);
    if (before.sa_handler == SIG_DFL) {
        signal(number, SIG_DFL); /* a second one ends the process at once */
        if (!runs) {
            raise(number);
            return;
        }
        atomic_store(&ends, true);
        ptx_stop(sim_clock_ns(), false);
        return;
    }
    if (runs)
        ptx_stop(sim_clock_ns() + PATIENCE_NS, false);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        before.sa_handler(number);
}

/* Of a program that SIGTERM ends: a kernel that still runs tells where it is. */
static void hurry(void)
{
    const struct timespec moment = {0, 10000000};
    if (getpid() != atomic_load(&owner))
        return;
    ptx_stop(sim_clock_ns() + GRACE_NS, false);
    for (int i = 0; i < 100 && atomic_load(&running) > 0; i++)
        nanosleep(&moment, NULL);
}

static void watch(void)
{
    sim_ended_hurry(hurry);
    if (!sim_config.interrupt || sigaction(SIGINT, NULL, &before) != 0 ||
        before.sa_handler == SIG_IGN)
        return;
    struct sigaction ours = before;
    ours.sa_sigaction = interrupted;
    ours.sa_flags |= SA_SIGINFO;
    watched = sigaction(SIGINT, &ours, NULL) == 0;
}

void sim_interrupt_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pid_t self = getpid();
    if (atomic_exchange(&owner, self) != self)
        atomic_store(&running, 0);
    atomic_fetch_add(&running, 1);
    (void)pthread_once(&once, watch);
}

void sim_interrupt_end(void)
{
    if (atomic_fetch_sub(&running, 1) == 1 && atomic_load(&ends))
        kill(getpid(), SIGINT); /* every signal is blocked in this thread */
}

void sim_interrupt_unload(void)
{
    struct sigaction now;
    if (watched && sigaction(SIGINT, NULL, &now) == 0 && now.sa_sigaction == interrupted)
        sigaction(SIGINT, &before, NULL);
}
