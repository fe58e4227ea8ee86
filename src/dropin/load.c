/* SPDX-License-Identifier: MIT */
#include "dropin.h"

const struct cushim_api *cushim_dropin_load(void)
{
    const struct cushim_api *table = cushim_load(NULL);
    atomic_store_explicit(&cushim_dropin_table, table, memory_order_release);
    return table;
}
