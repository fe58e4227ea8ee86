/* SPDX-License-Identifier: MIT */
/* What the command uses of <fts.h>: files below folders. A link within a folder is left out. */
#ifndef CUSHIM_WINDOWS_FTS_H
#define CUSHIM_WINDOWS_FTS_H

enum { FTS_PHYSICAL = 1, FTS_COMFOLLOW = 2, FTS_NOCHDIR = 4, FTS_ROOTLEVEL = 0 };
enum { FTS_D = 1, FTS_F, FTS_DNR, FTS_ERR, FTS_NS, FTS_DC, FTS_SLNONE, FTS_DEFAULT };

typedef struct fts FTS;
typedef struct {
    int fts_info, fts_level, fts_errno;
    char *fts_path, *fts_accpath, *fts_name;
} FTSENT;

/* Files of a folder come by name, whatever `compare` is. */
FTS *fts_open(char *const *paths, int options, int (*compare)(const FTSENT **a, const FTSENT **b));
FTSENT *fts_read(FTS *tree); /* lives until the next call */
int fts_close(FTS *tree);

#endif
