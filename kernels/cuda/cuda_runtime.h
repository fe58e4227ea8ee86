/* SPDX-License-Identifier: MIT */
/* For kernels that include it: all that cushim-embed has is already there. */
#include "subset.h"
