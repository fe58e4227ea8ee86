/* SPDX-License-Identifier: MIT */
/* What surrounds every call: the lock, the rules that hold for all entries, faults and the log. */
#include "call/call.h"

static uint64_t calls;
uint64_t sim_call_counts[SIM_ENTRY_COUNT];

/* The innermost call of the thread, or NULL. */
static void make_current(struct sim_call *call)
{
    sim_log_current = call;
    sim_current_per_thread = call && call->entry->stream != 'l';
}

/* Entries that answer before cuInit, as real drivers' do. */
static bool needs_init(const struct sim_entry *entry)
{
    static const char *const before[] = {"cuCoredumpGetAttributeGlobal",
                                         "cuCoredumpSetAttributeGlobal",
                                         "cuInit",
                                         "cuDriverGetVersion",
                                         "cuGetProcAddress",
                                         "cuGetErrorName",
                                         "cuGetErrorString",
                                         "cuGetExportTable",
                                         "cuLogsRegisterCallback",
                                         "cuLogsUnregisterCallback",
                                         "cuLogsCurrent",
                                         "cuLogsDumpToFile",
                                         "cuLogsDumpToMemory",
                                         "cuMemGetHandleForAddressRange"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strcmp(entry->name, before[i]) == 0)
            return false;
    return true;
}

bool sim_call_begin(struct sim_call *call, size_t entry, const void *const *arguments)
{
    sim_ticket_prepare();
    sim_lock_begin();
    sim_start();
    *call = (struct sim_call){.entry = &sim_entries[entry],
                              .arguments = arguments,
                              .number = ++calls,
                              .start_ns = sim_clock_ns(),
                              .result = CUDA_ERROR_NOT_SUPPORTED,
                              .outer = sim_log_current};
    make_current(call);
    sim_call_counts[entry]++;
    if (call->entry->superseded && sim_fault_traps()) {
        sim_lock_leave();
        sim_fault_trap(entry);
    }
    if (sim_fault_before(call))
        return false;
    if (needs_init(call->entry) && (sim_current_in_callback || !sim_device_initialized())) {
        call->result =
            sim_current_in_callback ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_NOT_INITIALIZED;
        return false;
    }
    return call->entry->behaviour;
}

CUresult sim_call_end(struct sim_call *call)
{
    struct sim_journal_note note;
    if (call->forced != CUDA_SUCCESS) {
        /* A caller who is told an error destroys no graph. */
        if (call->result == CUDA_SUCCESS && strcmp(call->entry->name, "cuStreamEndCapture") == 0)
            (void)sim_cuGraphDestroy(**(CUgraph *const *)call->arguments[1]);
        call->result = call->forced;
    }
    sim_ticket_hurry();
    sim_log_call(call);
    sim_summary_call(call->result, NULL);
    if (sim_usage_all())
        sim_device_note_usage();
    bool told = sim_journal_keep(call, &note);
    make_current(call->outer);
    sim_lock_leave();
    if (told)
        sim_journal_tell(&note);
    return call->result;
}

void sim_call_missed(const char *symbol, CUresult result)
{
    sim_ticket_prepare();
    sim_lock_begin();
    if (sim_start_done || strncmp(symbol, "cushim_sim_", 11) != 0) { /* a failed open starts none */
        sim_start();
        sim_log_missed(++calls, symbol, result);
    }
    if (strncmp(symbol, "cushim", 6) != 0)
        sim_summary_call(result, symbol);
    sim_lock_leave();
}
