/* SPDX-License-Identifier: MIT */
/* What differs between the libraries: the version that each presents. */
#include "sim_version.h"

const int sim_built_version = SIM_VERSION;
