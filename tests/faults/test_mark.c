/* SPDX-License-Identifier: MIT */
/* Whether a process is another one than the last that was marked: by a page that the system empties
 * in a child, and by the process's number where there is none. The system's calls are replaced. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "loader/platform.h"

static bool no_page, no_emptying, same_number;
static struct cushim_mark *raced; /* another thread marks it while a page is made */
static int pages;                 /* that are mapped */

pid_t __real_getpid(void);
pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void)
{
    return same_number ? 77 : __real_getpid();
}

void *__real_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    struct cushim_mark *mark = raced;
    assert_true(file == -1 && offset == 0);
    if (no_page) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    raced = NULL;
    if (mark)
        cushim_platform_mark(mark);
    pages++;
    return __real_mmap64(at, size, protection, flags, file, offset);
}

int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size)
{
    pages--;
    return __real_munmap(at, size);
}

int __real_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice)
{
    errno = EINVAL;
    return no_emptying ? -1 : __real_madvise(at, size, advice);
}

/* Whether a child of this process is seen as one. */
static bool child_is_child(struct cushim_mark *mark)
{
    int status = -1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(cushim_platform_is_child(mark));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check(struct cushim_mark *mark, int wanted_pages, bool seen)
{
    const int before = pages;
    assert_false(cushim_platform_is_child(mark)); /* no process was marked */
    for (int round = 0; round < 2; round++) {
        cushim_platform_mark(mark);
        assert_int_equal(pages - before, wanted_pages);
        assert_false(cushim_platform_is_child(mark));
        assert_int_equal(child_is_child(mark), seen);
    }
}

static void test_page(void **state)
{
    struct cushim_mark mark = {0}, other = {0};
    (void)state;
    check(&mark, 1, true);
    same_number = true; /* as in a child that has a namespace of its own */
    check(&other, 1, true);
    same_number = false;
}

static void test_no_page(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct cushim_mark mark = {0}, other = {0};
        no_page = way;
        no_emptying = !way;
        check(&mark, 0, true);
        same_number = true;
        check(&other, 0, false); /* nothing tells */
        no_page = no_emptying = same_number = false;
    }
}

/* The page that comes second is given back. */
static void test_race(void **state)
{
    struct cushim_mark mark = {0};
    (void)state;
    raced = &mark;
    check(&mark, 1, true);
    assert_null(raced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_no_page),
        cmocka_unit_test(test_race),
    };
    return cmocka_run_group_tests_name("mark", tests, NULL, NULL);
}
