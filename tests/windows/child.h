/* SPDX-License-Identifier: MIT */
/* Children without fork: the program is started again, told its test and which of that test's
 * children it is, and runs the test up to that child's part. */
#ifndef CUSHIM_TESTS_WINDOWS_CHILD_H
#define CUSHIM_TESTS_WINDOWS_CHILD_H

#include <stddef.h>

/* In a child: the test's number and the child's number in it, from 1. Else 0. */
size_t child_test(void);
size_t child_number(void);

#endif
