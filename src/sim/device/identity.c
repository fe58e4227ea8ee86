/* SPDX-License-Identifier: MIT */
#include "device/device.h"

#include <stdio.h>

/* The same for every process, different for every device. */
CUuuid sim_identity_uuid(int physical)
{
    CUuuid uuid;
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(physical + 1);
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        state ^= state >> 33;
        state *= UINT64_C(0xff51afd7ed558ccd);
        uuid.bytes[i] = (char)(state >> 56);
    }
    uuid.bytes[6] = (char)((uuid.bytes[6] & 0x0f) | 0x40); /* "made of random numbers" */
    uuid.bytes[8] = (char)((uuid.bytes[8] & 0x3f) | 0x80);
    return uuid;
}

char *sim_identity_uuid_text(int physical, char text[SIM_UUID_TEXT])
{
    CUuuid uuid = sim_identity_uuid(physical);
    int at = snprintf(text, SIM_UUID_TEXT, "GPU-");
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        at += snprintf(text + at, SIM_UUID_TEXT - (size_t)at, "%s%02x", dash,
                       (unsigned)(unsigned char)uuid.bytes[i]);
    }
    return text;
}

int sim_identity_bus(int physical)
{
    return 1 + 3 * physical;
}

/* Programs take much of what is free, and memory is the host's: unless a size was asked for, all
 * devices together have half of what the process may use. */
size_t sim_identity_memory(void)
{
    const size_t least = (size_t)256 << 20, step = (size_t)2 << 20;
    int devices = sim_config.devices ? sim_config.devices : 1;
    if (sim_config.memory)
        return sim_config.memory;
    size_t share = (size_t)sim_machine_read("").memory / 2 / (size_t)devices / step * step;
    share = share < least ? least : share;
    return share < sim_config.profile->memory ? share : sim_config.profile->memory;
}
