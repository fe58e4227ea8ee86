/* SPDX-License-Identifier: MIT */
#include <cushim/feature.h>

#include <stdio.h>
#include <string.h>

#include "helpers/feature_data.h"
#include "loader/last_error.h"
#include "loader/text.h"

#ifdef _WIN32
#define FEATURE_PLATFORM 2
#define FEATURE_PLATFORM_NAME "Windows"
#else
#define FEATURE_PLATFORM 1
#define FEATURE_PLATFORM_NAME "Linux"
#endif

/* What an answer was made of. */
struct evidence {
    size_t entry;    /* that the driver lacks */
    CUresult code;   /* of the query of the device */
    int value;       /* of the attribute */
    bool capability; /* whether the compute capability is what fails */
};

static const struct cushim_feature_data *feature_at(size_t number)
{
    return number < cushim_features_count ? &cushim_features[number] : NULL;
}

static const char *feature_string(uint16_t offset)
{
    return cushim_feature_strings + offset;
}

/* What the driver alone says, before any device is asked. */
static enum cushim_support feature_of_driver(const struct cushim_api *cu,
                                             const struct cushim_feature_data *data,
                                             struct evidence *evidence)
{
    if (data->platform && data->platform != FEATURE_PLATFORM)
        return CUSHIM_UNSUPPORTED_PLATFORM;
    if (!cu || cushim_status(cu) != CUSHIM_OK)
        return CUSHIM_UNSUPPORTED_NO_DRIVER;
    if (cushim_driver_version(cu) < data->since)
        return CUSHIM_UNSUPPORTED_DRIVER;
    for (size_t i = 0; i < data->entry_count; i++) {
        evidence->entry = cushim_feature_entries[data->entries + i];
        switch (cushim_slot_at(cu, evidence->entry).state) {
        case CUSHIM_STATE_AVAILABLE:
            break;
        case CUSHIM_STATE_NEWER:
            return CUSHIM_UNSUPPORTED_DRIVER;
        case CUSHIM_STATE_PLATFORM:
            return CUSHIM_UNSUPPORTED_PLATFORM;
        default:
            return CUSHIM_UNSUPPORTED_ABSENT;
        }
    }
    return CUSHIM_SUPPORTED;
}

/* An attribute of the device; SUPPORTED where the driver gave its value. */
static enum cushim_support feature_ask(const struct cushim_api *cu, CUdevice device, int attribute,
                                       int *value, struct evidence *evidence)
{
    evidence->code = cu->cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device);
    switch (evidence->code) {
    case CUDA_SUCCESS:
        return CUSHIM_SUPPORTED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_INVALID_VALUE: /* the driver does not know the attribute */
        return CUSHIM_SUPPORT_UNDECIDED;
    case CUDA_ERROR_NOT_SUPPORTED:
        *value = 0;
        return CUSHIM_SUPPORTED;
    default:
        return CUSHIM_SUPPORT_FAILED;
    }
}

static enum cushim_support feature_of_device(const struct cushim_api *cu, CUdevice device,
                                             const struct cushim_feature_data *data,
                                             struct evidence *evidence)
{
    int major = 0, minor = 0;
    enum cushim_support support = CUSHIM_SUPPORTED;

    if (data->attribute) {
        support = feature_ask(cu, device, data->attribute, &evidence->value, evidence);
        if (support != CUSHIM_SUPPORTED)
            return support;
        bool has = data->is_mask ? ((uint32_t)evidence->value & data->value) == data->value
                                 : evidence->value >= (int)data->value;
        if (!has)
            return CUSHIM_UNSUPPORTED_DEVICE;
    }
    if (data->capability) {
        support =
            feature_ask(cu, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major, evidence);
        if (support == CUSHIM_SUPPORTED)
            support = feature_ask(cu, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor,
                                  evidence);
        evidence->capability = true;
        evidence->value = 10 * major + minor;
        if (support == CUSHIM_SUPPORTED && evidence->value < data->capability)
            return CUSHIM_UNSUPPORTED_DEVICE;
    }
    return support;
}

static enum cushim_support feature_judge(const struct cushim_api *cu, CUdevice device,
                                         const struct cushim_feature_data *data,
                                         struct evidence *evidence)
{
    enum cushim_support support = feature_of_driver(cu, data, evidence);
    if (support != CUSHIM_SUPPORTED || (!data->attribute && !data->capability))
        return support;
    if (device == CUSHIM_NO_DEVICE)
        return CUSHIM_SUPPORT_UNDECIDED;
    return feature_of_device(cu, device, data, evidence);
}

enum cushim_support cushim_feature(const struct cushim_api *cu, CUdevice device,
                                   enum cushim_feature feature)
{
    struct evidence evidence = {0};
    const struct cushim_feature_data *data = feature_at((size_t)feature);
    return data ? feature_judge(cu, device, data, &evidence) : CUSHIM_SUPPORT_UNKNOWN;
}

static int feature_release(char *text, size_t size, int version)
{
    return snprintf(text, size, "CUDA %d.%d", CUSHIM_RELEASE(version));
}

/* Why this device lacks it, behind "NAME: ". */
static void feature_tell_device(char *text, size_t size, CUdevice device,
                                const struct cushim_feature_data *data,
                                const struct evidence *evidence)
{
    const char *attribute = feature_string(data->attribute_name);
    if (evidence->capability)
        snprintf(text, size, "it takes compute capability %d.%d, and device %d has %d.%d",
                 data->capability / 10, data->capability % 10, (int)device, evidence->value / 10,
                 evidence->value % 10);
    else if (data->is_mask)
        snprintf(text, size, "device %d lacks it: attribute %s is %#x, without the bits %#x",
                 (int)device, attribute, (unsigned)evidence->value, (unsigned)data->value);
    else if (data->value > 1)
        snprintf(text, size, "device %d lacks it: attribute %s is %d, less than %d", (int)device,
                 attribute, evidence->value, (int)data->value);
    else
        snprintf(text, size, "device %d lacks it: attribute %s is %d", (int)device, attribute,
                 evidence->value);
}

/* Why it cannot be told. */
static void feature_tell_undecided(char *text, size_t size, CUdevice device,
                                   const struct cushim_feature_data *data,
                                   const struct evidence *evidence)
{
    const char *attribute = feature_string(data->attribute_name);
    const char *teller = data->attribute ? attribute : "the compute capability";
    if (device == CUSHIM_NO_DEVICE)
        snprintf(text, size, "the driver has it; whether a device has, %s tells", teller);
    else if (evidence->code == CUDA_ERROR_NOT_INITIALIZED)
        snprintf(text, size, "the driver has it; whether device %d has, %s tells after cuInit",
                 (int)device, teller);
    else
        snprintf(text, size, "the driver has it, but is too old for attribute %s, which tells",
                 attribute);
}

static void feature_tell(char *text, size_t size, const struct cushim_api *cu, CUdevice device,
                         const struct cushim_feature_data *data, enum cushim_support support,
                         const struct evidence *evidence)
{
    struct cushim_entry entry;
    char own[32], needed[32];

    switch (support) {
    case CUSHIM_SUPPORTED:
        snprintf(text, size, "supported");
        break;
    case CUSHIM_UNSUPPORTED_DEVICE:
        feature_tell_device(text, size, device, data, evidence);
        break;
    case CUSHIM_UNSUPPORTED_DRIVER:
        feature_release(needed, sizeof needed, data->since);
        feature_release(own, sizeof own, cushim_driver_version(cu));
        snprintf(text, size, "it takes a driver of %s or later, and this one is of %s", needed,
                 own);
        break;
    case CUSHIM_UNSUPPORTED_ABSENT:
        snprintf(text, size, "the driver is new enough, but does not export %s",
                 cushim_entry_at(evidence->entry, &entry) ? entry.symbol : "an entry of it");
        break;
    case CUSHIM_UNSUPPORTED_PLATFORM:
        snprintf(text, size, "it does not exist on " FEATURE_PLATFORM_NAME);
        break;
    case CUSHIM_UNSUPPORTED_NO_DRIVER:
        snprintf(text, size, "there is no driver");
        break;
    case CUSHIM_SUPPORT_UNDECIDED:
        feature_tell_undecided(text, size, device, data, evidence);
        break;
    default:
        snprintf(text, size, "device %d could not be asked: cuDeviceGetAttribute returned %d",
                 (int)device, (int)evidence->code);
    }
}

const char *cushim_feature_reason(const struct cushim_api *cu, CUdevice device,
                                  enum cushim_feature feature, enum cushim_support *support,
                                  char *text, size_t size)
{
    struct evidence evidence = {0};
    const struct cushim_feature_data *data = feature_at((size_t)feature);
    enum cushim_support answer = CUSHIM_SUPPORT_UNKNOWN;

    if (data)
        answer = feature_judge(cu, device, data, &evidence);
    if (support)
        *support = answer;
    if (!text || size == 0)
        return "";
    if (!data) {
        snprintf(text, size, "this build of cushim knows no feature %d", (int)feature);
        return text;
    }
    int length = snprintf(text, size, "%s: ", feature_string(data->name));
    if (length > 0 && (size_t)length < size)
        feature_tell(text + length, size - (size_t)length, cu, device, data, answer, &evidence);
    return text;
}

bool cushim_feature_list(size_t index, struct cushim_feature_facts *facts)
{
    static const char *const platforms[] = {NULL, "linux", "windows"};
    const struct cushim_feature_data *data = feature_at(index);
    struct cushim_feature_facts known = {.size = sizeof known};

    if (!data || !facts || facts->size < CUSHIM_LEAST(cushim_feature_facts, entry_count))
        return false;
    known.feature = (enum cushim_feature)index;
    known.name = feature_string(data->name);
    known.group = feature_string(data->group);
    known.text = feature_string(data->text);
    known.platform = platforms[data->platform];
    known.since = data->since;
    known.capability = data->capability;
    known.entry_count = data->entry_count;
    if (data->attribute) {
        known.attribute = data->attribute;
        known.attribute_name = feature_string(data->attribute_name);
        known.attribute_mask = data->is_mask ? data->value : 0;
        known.attribute_minimum = data->is_mask ? 0 : (int)data->value;
    }
    cushim_text_write_sized(facts, &known, sizeof known);
    return true;
}

bool cushim_feature_find(const char *name, enum cushim_feature *feature)
{
    for (size_t i = 0; name && feature && i < cushim_features_count; i++) {
        if (strcmp(feature_string(cushim_features[i].name), name) == 0) {
            *feature = (enum cushim_feature)i;
            return true;
        }
    }
    return false;
}

bool cushim_feature_entry(enum cushim_feature feature, size_t index, size_t *entry)
{
    const struct cushim_feature_data *data = feature_at((size_t)feature);
    if (!data || !entry || index >= data->entry_count)
        return false;
    *entry = cushim_feature_entries[data->entries + index];
    return true;
}

const char *cushim_support_name(enum cushim_support support)
{
    static const char *const names[] = {
        [CUSHIM_SUPPORTED] = "supported",           [CUSHIM_UNSUPPORTED_DEVICE] = "device",
        [CUSHIM_UNSUPPORTED_DRIVER] = "driver",     [CUSHIM_UNSUPPORTED_ABSENT] = "absent",
        [CUSHIM_UNSUPPORTED_PLATFORM] = "platform", [CUSHIM_UNSUPPORTED_NO_DRIVER] = "no-driver",
        [CUSHIM_SUPPORT_UNDECIDED] = "undecided",   [CUSHIM_SUPPORT_FAILED] = "failed",
    };
    return (size_t)support < sizeof names / sizeof *names ? names[support] : "unknown";
}
