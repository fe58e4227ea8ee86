/* SPDX-License-Identifier: MIT */
/* On Windows the engine is in the library itself, of one CUDA version: nothing has to be found. */
#include <windows.h>

#include "thin/thin.h"

void *sim_thin_table[SIM_ENTRY_COUNT];
static void (*unload)(void);

static CUresult refuse(void)
{
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
}

BOOL WINAPI DllMain(HINSTANCE library, DWORD why, void *at_exit);

/* `at_exit`: the process ends, and its other threads have ended already, with what they held. */
BOOL WINAPI DllMain(HINSTANCE library, DWORD why, void *at_exit)
{
    static struct sim_thin self = {SIM_ENTRIES_ID, 0, sim_thin_table, sim_thin_address};
    (void)library;
    if (why == DLL_PROCESS_ATTACH) {
        self.version = sim_thin_version;
        if (cushim_sim_attach(&self, &unload) != SIM_ATTACHED)
            for (size_t i = 0; i < SIM_ENTRY_COUNT; i++)
                sim_thin_table[i] = (void *)(uintptr_t)refuse;
    } else if (why == DLL_PROCESS_DETACH && !at_exit && unload) {
        unload();
    }
    return TRUE;
}
