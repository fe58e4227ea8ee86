/* SPDX-License-Identifier: MIT */
/* What has no object of its own: the profiler's switches, private tables. */
#include "core/current.h"
#include "core/report.h"
#include "device/init.h"

CUresult sim_cuProfilerStart(void)
{
    struct sim_context *context;
    return sim_current(&context);
}

CUresult sim_cuProfilerStop(void)
{
    struct sim_context *context;
    return sim_current(&context);
}

/* No driver of today does. */
CUresult sim_cuProfilerInitialize(const char *configFile, const char *outputFile,
                                  CUoutput_mode outputMode)
{
    (void)configFile, (void)outputFile, (void)outputMode;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Real drivers have private tables; none of them is simulated. The CUDA runtime asks for them
 * before all else, and hands on what it is told: that there is no device, which its programs expect
 * where there is no GPU. A program that has called cuInit itself is none of its programs, or goes
 * on without: to say so would point at the wrong cause. */
CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static bool said;
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    if (!said && sim_init_state() == CUDA_ERROR_NOT_INITIALIZED)
        sim_report_problem(
            "cushim sim: the program uses the CUDA runtime, which asks for private "
            "tables of NVIDIA's driver (cuGetExportTable); none is simulated, and the "
            "runtime finds no device: only programs that call the driver API run here");
    said = true;
    *ppExportTable = NULL;
    return SIM_LACK_cuGetExportTable_table;
}
