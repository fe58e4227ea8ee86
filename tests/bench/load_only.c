/* SPDX-License-Identifier: MIT */
/* The smallest program that opens a driver by its symbols; measure_growth.py counts what it does.
 */
#include <cushim/cushim.h>

int main(int count, char **arguments)
{
    struct cushim_options options = {.size = sizeof options,
                                     .path = count > 1 ? arguments[1] : NULL,
                                     .order = CUSHIM_ORDER_SYMBOLS};
    return cushim_status(cushim_open(&options)) != CUSHIM_OK;
}
