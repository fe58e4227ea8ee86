/* SPDX-License-Identifier: MIT */
/* A stub for each entry and each reason why it is missing. */
#include "loader/stubs.h"

#include "loader/error_name.h"
#include "loader/fault_rule.h"
#include "loader/last_error.h"
#include "loader/platform.h"
#include "loader/registry.h"
#include "loader/stub_family.h"
#include "loader/table.h"

_Atomic(cushim_stubs_listener *) cushim_stubs_told;

void cushim_stubs_tell(void *library)
{
    void *found = library ? cushim_platform_symbol(library, "cushim_sim_engine") : NULL;
    void *(*engine)(const char *) = (void *(*)(const char *))(uintptr_t)found;
    if (!engine)
        return;
    found = engine("cushim_sim_missed");
    atomic_store(&cushim_stubs_told, (cushim_stubs_listener *)(uintptr_t)found);
    found = engine("cushim_sim_ruled");
    atomic_store(&cushim_fault_rule_ask, (cushim_fault_rule_asker *)(uintptr_t)found);
}

static CUresult stubs_call(unsigned index, enum cushim_state state, CUresult code)
{
    cushim_last_error_note(index, state);
    cushim_stubs_listener *told = atomic_load(&cushim_stubs_told);
    char symbol[CUSHIM_SYMBOL_SIZE];
    if (told)
        told(cushim_registry_symbol(index, symbol), code);
    return code;
}

CUresult cushim_stubs_no_driver(unsigned index)
{
    cushim_last_error_note(index, CUSHIM_STATE_NO_DRIVER);
    return index == CUSHIM_INDEX(cuInit) ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cushim_stubs_newer(unsigned index)
{
    return stubs_call(index, CUSHIM_STATE_NEWER, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
}

CUresult cushim_stubs_absent(unsigned index)
{
    return stubs_call(index, CUSHIM_STATE_ABSENT, CUDA_ERROR_NOT_SUPPORTED);
}

#define CUSHIM_STUBS_COUNT CUSHIM_ENTRY_COUNT
FAMILY(no_driver)
FAMILY(newer)
FAMILY(absent)

static CUresult CUDAAPI stubs_version(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = 0;
    return CUDA_SUCCESS;
}

enum cushim_state cushim_stubs_missing(int version, size_t index)
{
    if (!version)
        return CUSHIM_STATE_NO_DRIVER;
    if (cushim_registry_is_elsewhere(index))
        return CUSHIM_STATE_PLATFORM;
    return cushim_registry_since(index) > version ? CUSHIM_STATE_NEWER : CUSHIM_STATE_ABSENT;
}

void cushim_stubs_set(struct cushim_api *table, size_t index, enum cushim_state state)
{
    cushim_table_set(table, index,
                     state == CUSHIM_STATE_NO_DRIVER ? STUB(no_driver, index)
                     : state == CUSHIM_STATE_NEWER   ? STUB(newer, index)
                                                     : STUB(absent, index));
}

static bool stubs_is_plain(const void *held, size_t index)
{
    return held == STUB(no_driver, index) || held == STUB(newer, index) ||
           held == STUB(absent, index);
}

static bool stubs_is_plain_slot(const struct cushim_api *table, size_t index)
{
    return stubs_is_plain(cushim_table_slot(table, index), index);
}

bool cushim_stubs_is_stub(const void *held, size_t index)
{
    return !held || stubs_is_plain(held, index) ||
           held == stubs_address((stubs_fn *)stubs_version) ||
           held == stubs_address((stubs_fn *)cushim_error_name_entry) ||
           held == stubs_address((stubs_fn *)cushim_error_name_string_entry);
}

void cushim_stubs_answer(struct cushim_api *table)
{
    if (stubs_is_plain_slot(table, CUSHIM_INDEX(cuDriverGetVersion)))
        table->cuDriverGetVersion = stubs_version;
    if (stubs_is_plain_slot(table, CUSHIM_INDEX(cuGetErrorName)))
        table->cuGetErrorName = cushim_error_name_entry;
    if (stubs_is_plain_slot(table, CUSHIM_INDEX(cuGetErrorString)))
        table->cuGetErrorString = cushim_error_name_string_entry;
}
