/* SPDX-License-Identifier: MIT */
/*
 * A note for packagers: this library or program opens another if there is one. The format is that
 * of "Package metadata for dlopen" of systemd's file formats; priorities are its words.
 */
#ifndef CUSHIM_LOADER_DLOPEN_NOTE_H
#define CUSHIM_LOADER_DLOPEN_NOTE_H

#ifdef __ELF__
#include <link.h>

#define CUSHIM_DLOPEN_TEXT(feature, description, library)                                          \
    "[{\"feature\":\"" feature "\",\"description\":\"" description                                 \
    "\",\"priority\":\"suggested\",\"soname\":[\"" library "\"]}]"
#define CUSHIM_DLOPEN_NOTE(name, feature, description, library)                                    \
    static const struct {                                                                          \
        ElfW(Nhdr) header;                                                                         \
        char owner[sizeof "FDO"];                                                                  \
        char text[sizeof CUSHIM_DLOPEN_TEXT(feature, description, library)];                       \
    } name __attribute__((used, aligned(4), section(".note.dlopen"))) = {                          \
        {sizeof "FDO", sizeof CUSHIM_DLOPEN_TEXT(feature, description, library), 0x407c0c0a},      \
        "FDO",                                                                                     \
        CUSHIM_DLOPEN_TEXT(feature, description, library)}
#endif

#endif
