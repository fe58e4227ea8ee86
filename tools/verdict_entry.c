/* SPDX-License-Identifier: MIT */
/* What a program needs of an entry, and whether a driver has it. */
#include "verdict.h"

#include "known.h"

#include <string.h>

bool verdict_requires(const struct scan_file *file, size_t index)
{
    return file->how[index] & SCAN_LINKED;
}

bool verdict_calls(const struct scan_file *file, size_t index)
{
    return !verdict_requires(file, index) && file->how[index] & SCAN_CALLED;
}

/* Another ABI of the name, which the program names too and the driver has. */
static bool has_alternative(const struct scan_file *file, const struct subject *driver,
                            size_t index)
{
    struct cushim_entry entry = known_entry(index), other;

    for (size_t i = 0; cushim_entry_at(i, &other); i++) {
        if (i != index && driver->has[i] && other.stream == entry.stream &&
            (file->how[i] & (SCAN_LINKED | SCAN_CALLED) ||
             (file->how[i] & (SCAN_NAMED | SCAN_MENTIONED)) == SCAN_NAMED) &&
            strcmp(other.name, entry.name) == 0)
            return true;
    }
    return false;
}

bool verdict_may_need(const struct scan_file *file, size_t index)
{
    return !verdict_requires(file, index) && !file->cushim && file->how[index] & SCAN_NAMED &&
           !(file->how[index] & (SCAN_WEAK | SCAN_CALLED));
}

bool verdict_may_use(const struct scan_file *file, size_t index)
{
    return !verdict_requires(file, index) && !verdict_calls(file, index) &&
           !verdict_may_need(file, index) && !file->cushim &&
           file->how[index] & (SCAN_WEAK | SCAN_ASKED);
}

bool verdict_driver_has(const struct scan_file *file, const struct subject *driver, size_t index)
{
    struct cushim_entry entry = known_entry(index);

    if (driver->has[index] || !known_on(index, KNOWN_HERE) ||
        (verdict_may_need(file, index) && has_alternative(file, driver, index)))
        return true;
    /* Where a name stands for any ABI, any will do. */
    return !(file->how[index] & (SCAN_LINKED | SCAN_CALLED | SCAN_NAMED)) &&
           file->how[index] & SCAN_ASKED &&
           subject_newest(driver, entry.name, entry.stream) != KNOWN_NONE;
}

size_t verdict_later_abi(const struct scan_file *file, size_t index, int since)
{
    struct cushim_entry entry = known_entry(index), other;
    size_t later = KNOWN_NONE;

    if (!(file->how[index] & SCAN_NAMED) || file->asks || file->cushim ||
        strcmp(entry.name, entry.symbol) != 0)
        return KNOWN_NONE;
    for (size_t i = 0; cushim_entry_at(i, &other); i++) {
        if (i == index || other.stream != entry.stream || strcmp(other.name, entry.name) != 0)
            continue;
        if (file->how[i] != 0)
            return KNOWN_NONE;
        if (since == 0 || other.since == since)
            later = i;
    }
    return later;
}
