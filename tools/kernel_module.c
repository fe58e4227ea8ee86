/* SPDX-License-Identifier: MIT */
#include "kernel_module.h"

#include <stdio.h>
#include <string.h>

/* The driver's own words first: the second file is there without the first on few systems. */
static const char *const files[] = {"/proc/driver/nvidia/version", "/sys/module/nvidia/version"};

/* Finds it in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  ...". */
static void parse_version(struct kernel_module *module, const char *line)
{
    static const char blanks[] = " \t\n";

    module->version[0] = '\0';
    while (*line != '\0') {
        size_t length;

        line += strspn(line, blanks);
        length = strcspn(line, blanks);
        /* Nothing but digits and points, and at least one point: not the year of a date. */
        if (length > 0 && length < sizeof module->version &&
            strspn(line, "0123456789.") == length && memchr(line, '.', length)) {
            memcpy(module->version, line, length);
            module->version[length] = '\0';
            return;
        }
        line += length;
    }
}

void kernel_module_read(struct kernel_module *module, const char *root)
{
    char line[256], path[512];

    *module = (struct kernel_module){0};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        FILE *file = fopen(path, "re");

        if (!file)
            continue;
        if (fgets(line, sizeof line, file))
            parse_version(module, line);
        fclose(file);
        if (module->version[0] != '\0') {
            module->file = files[i];
            return;
        }
    }
}

const char *kernel_module_version(const struct kernel_module *module)
{
    return module->file ? module->version : NULL;
}
