/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_ERRNO_H
#define STUB_ERRNO_H
int *_errno(void);
#define errno (*_errno())
#define ENOENT 2
#define ENOTDIR 20
#define EISDIR 21
#endif
