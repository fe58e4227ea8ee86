/* SPDX-License-Identifier: MIT */
/* Reading memory that may not be there. */
#ifndef CUSHIM_SIM_WINDOWS_UIO_H
#define CUSHIM_SIM_WINDOWS_UIO_H

#include <stddef.h>

struct iovec {
    void *iov_base;
    size_t iov_len;
};

/* Of this process, one range. */
long long process_vm_readv(int process, const struct iovec *to, int to_count,
                           const struct iovec *from, int from_count, unsigned long flags);

#endif
