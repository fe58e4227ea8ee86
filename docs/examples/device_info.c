/* SPDX-License-Identifier: MIT */
/* The driver and its devices: what they are, and single attributes by name. */
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>

#define MOST 16

static void print_driver(const struct cushim_api *cu)
{
    size_t available = 0;
    for (size_t i = 0; i < cushim_entry_count(); i++)
        available += cushim_slot_at(cu, i).state == CUSHIM_STATE_AVAILABLE;
    printf("cushim %s, which knows CUDA up to %d.%d\n", cushim_version(),
           cushim_registry_version() / 1000, cushim_registry_version() % 1000 / 10);
    printf("%s at %p\n%zu of %zu functions\n", cushim_path(cu), cushim_base(cu), available,
           cushim_entry_count());
}

/* Not every driver knows every attribute, and not every device has it: three answers. */
static bool print_attribute(const struct cushim_api *cu, CUdevice device, const char *name)
{
    int value = 0;
    enum cushim_answer answer;
    if (!CUSHIM_CHECK(cushim_device_attribute_named(cu, device, name, &value, &answer)))
        return false;
    if (answer == CUSHIM_ANSWER_VALUE)
        printf("   %s: %d\n", name, value);
    else
        printf("   %s: %s\n", name,
               answer == CUSHIM_ANSWER_UNKNOWN ? "not known to this driver" : "none");
    return true;
}

/* All attributes that this build knows, whether the driver and the device have them or not. */
static int count_attributes(const struct cushim_api *cu, CUdevice device)
{
    struct cushim_attribute attribute;
    int with_value = 0;
    for (size_t i = 0; i < cushim_attribute_count(); i++) {
        enum cushim_answer answer;
        int value = 0;
        if (!cushim_attribute_at(i, &attribute) ||
            !CUSHIM_CHECK(cushim_device_attribute(cu, device, attribute.number, &value, &answer)))
            return 0;
        with_value += answer == CUSHIM_ANSWER_VALUE;
    }
    return with_value;
}

static bool print_device(const struct cushim_api *cu, CUdevice device)
{
    struct cushim_device_properties is = {.size = sizeof is};
    if (!CUSHIM_CHECK(cushim_device_describe(cu, device, &is)))
        return false;
    printf("%d: %s, %s, PCI %s\n", device, is.name, is.uuid, is.pci_bus_id);
    printf("   compute capability %d.%d, %d multiprocessors, %zu MiB\n", is.major, is.minor,
           is.multiprocessors, is.total_memory >> 20);
    printf("   blocks of %d threads, %d bytes of shared memory (%d on request)\n",
           is.max_threads_per_block, is.shared_memory_per_block, is.shared_memory_per_block_optin);
    int with_value = count_attributes(cu, device);
    printf("   %d of %zu attributes have a value\n", with_value, cushim_attribute_count());
    return with_value > 0 && is.total_memory > 0 && is.max_threads_per_block > 0 &&
           print_attribute(cu, device, "L2_CACHE_SIZE") &&
           print_attribute(cu, device, "COOPERATIVE_LAUNCH") &&
           print_attribute(cu, device, "MULTICAST_SUPPORTED");
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUdevice devices[MOST];
    int count = 0;
    if (cushim_device_list(cu, devices, MOST, &count) != CUDA_SUCCESS) {
        printf("skipped: %s\n", cushim_last_error());
        return 77;
    }
    print_driver(cu);
    for (int i = 0; i < count && i < MOST; i++)
        if (!print_device(cu, devices[i]))
            return 1;
    return 0;
}
