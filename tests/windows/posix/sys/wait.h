/* SPDX-License-Identifier: MIT */
/* A test that needs fork() ends there as skipped. */
#ifndef CUSHIM_TESTS_WINDOWS_WAIT_H
#define CUSHIM_TESTS_WINDOWS_WAIT_H

#include <sys/types.h>

#include "cmocka.h"

#define fork() (check_skip("there is no fork"), -1)
#define waitpid(child, status, options) ((void)(child), (void)(status), (child))

#endif
