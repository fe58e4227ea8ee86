/* SPDX-License-Identifier: MIT */
/*
 * Prints what the table has of one NVML: for each slot its number, and where the library has the
 * function, or the code that the stub returns and its sentence.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cushim/nvml.h>

int main(int argc, char **argv)
{
    struct cushim_nvml_options options = CUSHIM_NVML_OPTIONS_INIT;
    options.path = argc > 1 ? argv[1] : "";
    const struct cushim_nvml *nvml = cushim_nvml_load(&options);
    if (cushim_nvml_status(nvml) != CUSHIM_OK) {
        fprintf(stderr, "%s\n", cushim_nvml_message(nvml));
        return 1;
    }
    for (size_t i = 0; i < CUSHIM_NVML_ENTRY_COUNT; i++) {
        size_t offset = sizeof(size_t) + sizeof(void *) * (i + 1);
        void *slot;
        int (*stub)(void);
        Dl_info info;
        memcpy(&slot, (const char *)nvml + offset, sizeof slot);
        memcpy(&stub, &slot, sizeof stub);
        if (!cushim_nvml_has_(nvml, offset)) {
            int code = stub();
            printf("%zu\tstub\t%d\t%s\n", i, code, cushim_last_error());
        } else if (dladdr(slot, &info)) {
            printf("%zu\thas\t%td\n", i, (char *)slot - (char *)info.dli_fbase);
        }
    }
    return 0;
}
