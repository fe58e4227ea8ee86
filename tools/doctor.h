/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `cushim doctor` finds. docs/doctor.md lists all findings.
 */
#ifndef CUSHIM_TOOLS_DOCTOR_H
#define CUSHIM_TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_level { DOCTOR_OK = 0, DOCTOR_WARNING, DOCTOR_ERROR };

enum { DOCTOR_TEXT_SIZE = 640, DOCTOR_VERSION_SIZE = 32 };

struct doctor_finding {
    enum doctor_level level;
    const char *check; /* its name on the page; static */
    char text[DOCTOR_TEXT_SIZE];
    char fix[DOCTOR_TEXT_SIZE]; /* empty: none is needed */
};

struct doctor {
    const char *root; /* before each path: "" for this system */
    struct doctor_finding *finding;
    size_t count;
    char library[DOCTOR_VERSION_SIZE]; /* version of the driver's library; "" not known */
    char module[DOCTOR_VERSION_SIZE];  /* version of the kernel module; "" none */
    int release;                       /* of the driver; 0 not known */
    bool container, wsl;
    bool simulated; /* the driver has no need of the machine's GPU and kernel module */
};

/** Add a finding. */
__attribute__((format(printf, 4, 5))) void doctor_add(struct doctor *doctor,
                                                      enum doctor_level level, const char *check,
                                                      const char *format, ...);

/** The fix of the finding that was added last. */
__attribute__((format(printf, 2, 3))) void doctor_fix(struct doctor *doctor, const char *format,
                                                      ...);

/** Hardware, kernel module, device nodes, container and WSL. */
void doctor_system(struct doctor *doctor);

/** Driver libraries, toolkits and the compute cache. */
void doctor_files(struct doctor *doctor);

/** NVRTC and ptxas beside the toolkits. */
void doctor_compilers(struct doctor *doctor);

/** Variables and files that hide, redirect or slow down. */
void doctor_environment(struct doctor *doctor);

/** Whether the driver is a simulated one. */
bool doctor_simulated(void);

/** Load the driver, initialise it, and run a kernel. */
void doctor_driver(struct doctor *doctor);

#endif
