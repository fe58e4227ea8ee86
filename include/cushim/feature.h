/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Features: what a driver and a device can do, by name, and why not.
 *
 *     if (cushim_feature(cu, device, CUSHIM_FEATURE_MEMORY_POOLS) == CUSHIM_SUPPORTED)
 *         use_pools(cu, device);
 *
 * An answer comes from three places and nowhere else: the entries that the driver exports, its
 * release, and the device's own attributes. Nothing here calls cuInit: before it, the features that
 * depend on the device are undecided, and those that do not are answered all the same.
 *
 * A program that uses no features does not carry their list.
 */
#ifndef CUSHIM_FEATURE_H
#define CUSHIM_FEATURE_H

#include <cushim/cushim.h>
#include <cushim/feature_names.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Instead of a device: answer for the driver alone. */
#define CUSHIM_NO_DEVICE (-1)

/** Whether there is a feature, and if not, why. Values never change. */
enum cushim_support {
    CUSHIM_SUPPORTED = 0,
    CUSHIM_UNSUPPORTED_DEVICE,    /**< the driver has it, this device does not */
    CUSHIM_UNSUPPORTED_DRIVER,    /**< the driver is older than the release that brought it */
    CUSHIM_UNSUPPORTED_ABSENT,    /**< the driver is new enough, but lacks an entry of it */
    CUSHIM_UNSUPPORTED_PLATFORM,  /**< it exists on another platform only */
    CUSHIM_UNSUPPORTED_NO_DRIVER, /**< there is no driver */
    CUSHIM_SUPPORT_UNDECIDED,     /**< the device decides: there is none yet (cuInit), or none was
                                     named, or the driver is too old for the attribute that tells */
    CUSHIM_SUPPORT_FAILED,        /**< the device could not be asked, such as for a wrong number */
    CUSHIM_SUPPORT_UNKNOWN        /**< this build knows no such feature */
};

/**
 * Whether a driver and a device have a feature.
 *
 * @param device   number of a device, as cuDeviceGet gives it, or CUSHIM_NO_DEVICE
 * @param feature  a CUSHIM_FEATURE_* constant
 * @return any of enum cushim_support
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_support cushim_feature(const struct cushim_api *cu, CUdevice device,
                                                 enum cushim_feature feature);

/**
 * The same with a sentence: what is missing, and the release, attribute or compute capability that
 * would bring it.
 *
 * @param device   as for cushim_feature
 * @param feature  as for cushim_feature
 * @param support  may be NULL; the answer as a value
 * @param text     at least 1 byte; cut where it does not hold the sentence (256 bytes always do)
 * @param size     of `text`, in bytes
 * @return `text`
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_feature_reason(const struct cushim_api *cu, CUdevice device,
                                                enum cushim_feature feature,
                                                enum cushim_support *support, char *text,
                                                size_t size);

/** What the registry has about a feature. Strings are static. */
struct cushim_feature_facts {
    size_t size;                 /**< of this structure; set by the caller */
    enum cushim_feature feature; /**< its number */
    const char *name;            /**< "memory-pools" */
    const char *group;           /**< "memory" */
    const char *text;            /**< a few words: "pools that streams allocate from" */
    const char *platform;        /**< "linux", "windows", or NULL for any */
    const char *attribute_name;  /**< "MEMORY_POOLS_SUPPORTED"; NULL where no attribute tells */
    int attribute;               /**< its number; 0 for none */
    unsigned attribute_mask;     /**< bits of it that must be set; 0: none need be */
    int attribute_minimum;       /**< its least value; 0 where a mask tells, or nothing */
    int since;                   /**< release that brought it: 11020 is 11.2 */
    int capability;              /**< least compute capability: 90 is 9.0; 0 for any */
    size_t entry_count;          /**< entries that it takes, for cushim_feature_entry */
};

/**
 * The features one after the other, in the order of their numbers.
 *
 *     struct cushim_feature_facts facts = {sizeof facts};
 *     for (size_t i = 0; cushim_feature_list(i, &facts); i++)
 *
 * @param index  from 0
 * @param facts  its `size` is set; written on success
 * @return false behind the last one, and for facts that are NULL or of no known size
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_feature_list(size_t index, struct cushim_feature_facts *facts);

/**
 * A feature by its name.
 *
 * @param name     "memory-pools"
 * @param feature  written on success
 * @return false where this build knows no such name
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_feature_find(const char *name, enum cushim_feature *feature);

/**
 * An entry that a feature takes.
 *
 * @param feature  a CUSHIM_FEATURE_* constant
 * @param index    0 to entry_count - 1
 * @param entry    for cushim_entry_at and cushim_slot_at; written on success
 * @return false if the index is out of range or the feature is unknown
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_feature_entry(enum cushim_feature feature, size_t index, size_t *entry);

/**
 * An answer as a word: the constant's name without its prefix, in lower case.
 *
 * @param support  any value
 * @return "device", for example; "unknown" for a value that is no answer. A static string
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC const char *cushim_support_name(enum cushim_support support);

#ifdef __cplusplus
}
#endif

#endif
