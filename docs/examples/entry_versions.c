/* SPDX-License-Identifier: MIT */
/* One name, several functions: cuCtxCreate has had four parameter lists. Ask for the one of a
 * release, and get exactly that or NULL with a reason, never another. Works without a driver. */
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

/* What cuCtxCreate means in a release, and the member of the table that holds it. */
struct wanted {
    int release;
    const char *symbol;
};

static const struct wanted all[] = {
    {3000, "cuCtxCreate"},     /* the first */
    {11000, "cuCtxCreate_v2"}, /* since 3.2 */
    {12000, "cuCtxCreate_v3"}, /* since 11.4: execution affinity */
    {13000, "cuCtxCreate_v4"}, /* since 12.5: a structure of parameters */
};

/* The table and the look-up must agree on whether there is such a function, and which it is. */
static bool same(const struct cushim_api *cu, const char *symbol, const void *address)
{
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        if (cushim_entry_at(i, &entry) && strcmp(entry.symbol, symbol) == 0)
            return cushim_slot_at(cu, i).address == address;
    }
    return false;
}

static bool look_up(const struct cushim_api *cu, const struct wanted *wanted)
{
    enum cushim_proc_status why;
    void *address = cushim_proc(cu, "cuCtxCreate", wanted->release, CUSHIM_STREAM_LEGACY, &why);
    const char *sentence = address ? "found" : cushim_last_error();

    printf("%2d.%d  %-16s %s\n", wanted->release / 1000, wanted->release % 1000 / 10,
           wanted->symbol, sentence);
    if (address && why != CUSHIM_PROC_EXACT)
        return false;
    return same(cu, wanted->symbol, address);
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    bool good = true;

    printf("%s\n", cushim_message(cu));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        good &= look_up(cu, &all[i]);

    /* In the table each is a member of its own, typed, and callable on every machine: one that the
     * driver lacks returns an error. A plain name means what it means in the headers in use. */
    char text[256];
    bool has = CUSHIM_HAS(cu, cuCtxCreate_v4);
    CUresult code = has ? CUDA_SUCCESS : cu->cuCtxCreate_v4(NULL, NULL, 0, 0);
    printf("%s\n", cushim_reason(cu, "cuCtxCreate_v4", NULL, text, sizeof text));
    return good && has == (code == CUDA_SUCCESS) ? 0 : 1;
}
