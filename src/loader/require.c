/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "loader/instance.h"
#include "loader/last_error.h"

enum cushim_status cushim_require(const struct cushim_api *cu, int release,
                                  const char *const *symbols)
{
    enum cushim_status status = cushim_status(cu);
    if (status != CUSHIM_OK) {
        if (cu) /* of a table that is NULL there are words already */
            cushim_last_error_set("%s", cushim_message(cu));
        return status;
    }
    const char *path = cushim_path(cu);
    char needs[64] = "", missing[CUSHIM_SENTENCE / 2] = "";
    size_t length = 0;
    bool older = release > cushim_driver_version(cu);
    if (older)
        snprintf(needs, sizeof needs, "the program needs CUDA %d.%d", CUSHIM_RELEASE(release));
    for (; symbols && *symbols; symbols++) {
        if (cushim_has(cu, *symbols))
            continue;
        if (length < sizeof missing)
            length += (size_t)snprintf(missing + length, sizeof missing - length, "%s%s",
                                       length ? ", " : "", *symbols);
        status = CUSHIM_ERROR_TOO_OLD;
    }
    if (!older && status == CUSHIM_OK)
        return CUSHIM_OK;
    cushim_last_error_set("%s: CUDA %d.%d, but %s%s%s%s", path ? path : "the CUDA driver",
                          CUSHIM_RELEASE(cushim_driver_version(cu)), needs,
                          older && length ? ", and " : "", length ? "it lacks " : "", missing);
    return CUSHIM_ERROR_TOO_OLD;
}
