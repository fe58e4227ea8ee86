/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The version of NVIDIA's kernel module, as the system's files have it.
 */
#ifndef CUSHIM_TOOLS_KERNEL_MODULE_H
#define CUSHIM_TOOLS_KERNEL_MODULE_H

#ifdef _WIN32
#define KERNEL_MODULES 0
#else
#define KERNEL_MODULES 1 /* whether the system has any */
#endif

struct kernel_module {
    const char *file; /* where the version was read; NULL where no module is loaded */
    char version[32];
};

/** @param root  what stands before the paths; "" for this system */
void kernel_module_read(struct kernel_module *module, const char *root);

/** "550.163.01"; NULL where no module is loaded. */
const char *kernel_module_version(const struct kernel_module *module);

#endif
