/* SPDX-License-Identifier: MIT */
/* The engine's side of thin.h. */
#include <stdatomic.h>

#include "call/call.h"
#include "core/core.h"
#include "ptx/ptx.h"
#include "thin/thin.h"

#define PUBLIC __attribute__((visibility("default")))

/* Never given up again: the driver's state would be there still. */
static atomic_flag taken = ATOMIC_FLAG_INIT;

PUBLIC enum sim_attached cushim_sim_attach(const struct sim_thin *thin, void (**unload)(void))
{
    if (thin->entries != SIM_ENTRIES_ID)
        return SIM_ATTACH_REFUSED;
    if (atomic_flag_test_and_set(&taken))
        return SIM_ATTACH_TAKEN;
    sim_config_built = thin->version;
    sim_entry_exported = thin->address;
    /* It is the thin library that must stay while threads run: it keeps the engine. */
    ptx_thread_stay_in(thin);
    for (size_t i = 0; i < SIM_ENTRY_COUNT; i++)
        thin->table[i] = sim_entries[i].function;
    *unload = sim_start_unload;
    return SIM_ATTACHED;
}

PUBLIC size_t cushim_sim_left(char *text, size_t size)
{
    return sim_summary_left(text, size);
}

PUBLIC void cushim_sim_missed(const char *symbol, CUresult result)
{
    sim_call_missed(symbol, result);
}

PUBLIC const char *cushim_sim_ruled(void)
{
    return sim_fault_last();
}
