/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include "command.h"
#include "output.h"

#include <stdio.h>

static void read_uuid(const struct cushim_api *cu, struct device_facts *facts)
{
    /* Where the bytes are grouped, as in GPU-01234567-89ab-cdef-0123-456789abcdef. */
    enum { GROUPS = 1 << 4 | 1 << 6 | 1 << 8 | 1 << 10 };
    CUuuid uuid;
    char *text = facts->uuid;

    /* The first ABI names the whole GPU, also where the device is a part of one. */
    if (!CUSHIM_HAS(cu, cuDeviceGetUuid_v1) ||
        cu->cuDeviceGetUuid_v1(&uuid, facts->device) != CUDA_SUCCESS)
        return;
    text += sprintf(text, "GPU-");
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        text += sprintf(text, "%s%02x", (GROUPS >> i & 1) != 0 ? "-" : "",
                        (unsigned)(unsigned char)uuid.bytes[i]);
    }
}

bool device_read(const struct cushim_api *cu, int ordinal, struct device_facts *facts)
{
    *facts = (struct device_facts){.ordinal = ordinal};
    if (cu->cuDeviceGet(&facts->device, ordinal) != CUDA_SUCCESS)
        return false;

    if (cu->cuDeviceGetName(facts->name, sizeof facts->name, facts->device) != CUDA_SUCCESS)
        facts->name[0] = '\0';
    if (cu->cuDeviceGetPCIBusId(facts->pci, sizeof facts->pci, facts->device) != CUDA_SUCCESS)
        facts->pci[0] = '\0';
    (void)cu->cuDeviceGetAttribute(&facts->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                   facts->device);
    (void)cu->cuDeviceGetAttribute(&facts->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                   facts->device);
    (void)cu->cuDeviceTotalMem(&facts->memory, facts->device);
    read_uuid(cu, facts);
    return true;
}

const char *device_memory(char text[DEVICE_TEXT_SIZE], size_t bytes)
{
    double mebibytes = (double)bytes / (1024.0 * 1024.0);

    if (mebibytes < 1024.0)
        snprintf(text, DEVICE_TEXT_SIZE, "%.1f MiB", mebibytes);
    else
        snprintf(text, DEVICE_TEXT_SIZE, "%.1f GiB", mebibytes / 1024.0);
    return text;
}

static json_t *device_json(const struct device_facts *facts)
{
    json_t *object = json_object();
    char capability[DEVICE_TEXT_SIZE];

    snprintf(capability, sizeof capability, "%d.%d", facts->major, facts->minor);
    output_json_set(object, "ordinal", json_integer(facts->ordinal));
    output_json_set(object, "name", output_json_text(facts->name));
    output_json_set(object, "compute_capability", json_string(capability));
    output_json_set(object, "memory", json_integer((json_int_t)facts->memory));
    output_json_set(object, "uuid", output_json_text(facts->uuid[0] ? facts->uuid : NULL));
    output_json_set(object, "pci", output_json_text(facts->pci[0] ? facts->pci : NULL));
    output_json_set(object, "nvml",
                    facts->managed ? management_json(&facts->management) : json_null());
    return object;
}

static void add_row(struct output_table *table, const struct device_facts *facts)
{
    char text[DEVICE_TEXT_SIZE];

    snprintf(text, sizeof text, "%d", facts->ordinal);
    output_table_add(table, OUTPUT_PLAIN, text);
    output_table_add(table, OUTPUT_GOOD, facts->name);
    snprintf(text, sizeof text, "compute %d.%d", facts->major, facts->minor);
    output_table_add(table, OUTPUT_PLAIN, text);
    output_table_add(table, OUTPUT_PLAIN, device_memory(text, facts->memory));
    output_table_add(table, OUTPUT_PLAIN, facts->pci[0] ? facts->pci : "-");
    output_table_add(table, OUTPUT_PLAIN, facts->uuid[0] ? facts->uuid : "-");
}

/* A sentence where there is no device to describe, else an empty one. */
static const char *count_devices(const struct cushim_api *cu, int *count)
{
    static char text[DEVICE_TEXT_SIZE];
    CUresult code = cu->cuDeviceGetCount(count);
    const char *name = cushim_error_name(code);

    if (code != CUDA_SUCCESS) {
        *count = 0;
        snprintf(text, sizeof text, "cuDeviceGetCount failed: %s (%d)",
                 name ? name : "unknown code", (int)code);
        return text;
    }
    return *count > 0 ? "" : "the driver started, but lists no device";
}

/* What NVML adds, a line of its own. */
static void add_management(struct output_table *table, const struct device_facts *facts)
{
    char number[DEVICE_TEXT_SIZE], text[MANAGEMENT_TEXT_SIZE];

    snprintf(number, sizeof number, "%d", facts->ordinal);
    output_table_add(table, OUTPUT_PLAIN, number);
    output_table_add(table, facts->management.known ? OUTPUT_PLAIN : OUTPUT_WARNING,
                     management_words(text, &facts->management));
}

int devices_report(const struct cushim_api *cu, json_t *root)
{
    struct output_table rows = {.columns = 6}, managed = {.columns = 2};
    json_t *devices = json_array();
    const char *message = "", *why = "";
    enum cushim_status status;
    int count = 0, readable = 0;

    fflush(stdout); /* an old driver forks here */
    status = cushim_init(cu);
    message = status == CUSHIM_OK ? "" : cushim_message(cu);
    if (status == CUSHIM_OK)
        message = count_devices(cu, &count);
    bool manages = count > 0 && management_start(&why);
    for (int i = 0; i < count; i++) {
        struct device_facts facts;
        if (!device_read(cu, i, &facts))
            continue;
        readable++;
        facts.managed = manages;
        if (manages)
            management_read(cu, facts.device, &facts.management);
        if (root)
            output_json_append(devices, device_json(&facts));
        else
            add_row(&rows, &facts);
        if (manages && !root)
            add_management(&managed, &facts);
    }

    if (readable == 0 && message[0] == '\0')
        message = "the driver does not describe any of its devices";

    if (root) {
        json_t *init = json_object();
        output_json_set(init, "status", json_string(cushim_status_name(status)));
        output_json_set(init, "message", output_json_text(message));
        output_json_set(init, "devices", devices);
        output_json_set(root, "init", init);
    } else {
        json_decref(devices);
        output_text(OUTPUT_TITLE, "Devices");
        putchar('\n');
        if (readable == 0) {
            output_field("none", OUTPUT_BAD, message);
#ifdef HAVE_SIM
            output_field("hint", OUTPUT_PLAIN,
                         "a simulated one: 'cushim demo', or 'cushim sim -- PROGRAM'");
#endif
        }
    }
    output_table_print(&rows, "  ");
    if (!root && (manages || *why)) {
        output_text(OUTPUT_TITLE, "What NVML tells of them");
        putchar('\n');
        if (!manages)
            output_field("none", OUTPUT_WARNING, why);
    }
    output_table_print(&managed, "  ");
    return readable > 0 ? COMMAND_OK : COMMAND_NO_DRIVER;
}
