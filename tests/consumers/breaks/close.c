/* SPDX-License-Identifier: MIT */
/* Closes too often; for AddressSanitizer, which sees what is used after it was freed. */
#include <stdio.h>

#include "cushim.h"

int main(int count, char **arguments)
{
    struct cushim_options options = {.size = sizeof options, .path = arguments[count - 1]};
    const struct cushim_api *cu = cushim_open(&options);
    cushim_close(cu);
    cushim_close(cu);
    cushim_close_unload(cu);
    printf("said %s\n", cushim_last_error());
    for (int i = 0; i < 1000; i++) {
        cu = cushim_open(&options);
        (void)cushim_init(cu);
        (void)cushim_message(cu);
        (void)cushim_path(cu);
        cushim_close(cu);
    }
    printf("rounds 1000\n");
    return 0;
}
