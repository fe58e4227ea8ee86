/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_SYS_STAT_H
#define STUB_SYS_STAT_H
#include <stddef.h>
struct _stat64 {
    unsigned short st_mode;
};
#define _S_IFREG 0x8000
int _wstat64(const wchar_t *path, struct _stat64 *about);
#endif
