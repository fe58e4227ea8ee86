/* SPDX-License-Identifier: MIT */
/* Compares every slot of the process-wide table with the symbol of the driver itself. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C"
#endif
    int
    slots_check(void);

int slots_check(void)
{
    const char *table = (const char *)cushim_load(NULL);
    const struct cushim_api *cushim = cushim_load(NULL);
    void *driver = dlopen(cushim_path(cushim), RTLD_NOW | RTLD_NOLOAD);
    int wrong = 0, available = 0;
    if (!driver)
        return -1;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        struct cushim_slot slot = cushim_slot_at(cushim, i);
        void *held, *exported;
        cushim_entry_at(i, &entry);
        exported = dlsym(driver, entry.symbol);
        memcpy(&held, table + offsetof(struct cushim_api, cuArray3DCreate_v1) + i * sizeof held,
               sizeof held);
        available += slot.state == CUSHIM_STATE_AVAILABLE;
        if (exported ? held != exported : !held || slot.state == CUSHIM_STATE_AVAILABLE) {
            printf("wrong %s\n", entry.symbol);
            wrong++;
        }
    }
    printf("slots %d %d\n", available, wrong);
    return wrong;
}

#ifndef NO_MAIN
int main(void)
{
    return slots_check() != 0;
}
#endif
