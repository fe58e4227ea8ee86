/* SPDX-License-Identifier: MIT */
/* src/sim/core/expire.c, in builds with AddressSanitizer: an object that was looked up before a
 * thread gave the driver's lock up is forbidden after, until it is looked up again. Each case is a
 * process of its own, which ends where it touches what is forbidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/core.h"
#include "memory/memory.h"
#include "queue/queue.h"

/* Whether what `body` does is permitted. */
static bool permitted(void (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        sim_lock_enter();
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static struct sim_object *made(void)
{
    struct sim_object *object = calloc(1, sizeof *object);
    sim_object_add(object, SIM_OTHER, NULL);
    return object;
}

static uint64_t touch(const volatile struct sim_object *object)
{
    return object->serial;
}

static void give_lock_up(void)
{
    sim_lock_leave();
    sim_lock_enter();
}

static void at_once(void)
{
    touch(made());
}

static void after_unlock(void)
{
    struct sim_object *object = made();
    give_lock_up();
    touch(object);
}

static CUresult nothing(void *user)
{
    (void)user;
    usleep(1000);
    return CUDA_SUCCESS;
}

static void after_wait(void)
{
    struct sim_object *object = made();
    struct sim_ticket *ticket = sim_ticket_make(NULL, nothing, NULL, NULL);
    sim_ticket_start(ticket);
    sim_ticket_wait(ticket);
    touch(object);
}

static void looked_up(void)
{
    struct sim_object *object = made();
    give_lock_up();
    touch(sim_object(SIM_OTHER, object));
}

static void asked_for(void)
{
    struct sim_object *object = made();
    uint64_t serial = object->serial;
    give_lock_up();
    if (sim_object_alive(SIM_OTHER, object, serial))
        touch(object);
}

static void walked_to(void)
{
    made();
    give_lock_up();
    for (struct sim_object *object = sim_object_first(SIM_OTHER); object; object = object->next)
        touch(object);
}

static void claimed(void)
{
    struct sim_object *object = made();
    object->pinned = true;
    give_lock_up();
    touch(object);
}

static struct sim_allocation *allocation(void)
{
    static char bytes[64];
    struct sim_allocation *block = calloc(1, sizeof *block);
    block->address = (uintptr_t)bytes;
    block->size = block->usable = sizeof bytes;
    (void)sim_range_add(block);
    return block;
}

static void memory_after_unlock(void)
{
    volatile struct sim_allocation *block = allocation();
    give_lock_up();
    (void)block->size;
}

static void memory_looked_up(void)
{
    uint64_t address = allocation()->address;
    give_lock_up();
    volatile struct sim_allocation *block = sim_range_find(address);
    (void)block->size;
}

static void test_expired(void **state)
{
    (void)state;
    assert_false(permitted(after_unlock));
    assert_false(permitted(after_wait));
    assert_false(permitted(memory_after_unlock));
}

static void test_permitted(void **state)
{
    (void)state;
    assert_true(permitted(at_once));
    assert_true(permitted(looked_up));
    assert_true(permitted(asked_for));
    assert_true(permitted(walked_to));
    assert_true(permitted(claimed));
    assert_true(permitted(memory_looked_up));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expired),
        cmocka_unit_test(test_permitted),
    };
    return cmocka_run_group_tests_name("expire", tests, NULL, NULL);
}
