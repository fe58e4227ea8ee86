/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "loader/instance.h"
#include "loader/last_error.h"
#include "loader/registry.h"

/* A list of names, cut off if it is long. */
struct require_names {
    char text[CUSHIM_SENTENCE / 3];
    size_t length;
};

static void require_add(struct require_names *names, const char *symbol)
{
    if (names->length < sizeof names->text)
        names->length +=
            (size_t)snprintf(names->text + names->length, sizeof names->text - names->length,
                             "%s%s", names->length ? ", " : "", symbol);
}

CUSHIM_COLD enum cushim_status cushim_require(const struct cushim_api *cu, int release,
                                              const char *const *symbols)
{
    enum cushim_status status = cushim_status(cu);
    if (status != CUSHIM_OK) {
        if (cu) /* of a table that is NULL there are words already */
            cushim_last_error_set("%s", cushim_message(cu));
        return status;
    }
    if (release != 0 && release < 1000) {
        cushim_last_error_set("release: %d is no release; it is 1000 times the major and 10 times "
                              "the minor number, 12040 for 12.4, or 0",
                              release);
        return CUSHIM_ERROR_INVALID_ARGUMENT;
    }
    const char *path = cushim_path(cu);
    char needs[64] = "";
    struct require_names missing = {"", 0}, unknown = {"", 0};
    bool older = release > cushim_driver_version(cu);
    if (older)
        snprintf(needs, sizeof needs, "the program needs CUDA %d.%d", CUSHIM_RELEASE(release));
    for (; symbols && *symbols; symbols++) {
        if (cushim_has(cu, *symbols))
            continue;
        bool known = cushim_registry_find(*symbols) < CUSHIM_ENTRY_COUNT;
        require_add(known ? &missing : &unknown, *symbols);
    }
    const char *and = older && missing.length ? ", and " : "";
    char driver[CUSHIM_SENTENCE] = "";
    if (older || missing.length)
        snprintf(driver, sizeof driver, "%s: CUDA %d.%d, but %s%s%s%s",
                 path ? path : "the CUDA driver", CUSHIM_RELEASE(cushim_driver_version(cu)), needs,
                 and, missing.length ? "it lacks " : "", missing.text);
    if (unknown.length) /* the program's mistake, and not the driver's */
        cushim_last_error_set("this version of cushim knows no %s: misspelt, or newer than "
                              "cushim%s%s",
                              unknown.text, *driver ? "; " : "", driver);
    else if (*driver)
        cushim_last_error_set("%s", driver);
    return unknown.length            ? CUSHIM_ERROR_INVALID_ARGUMENT
           : older || missing.length ? CUSHIM_ERROR_TOO_OLD
                                     : CUSHIM_OK;
}
