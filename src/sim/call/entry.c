/* SPDX-License-Identifier: MIT */
#include "call/call.h"

void *(*sim_entry_exported)(size_t entry);

void *sim_entry_address(const struct sim_entry *entry)
{
    return sim_entry_exported ? sim_entry_exported((size_t)(entry - sim_entries)) : entry->function;
}

/* The entries whose names begin alike up to a '_', each the next of another: numbers from 1. */
static uint16_t first_of[1024], next_of[SIM_ENTRY_COUNT];

static size_t place(const char *name)
{
    uint32_t hash = 0;
    for (; *name && *name != '_'; name++)
        hash = 31 * hash + (unsigned char)*name;
    return hash % (sizeof first_of / sizeof *first_of);
}

const struct sim_entry *sim_entry_next(const char *name, const struct sim_entry *entry)
{
    static bool made;
    for (size_t i = SIM_ENTRY_COUNT; !made && i; i--) {
        uint16_t *first = &first_of[place(sim_entries[i - 1].name)];
        next_of[i - 1] = *first;
        *first = (uint16_t)i;
    }
    made = true;
    size_t number = entry ? next_of[entry - sim_entries] : first_of[place(name)];
    return number ? &sim_entries[number - 1] : NULL;
}

/* cuGetProcAddress, as measured on real drivers: the newest ABI of a name that this driver has and
 * that is not newer than the version asked for. */

#define LEGACY 'l'
/* From this release on a version newer than the driver's is refused. */
#define STRICT_VERSION 13000
#define ALL_FLAGS                                                                                  \
    (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

/* The newest fitting entry of a name in the given stream form, versions compared without sign as
 * real drivers do; `*exists`: some entry has the name. */
static const struct sim_entry *best(const char *name, int version, bool per_thread, bool *exists)
{
    const struct sim_entry *found = NULL;
    const struct sim_entry *entry = NULL;
    while ((entry = sim_entry_next(name, entry))) {
        if (entry->since > sim_config.cuda || (entry->stream != LEGACY) != per_thread ||
            strcmp(entry->name, name) != 0)
            continue;
        *exists = true;
        if ((unsigned)entry->since <= (unsigned)version && (!found || entry->since >= found->since))
            found = entry;
    }
    return found;
}

static CUresult ask(const char *symbol, void **pfn, int version, cuuint64_t flags,
                    const struct sim_entry **found, bool *exists)
{
    /* Both flags together are taken, as the per-thread one. */
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *exists = false;
    *found = NULL;
    SIM_REFUSE(!symbol || !pfn || flags > ALL_FLAGS);
    SIM_REFUSE(sim_config.cuda >= STRICT_VERSION && version > sim_config.cuda);
    if (per_thread)
        *found = best(symbol, version, true, exists);
    if (!*found && !*exists)
        *found = best(symbol, version, false, exists);
    if (*found && sim_fault_missing(*found)) { /* and no other one instead */
        *found = NULL;
        *exists = false;
    }
    return CUDA_SUCCESS;
}

/* The ABI that a caller of this version means, where this driver is too old to have it. */
static const struct sim_entry *meant_by(const struct sim_entry *found, int version)
{
    const struct sim_entry *meant = found, *entry = NULL;
    while ((entry = sim_entry_next(found->name, entry)))
        if (entry->stream == found->stream && entry->since > meant->since &&
            (unsigned)entry->since <= (unsigned)version && strcmp(entry->name, found->name) == 0)
            meant = entry;
    return meant->abi == found->abi ? NULL : meant;
}

/* The function of an answer; under the wrong-ABI trap, one that aborts where it is not the ABI
 * that was meant. */
static void *address_of(const struct sim_entry *found, int version)
{
    const struct sim_entry *meant = sim_fault_traps() ? meant_by(found, version) : NULL;
    if (!meant)
        return sim_entry_address(found);
    sim_fault_wrong(found, meant->symbol, version);
    return found->trap;
}

CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    const struct sim_entry *found;
    SIM_FIND(bool, exists, ask(symbol, pfn, cudaVersion, flags, &found, &exists));
    SIM_FAIL(NOT_FOUND, !found);
    *pfn = address_of(found, cudaVersion);
    return CUDA_SUCCESS;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *symbolStatus)
{
    const struct sim_entry *found;
    SIM_FIND(bool, exists, ask(symbol, pfn, cudaVersion, flags, &found, &exists));
    *pfn = found ? address_of(found, cudaVersion) : NULL;
    if (symbolStatus)
        *symbolStatus = found    ? CU_GET_PROC_ADDRESS_SUCCESS
                        : exists ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                 : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

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
    SIM_REFUSE(!ppExportTable || !pExportTableId);
    if (!said && memcmp(pExportTableId, &runtime_table, sizeof runtime_table) == 0) {
        said = true;
        sim_report_say("cushim sim: the program uses the CUDA runtime, which asks for private "
                       "tables of NVIDIA's driver (cuGetExportTable); none is simulated, and the "
                       "runtime finds no device: only programs that call the driver API run here");
    }
    *ppExportTable = NULL;
    return SIM_LACK_cuGetExportTable_table;
}

/* --- Errors by name: the registry's, as in the library --- */

/* A driver knows the codes of its own release. */
static bool too_new(CUresult error)
{
    for (const struct sim_new_error *row = sim_new_errors; row->code; row++)
        if (row->code == (int)error)
            return row->since > sim_config.cuda;
    return false;
}

static const struct cushim_error_data *find(CUresult error)
{
    if (too_new(error))
        return NULL;
    for (size_t i = 0; i < cushim_error_count; i++)
        if (cushim_errors[i].code == (int)error)
            return &cushim_errors[i];
    return NULL;
}

static CUresult tell(CUresult error, const char **text, bool name)
{
    const struct cushim_error_data *data = find(error);
    SIM_REFUSE(!text);
    *text = data ? cushim_error_strings + (name ? data->name : data->text) : NULL;
    return SIM_VALID(data);
}

SIM_ENTRY(cuGetErrorName, tell(error, pStr, true))
SIM_ENTRY(cuGetErrorString, tell(error, pStr, false))
