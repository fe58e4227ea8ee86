/* SPDX-License-Identifier: MIT */
/* What the unit tests use of <dlfcn.h>, on Windows. */
#ifndef CUSHIM_TESTS_WINDOWS_DLFCN_H
#define CUSHIM_TESTS_WINDOWS_DLFCN_H

enum { RTLD_NOW = 2, RTLD_LOCAL = 0, RTLD_NOLOAD = 4 };
#define RTLD_DEFAULT ((void *)0)

void *dlopen(const char *path, int flags);
void *dlsym(void *handle, const char *symbol);
int dlclose(void *handle);

#endif
