/* SPDX-License-Identifier: MIT */
/* State once what the program needs of a driver, and call it everywhere else without a test. Works
 * everywhere: where the driver will not do, it prints why. */
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

#define NEEDED_RELEASE 11020
static const char *const needed[] = {"cuMemAllocAsync", "cuStreamBeginCapture_v2", NULL};

/* The one test of the program. */
static bool can_use_gpu(const struct cushim_api *cu)
{
    enum cushim_status status = cushim_require(cu, NEEDED_RELEASE, needed);
    if (status == CUSHIM_OK)
        return true;
    printf("on the CPU (%s): %s\n", cushim_status_name(status), cushim_last_error());
    return false;
}

/* The same, asked for one by one. */
static bool is_there(const struct cushim_api *cu)
{
    bool there = cushim_driver_version(cu) >= NEEDED_RELEASE;
    for (const char *const *symbol = needed; *symbol; symbol++)
        there = there && cushim_has(cu, *symbol);
    return there;
}

/* cushim knows no such function, and the sentence names it. */
static bool refuses_what_is_not_known(const struct cushim_api *cu)
{
    static const char *const unknown[] = {"cuNoSuchFunction", NULL};
    if (cushim_require(cu, 0, unknown) != CUSHIM_ERROR_INVALID_ARGUMENT)
        return false;
    printf("%s\n", cushim_last_error());
    return strstr(cushim_last_error(), "cuNoSuchFunction");
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    bool usable = can_use_gpu(cu);
    if (usable)
        printf("ready: %s\n", cushim_message(cu));
    if (cushim_status(cu) == CUSHIM_OK && !refuses_what_is_not_known(cu))
        return 1;
    return usable == is_there(cu) ? 0 : 1;
}
