/* SPDX-License-Identifier: MIT */
/* What differs between the thin libraries, beside the list of their exports. */
#include "thin/thin.h"

const int sim_thin_version = SIM_VERSION;
