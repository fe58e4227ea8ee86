/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

void recording_check(CUresult code, const char *what)
{
    const char *name = "unknown";
    if (code == CUDA_SUCCESS)
        return;
    cuGetErrorName(code, &name);
    printf("%s: %s\n", what, name);
    exit(1);
}

bool recording_open(struct recording *recording, int count, char **words)
{
    recording->anew = count == 3 && strcmp(words[1], "record") == 0;
    if (count == 2 + recording->anew)
        recording->file = fopen(words[count - 1], recording->anew ? "w" : "r");
    return recording->file;
}

CUdevice recording_device(void)
{
    CUdevice device;
    CUcontext context;
    int major = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
            CUDA_SUCCESS ||
        major != 9) {
        printf("no device of compute capability 9.0\n");
        exit(77);
    }
    recording_check(cuDevicePrimaryCtxRetain(&context, device), "context");
    recording_check(cuCtxSetCurrent(context), "context");
    return device;
}

void recording_line(struct recording *recording, const char *line)
{
    char want[300] = "";
    recording->lines++;
    if (recording->anew) {
        fprintf(recording->file, "%s\n", line);
        return;
    }
    if (!fgets(want, sizeof want, recording->file))
        want[0] = '\0';
    want[strcspn(want, "\n")] = '\0';
    if (strcmp(want, line) != 0) {
        printf("have %s\nwant %s\n", line, want);
        recording->differing++;
    }
}

int recording_close(struct recording *recording)
{
    fclose(recording->file);
    printf("%u instructions, %u differ\n", recording->lines, recording->differing);
    return recording->differing > 0;
}
