/* SPDX-License-Identifier: MIT */
/* Devices: which there are, and which of them the program sees; cuInit. */
#include "device/device.h"

#include <stdio.h>

struct sim_device sim_device_all[SIM_MAX_DEVICES];
static int visible;
static size_t memory_of_each; /* 0: not known yet */
static pid_t initialized_in;  /* 0: never */

static void make(int ordinal, int physical, size_t memory)
{
    sim_device_all[ordinal] =
        (struct sim_device){.ordinal = ordinal,
                            .physical = physical,
                            .profile = sim_config.profile,
                            .total = memory,
                            .primary_kept = sim_device_all[ordinal].primary_kept};
}

/* "GPU-" and the digits that `text` has, up to `end`: any unambiguous beginning of a uuid. */
static int by_uuid(const char *text, const char *end)
{
    int found = -1;
    for (int physical = 0; physical < sim_config.devices; physical++) {
        char full[SIM_UUID_TEXT];
        sim_identity_uuid_text(physical, full);
        if ((size_t)(end - text) >= sizeof full || strncmp(text, full, (size_t)(end - text)) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = physical;
    }
    return found;
}

/* The device that one item of the list names, or -1. */
static int item(const char *text, const char *end)
{
    char *stop;
    if (end - text >= 4 && strncmp(text, "GPU-", 4) == 0)
        return by_uuid(text, end);
    long number = strtol(text, &stop, 10);
    while (stop < end && (*stop == ' ' || *stop == '\t'))
        stop++;
    return stop == end && stop > text && number >= 0 && number < sim_config.devices ? (int)number
                                                                                    : -1;
}

/* CUDA_VISIBLE_DEVICES: the list counts up to its first item that names no device; one that names
 * a device twice leaves none. */
static void choose(const char *list, size_t memory)
{
    bool used[SIM_MAX_DEVICES] = {false};
    int count = 0;
    for (const char *text = list; count < SIM_MAX_DEVICES;) {
        text += strspn(text, " \t");
        const char *end = text + strcspn(text, ",");
        int physical = item(text, end);
        if (physical < 0)
            break;
        if (used[physical]) {
            count = 0;
            break;
        }
        used[physical] = true;
        make(count++, physical, memory);
        if (!*end)
            break;
        text = end + 1;
    }
    visible = count;
}

void sim_device_make_all(void)
{
    const char *list = secure_getenv("CUDA_VISIBLE_DEVICES");
    if (!memory_of_each)
        memory_of_each = sim_identity_memory();
    if (list) {
        choose(list, memory_of_each);
        return;
    }
    visible = sim_config.devices;
    for (int i = 0; i < visible; i++)
        make(i, i, memory_of_each);
}

void sim_device_forget(void)
{
    memory_of_each = 0;
    initialized_in = 0;
}

void sim_device_note_usage(void)
{
    for (int i = 0; i < visible; i++) {
        const struct sim_device *device = &sim_device_all[i];
        bool contexts = device->primary;
        SIM_EACH (const struct sim_context, context, SIM_CONTEXT)
            contexts |= context->device == device;
        sim_usage_note(device->physical, device->used, contexts);
    }
}

/* A child of a process that called cuInit cannot use the driver. */
bool sim_device_initialized(void)
{
    return initialized_in == getpid();
}

int sim_device_count(void)
{
    /* A program may set CUDA_VISIBLE_DEVICES itself, before cuInit. */
    if (!sim_device_initialized())
        sim_device_make_all();
    return visible;
}

CUresult sim_cuInit(unsigned int Flags)
{
    SIM_REFUSE(Flags != 0);
    SIM_FAIL(NOT_INITIALIZED, initialized_in != 0 && !sim_device_initialized());
    SIM_FAIL(NO_DEVICE, sim_device_count() == 0);
    initialized_in = getpid();
    return CUDA_SUCCESS;
}

struct sim_device *sim_device(CUdevice device)
{
    return device >= 0 && device < visible ? &sim_device_all[device] : NULL;
}

CUresult sim_device_of(CUdevice handle, struct sim_device **device)
{
    struct sim_device *found = sim_device(handle);
    SIM_PUT(device, found);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

int sim_device_architecture(const struct sim_device *device)
{
    return sim_profile_capability(device->profile);
}

unsigned sim_device_group(const struct sim_device *device)
{
    return sim_device_architecture(device) >= 90 ? 8 : 2;
}

bool sim_device_attribute(const struct sim_device *device, int attribute, int *value)
{
    if (!sim_profile_attribute(device->profile, attribute, sim_config.cuda, value))
        return false;
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *value = sim_identity_bus(device->physical);
    return true;
}

int sim_device_value(const struct sim_device *device, int attribute)
{
    int value = 0;
    sim_device_attribute(device, attribute, &value);
    return value;
}

void sim_device_fail(struct sim_device *device, CUresult error)
{
    if (device->failed != CUDA_SUCCESS)
        return;
    device->failed = error;
    SIM_EACH (struct sim_context, context, SIM_CONTEXT)
        if (context->device == device)
            context->sticky = error;
}

/* Every simulated device reaches every other. */
bool sim_device_reaches(const struct sim_device *from, const struct sim_device *to)
{
    return from != to;
}

/* --- What tells one device from another: name, uuid, place on the bus --- */

#define PCI_TEXT 13 /* "0000:01:00.0" and NUL */

SIM_SET(cuDeviceGetName, struct sim_device *, device,
        (!name || len <= 0) ? CUDA_ERROR_INVALID_VALUE : sim_device_of(dev, &device), false,
        snprintf(name, (size_t)len, "%s", device->profile->device_name))

SIM_TELL(cuDeviceGetUuid_v2, uuid, struct sim_device *device, sim_device_of(dev, &device),
         sim_identity_uuid(device->physical))

/* A number that Windows gives to adapters. */
SIM_WITH(cuDeviceGetLuid, struct sim_device *, device,
         luid &&deviceNodeMask ? sim_device_of(dev, &device) : CUDA_ERROR_INVALID_VALUE,
         CUDA_ERROR_NOT_SUPPORTED)

/* What there is room for is written even where it is too little. */
CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice_v1 dev)
{
    char text[PCI_TEXT];
    SIM_REFUSE(!pciBusId || len <= 0);
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    snprintf(text, sizeof text, "0000:%02X:00.0",
             (unsigned)sim_identity_bus(device->physical) & 0xffU);
    snprintf(pciBusId, (size_t)len, "%s", text);
    return len < PCI_TEXT ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* "domain:bus:device.function", "domain:bus:device" or "bus:device.function", in hexadecimal. */
static bool parse_pci(const char *text, unsigned place[4])
{
    int end = 0;
    memset(place, 0, 4 * sizeof *place);
    if (sscanf(text, "%x:%x:%x.%x%n", &place[0], &place[1], &place[2], &place[3], &end) == 4 &&
        end > 0 && !text[end])
        return true;
    place[3] = 0;
    if (sscanf(text, "%x:%x:%x%n", &place[0], &place[1], &place[2], &end) == 3 && !text[end])
        return true;
    place[0] = 0;
    return sscanf(text, "%x:%x.%x%n", &place[1], &place[2], &place[3], &end) == 3 && !text[end];
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice_v1 *dev, const char *pciBusId)
{
    unsigned place[4];
    SIM_REFUSE(!dev || !pciBusId || !parse_pci(pciBusId, place));
    for (int i = 0; i < sim_device_count(); i++)
        if (place[0] == 0 && place[1] == (unsigned)sim_identity_bus(sim_device_all[i].physical) &&
            place[2] == 0 && place[3] == 0) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}
