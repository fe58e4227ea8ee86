/* SPDX-License-Identifier: MIT */
/* Calls every slot of the table that its header knows; built with headers of other releases. */
#include <cushim/cushim.h>
#include <stdio.h>
#include <string.h>

typedef int slot_fn(void *, void *, void *, void *);

int main(int argc, char **argv)
{
    const struct cushim_api *cu = cushim_load(NULL);
    size_t slots =
               (sizeof *cu - offsetof(struct cushim_api, cuArray3DCreate_v1)) / sizeof(slot_fn *),
           refused = 0;
    int version = -1;
    const struct cushim_api *own = cushim_open(NULL);

    printf("status %s\n", cushim_status_name(cushim_status(cushim_load(NULL))));
    printf("message %s\n", cushim_message(cushim_load(NULL)));
    printf("table %s\n", cu == cushim_load(NULL) ? "same" : "other");
    printf("size %s\n", cu->size >= sizeof *cu ? "enough" : "short");
    printf("open %s\n", own ? "yes" : "no");
    printf("version %d", cu->cuDriverGetVersion(&version));
    printf(" %d\n", version);
    for (size_t i = 0; i < slots; i++) {
        slot_fn *slot;
        memcpy(&slot,
               (const char *)cu + offsetof(struct cushim_api, cuArray3DCreate_v1) + i * sizeof slot,
               sizeof slot);
        if (!slot)
            printf("empty %zu\n", i);
        else if (argc > 1) /* not with a real driver behind them */
            refused += slot(NULL, NULL, NULL, NULL) != 0;
    }
    printf("slots %zu\nrefused %zu\n", slots, refused);
    cushim_close(own);
    return !argv[0];
}
