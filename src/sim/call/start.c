/* SPDX-License-Identifier: MIT */
/* The driver's start, at its first call: settings, devices, faults and the log, from the
 * environment, or from cushim/sim.h. A program that runs with more rights than its user has reads
 * none: the log could be written where the user may not. */
#include "call/call.h"

#include <errno.h>

bool sim_start_done;

static void read_control(bool own_faults, bool own_log)
{
    const char *text;
    if (!own_faults && (text = secure_getenv("CUSHIM_SIM_FAULT")) && *text) {
        char error[SIM_RULE_SENTENCE];
        if (!sim_fault_add(text, error, sizeof error))
            fprintf(stderr, "cushim: simulated driver: CUSHIM_SIM_FAULT: %s\n", error);
    }
    text = secure_getenv("CUSHIM_SIM_LOG");
    if (!own_log && !sim_report_open(text))
        fprintf(stderr, "cushim: simulated driver: CUSHIM_SIM_LOG: %s: %s\n", text,
                strerror(errno));
    sim_ended_watch();
    sim_callers_origin = sim_callers_wanted ? sim_log_origin : NULL;
    const char *summary = secure_getenv("CUSHIM_SIM_SUMMARY");
    bool quiet = summary && strcmp(summary, "0") == 0;
    if (quiet)
        sim_report_quiet = true;
    sim_summary_at_end(summary && !quiet, secure_getenv("CUSHIM_SIM_REPORT"));
}

bool sim_start_with(const struct sim_config *config, bool own_faults, bool own_log)
{
    if (sim_start_done)
        return false;
    sim_start_done = true;
    sim_config = *config;
    ptx_checks(sim_config.checks);
    sim_device_make_all();
    read_control(own_faults, own_log);
    return true;
}

void sim_start(void)
{
    if (sim_start_done)
        return;
    sim_config_read();
    const struct sim_config config = sim_config;
    (void)sim_start_with(&config, false, false);
}

void sim_start_unload(void)
{
    sim_summary_end();
    sim_interrupt_unload();
    sim_ended_unload();
    sim_ticket_unload();
    sim_stack_unload();
}
