/* SPDX-License-Identifier: MIT */
#include <cushim/compat.h>

#include <stdlib.h>
#include <string.h>

#include "helpers/compat_data.h"
#include "loader/text.h"

enum { FIRST_FAMILY = 11 };

static const char *compat_text(uint16_t offset)
{
    return cushim_driver_strings[offset] ? cushim_driver_strings + offset : NULL;
}

enum cushim_runs cushim_release_runs(int driver, int version)
{
    int family = version / 1000;
    if (version < 1000 || version % 10 != 0)
        return CUSHIM_RUNS_INVALID;
    if (driver <= 0)
        return CUSHIM_RUNS_NO_DRIVER;
    if (driver >= version)
        return CUSHIM_RUNS;
    return family >= FIRST_FAMILY && driver / 1000 == family ? CUSHIM_RUNS_LIMITED
                                                             : CUSHIM_RUNS_NOT;
}

enum cushim_runs cushim_driver_runs(const struct cushim_api *cu, int version)
{
    int driver = cu && cushim_status(cu) == CUSHIM_OK ? cushim_driver_version(cu) : 0;
    return cushim_release_runs(driver, version);
}

int cushim_release_ptx(int release)
{
    for (size_t i = 0; i < cushim_ptx_count; i++) {
        if (cushim_ptx[i].release == release)
            return cushim_ptx[i].ptx;
    }
    return 0;
}

int cushim_ptx_release(int ptx)
{
    for (size_t i = 0; i < cushim_ptx_count; i++) {
        if (cushim_ptx[i].ptx >= ptx)
            return cushim_ptx[i].release;
    }
    return 0;
}

int cushim_capability_release(int capability)
{
    for (size_t i = 0; i < cushim_targets_count; i++) {
        if (cushim_targets[i].capability == capability)
            return cushim_targets[i].release;
    }
    return 0;
}

bool cushim_release_has_compat(int release)
{
    return cushim_forward_since > 0 && release >= cushim_forward_since &&
           cushim_release_ptx(release) != 0;
}

bool cushim_toolkit_at(size_t index, struct cushim_toolkit *toolkit)
{
    struct cushim_toolkit known = {.size = sizeof known};
    if (!toolkit || toolkit->size < CUSHIM_LEAST(cushim_toolkit, windows_driver) ||
        index >= cushim_toolkits_count)
        return false;
    known.release = cushim_toolkits[index].release;
    known.update = cushim_toolkits[index].update;
    known.linux_driver = compat_text(cushim_toolkits[index].linux_driver);
    known.windows_driver = compat_text(cushim_toolkits[index].windows_driver);
    cushim_text_write_sized(toolkit, &known, sizeof known);
    return true;
}

bool cushim_family_floor(int major, const char **linux_driver, const char **windows_driver)
{
    for (size_t i = 0; i < cushim_families_count; i++) {
        if (cushim_families[i].major != major)
            continue;
        if (linux_driver)
            *linux_driver = compat_text(cushim_families[i].linux_driver);
        if (windows_driver)
            *windows_driver = compat_text(cushim_families[i].windows_driver);
        return true;
    }
    return false;
}

/* A driver's version as three numbers; false where the text is none. */
static bool compat_parse(const char *text, long part[3])
{
    part[2] = 0;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*text < '0') /* no number, and strtol would accept a space or a sign */
            return false;
        part[i] = strtol(text, &end, 10);
        if (*end == '\0')
            return i > 0;
        if (*end != '.')
            return false;
        text = end + 1;
    }
    return false;
}

static int compat_compare(const long a[3], const long b[3])
{
    for (int i = 0; i < 3; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

int cushim_driver_release(const char *version)
{
    long given[3], shipped[3];
    int release = 0;
    if (!version || !compat_parse(version, given))
        return 0;
    for (size_t i = 0; i < cushim_toolkits_count; i++) {
        const char *text = compat_text(cushim_toolkits[i].linux_driver);
        if (text && compat_parse(text, shipped) && compat_compare(shipped, given) <= 0)
            release = cushim_toolkits[i].release;
    }
    for (size_t i = 0; i < cushim_ptx_count; i++) { /* of which no toolkit's driver is that old */
        if (cushim_ptx[i].branch <= given[0] && cushim_ptx[i].release > release)
            release = cushim_ptx[i].release;
    }
    return release;
}

enum cushim_runs cushim_driver_runs_linux(const char *driver, int version)
{
    enum cushim_runs runs = cushim_release_runs(cushim_driver_release(driver), version);
    long given[3], oldest[3];
    const char *floor;
    if (runs == CUSHIM_RUNS_LIMITED && cushim_family_floor(version / 1000, &floor, NULL) &&
        compat_parse(driver, given) && compat_parse(floor, oldest) &&
        compat_compare(given, oldest) < 0)
        return CUSHIM_RUNS_NOT;
    return runs;
}
