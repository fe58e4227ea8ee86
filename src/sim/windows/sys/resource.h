/* SPDX-License-Identifier: MIT */
/* Windows limits no process's addresses. */
#ifndef CUSHIM_SIM_WINDOWS_RESOURCE_H
#define CUSHIM_SIM_WINDOWS_RESOURCE_H

#include <stdint.h>

struct rlimit {
    uint64_t rlim_cur;
};
#define RLIM_INFINITY UINT64_MAX
#define RLIMIT_AS 0
#define getrlimit(what, limit) ((limit)->rlim_cur = RLIM_INFINITY, 0)

#endif
