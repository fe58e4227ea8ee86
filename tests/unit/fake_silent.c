/* SPDX-License-Identifier: MIT */
#include "fake_silent.h"

#include <string.h>

struct silent silent;

#define RETURNS(code)                                                                              \
    static int returns_##code(void)                                                                \
    {                                                                                              \
        return code;                                                                               \
    }
RETURNS(0)
RETURNS(2)
RETURNS(101)
RETURNS(209)
RETURNS(400)
RETURNS(500)
RETURNS(801)
#undef RETURNS

#define ROW(code)                                                                                  \
    {                                                                                              \
        code, (silent_fn *)returns_##code                                                          \
    }
static const struct {
    int code;
    silent_fn *function;
} returning[] = {ROW(0), ROW(2), ROW(101), ROW(209), ROW(400), ROW(500), ROW(801)};
#undef ROW

static CUresult CUDAAPI silent_version(int *version)
{
    if (silent.version)
        *version = silent.version;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI silent_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    silent.attributes++;
    silent.device = device;
    if (silent.capability >= 0 && attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        *value = silent.capability / 10;
    else if (silent.capability >= 0 && attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        *value = silent.capability % 10;
    else if (silent.attribute >= 0)
        *value = silent.attribute;
    return CUDA_SUCCESS;
}

static silent_fn *silent_returning(int code)
{
    for (size_t i = 0; i < COUNT(returning); i++)
        if (returning[i].code == code)
            return returning[i].function;
    fail_msg("no function returns %d", code);
    return NULL;
}

static void *silent_resolve(void *user, const char *symbol)
{
    silent_fn *function = silent_returning(0);
    void *address;
    (void)user;
    if (strcmp(symbol, "cuDriverGetVersion") == 0)
        function = (silent_fn *)silent_version;
    else if (strcmp(symbol, "cuDeviceGetAttribute") == 0)
        function = (silent_fn *)silent_attribute;
    for (size_t i = COUNT(silent.others); i-- > 0;) /* the first counts */
        if (silent.others[i].symbol && strcmp(silent.others[i].symbol, symbol) == 0)
            function = silent.others[i].function;
    memcpy(&address, &function, sizeof address);
    return address;
}

void silent_reset(void)
{
    silent = (struct silent){
        .version = cushim_registry_version(), .attribute = -1, .capability = -1, .device = -1};
}

void silent_use(const char *symbol, silent_fn *function)
{
    for (size_t i = 0; i < COUNT(silent.others); i++)
        if (!silent.others[i].symbol) {
            silent.others[i] = (struct silent_other){symbol, function};
            return;
        }
    fail_msg("no room for %s", symbol);
}

void silent_fail(const char *symbol, CUresult code)
{
    silent_use(symbol, silent_returning((int)code));
}

const struct cushim_api *silent_open(void)
{
    struct cushim_options options = defaults();
    options.resolver = silent_resolve;
    options.order = CUSHIM_ORDER_SYMBOLS;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    return cu;
}
