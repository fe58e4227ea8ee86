/* SPDX-License-Identifier: MIT */
/* Devices. */
#ifndef CUSHIM_SIM_DEVICE_DEVICE_H
#define CUSHIM_SIM_DEVICE_DEVICE_H

#include "core/core.h"

struct sim_device {
    int ordinal;
    const struct sim_profile *profile;
    size_t total, used;          /* bytes of memory */
    struct sim_context *primary; /* NULL: inactive */
    unsigned primary_count, primary_flags;
    CUresult failed;                  /* an error that nothing but the process's end mends */
    int physical;                     /* its number without CUDA_VISIBLE_DEVICES */
    struct sim_context *primary_kept; /* the primary context's memory, active or not */
    bool primary_closing;             /* its end waits for its work */
    char *primary_last;               /* what retained it last while it was active, or NULL */
};
extern struct sim_device sim_device_all[SIM_MAX_DEVICES];
int sim_device_count(void);                     /* those that CUDA_VISIBLE_DEVICES leaves */
struct sim_device *sim_device(CUdevice device); /* NULL: no such device */
CUresult sim_device_of(CUdevice handle,
                       struct sim_device **device); /* the same, by a code; into NULL: only that */
/* Value of an attribute; false: this driver does not know it. */
bool sim_device_attribute(const struct sim_device *device, int attribute, int *value);
int sim_device_value(const struct sim_device *device, int attribute); /* the same; 0 if not known */
int sim_device_architecture(const struct sim_device *device);         /* 90 */
/* Multiprocessors that can be set apart only together, where nothing else is asked for. */
unsigned sim_device_group(const struct sim_device *device);
void sim_device_make_all(void);    /* from the settings */
void sim_device_forget(void);      /* the settings will be others, cuInit is to be called again */
bool sim_device_initialized(void); /* cuInit has succeeded in this very process */
/* What a device does after such an error is lost: all its contexts answer it from now on, and none
 * can be made, until the process ends. */
void sim_device_fail(struct sim_device *device, CUresult error);
bool sim_device_reaches(const struct sim_device *from, const struct sim_device *to);

/* Note what each device has in use, for other processes (core/usage.c). */
void sim_device_note_usage(void);

/* --- identity.c --- What is fixed of a device by its number and the settings: the same in every
 * process, and for the simulated NVML. */
#define SIM_UUID_TEXT 41 /* "GPU-", 36 characters, NUL */

CUuuid sim_identity_uuid(int physical);
char *sim_identity_uuid_text(int physical, char text[SIM_UUID_TEXT]); /* the text */
int sim_identity_bus(int physical);                                   /* number of its PCI bus */
size_t sim_identity_memory(void); /* bytes of each device, by the settings */

#endif
