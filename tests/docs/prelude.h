/* SPDX-License-Identifier: MIT */
/* What a fragment of the pages may use. test_docs.py puts the fragment into show(). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>
#include <cushim/stream.h>

/* A device and its context, if there are any. */
static struct cushim_device_scope prelude_device;

static int prelude_enter(const struct cushim_api *cu)
{
    prelude_device.size = sizeof prelude_device;
    return cushim_device_enter(cu, 0, &prelude_device) == CUDA_SUCCESS;
}

static void prelude_leave(void)
{
    cushim_device_leave(&prelude_device);
}

#define PTX "../../kernels/saxpy.ptx"
