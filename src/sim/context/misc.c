/* SPDX-License-Identifier: MIT */
/* What has no object of its own: private tables, what other APIs share. */

#include <string.h>

#include "core/core.h"

/* Of the first table that the CUDA runtime asks for, in every release. */
static const CUuuid runtime_table = {{0x6b, (char)0xd5, (char)0xfb, 0x6c, 0x5b, (char)0xf4,
                                      (char)0xe7, 0x4a, (char)0x89, (char)0x87, (char)0xd9, 0x39,
                                      0x12, (char)0xfd, (char)0x9d, (char)0xf9}};

/* Real drivers have private tables; none of them is simulated. The CUDA runtime hands on what it is
 * told: that there is no device, which its programs expect where there is no GPU. So they would go
 * on without a word: this is one even where all else is quiet. Others that ask for tables go on
 * without, and to say so would point at the wrong cause. */
CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static bool said;
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    if (!said && memcmp(pExportTableId, &runtime_table, sizeof runtime_table) == 0) {
        said = true;
        sim_report_say("cushim sim: the program uses the CUDA runtime, which asks for private "
                       "tables of NVIDIA's driver (cuGetExportTable); none is simulated, and the "
                       "runtime finds no device: only programs that call the driver API run here");
    }
    *ppExportTable = NULL;
    return SIM_LACK_cuGetExportTable_table;
}

/* Memory and semaphores of other APIs: there are none to share with. What is wrong with a request
 * itself is told first. */

CUresult sim_cuImportExternalMemory(CUexternalMemory *extMem_out,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 *memHandleDesc)
{
    CUresult result = sim_current_check();
    if (result != CUDA_SUCCESS)
        return result;
    if (!extMem_out || !memHandleDesc)
        return CUDA_ERROR_INVALID_VALUE;
    return SIM_LACK_cuImportExternalMemory_any;
}

CUresult sim_cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
                                       const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 *semHandleDesc)
{
    CUresult result = sim_current_check();
    if (result != CUDA_SUCCESS)
        return result;
    if (!extSem_out || !semHandleDesc)
        return CUDA_ERROR_INVALID_VALUE;
    return SIM_LACK_cuImportExternalSemaphore_any;
}
