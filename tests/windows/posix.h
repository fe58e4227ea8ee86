/* SPDX-License-Identifier: MIT */
/* Included before each unit test on Windows: what its C library has under no name or another. */
#ifndef CUSHIM_TESTS_WINDOWS_POSIX_H
#define CUSHIM_TESTS_WINDOWS_POSIX_H

unsigned alarm(unsigned seconds);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);

#endif
