/* SPDX-License-Identifier: MIT */
#include "loader/status.h"

#include <string.h>

#ifdef _WIN32
#define DRIVER "nvcuda.dll"
#define SEARCH_PATH "PATH"
#define RAISE_FILES ""
#define RAISE_MEMORY ""
#define FORBIDDEN ""
#else
#define DRIVER "libcuda.so.1"
#define SEARCH_PATH "LD_LIBRARY_PATH"
#define RAISE_FILES ", or raise the limit of open files (ulimit -n)"
#define RAISE_MEMORY "; free memory, or raise the limit of address space (ulimit -v)"
#define FORBIDDEN                                                                                  \
    "; the file system's option noexec, or SELinux, AppArmor or seccomp, forbids it to this "      \
    "process"
#endif
#define REINSTALL "; reinstall NVIDIA's driver"
#define GIVE_PATH "; give the path of a " DRIVER

/* In the order of enum cushim_status. */
#define STATUSES(X)                                                                                \
    X(OK, "ok", "")                                                                                \
    X(ERROR_INVALID_ARGUMENT, "invalid-argument", "")                                              \
    X(ERROR_OUT_OF_MEMORY, "out-of-memory", RAISE_MEMORY)                                          \
    X(ERROR_NOT_FOUND, "not-found",                                                                \
      "; install NVIDIA's driver, or name its " DRIVER " in CUSHIM_LIBCUDA")                       \
    X(ERROR_EMPTY_PATH, "empty-path", "; unset it, or give the path of a " DRIVER)                 \
    X(ERROR_NOT_A_FILE, "not-a-file", GIVE_PATH)                                                   \
    X(ERROR_UNREADABLE, "unreadable", "; make the file readable for this user")                    \
    X(ERROR_EMPTY_FILE, "empty-file", REINSTALL)                                                   \
    X(ERROR_NOT_A_LIBRARY, "not-a-library", GIVE_PATH)                                             \
    X(ERROR_TRUNCATED, "truncated", REINSTALL)                                                     \
    X(ERROR_WRONG_CLASS, "wrong-class",                                                            \
      "; install the driver's libraries for this program's word size")                             \
    X(ERROR_WRONG_MACHINE, "wrong-machine", "; install the driver for this processor")             \
    X(ERROR_DEPENDENCY, "dependency",                                                              \
      "; install the library that is missing, or put its folder into " SEARCH_PATH)                \
    X(ERROR_OPEN_FAILED, "open-failed", "")                                                        \
    X(ERROR_NOT_CUDA, "not-cuda", GIVE_PATH)                                                       \
    X(ERROR_STUB, "stub",                                                                          \
      "; take the toolkit's stubs folder out of " SEARCH_PATH " and install NVIDIA's driver")      \
    X(ERROR_VERSION_FAILED, "version-failed", REINSTALL)                                           \
    X(ERROR_VERSION_INVALID, "version-invalid", REINSTALL)                                         \
    X(ERROR_NO_DEVICE, "no-device",                                                                \
      "; check that a GPU is there (nvidia-smi), that CUDA_VISIBLE_DEVICES does not hide it, and " \
      "that a container was given it")                                                             \
    X(ERROR_NOT_READY, "not-ready",                                                                \
      "; wait until the system's services for the GPU run (the fabric manager, on systems with "   \
      "NVSwitch)")                                                                                 \
    X(ERROR_DRIVER_MISMATCH, "driver-mismatch",                                                    \
      "; restart the machine after a driver update, and keep compat libraries out of the search "  \
      "path")                                                                                      \
    X(ERROR_COMPAT_UNSUPPORTED, "compat-unsupported",                                              \
      "; this GPU cannot use the compat libraries: use the system's driver")                       \
    X(ERROR_INIT_UNKNOWN, "init-unknown",                                                          \
      "; check that nvidia-smi works, and look for the GPU in the system's log")                   \
    X(ERROR_INIT_FAILED, "init-failed", "; check that nvidia-smi works")                           \
    X(ERROR_FORKED, "forked",                                                                      \
      "; start a new program (exec), or fork before the first use of CUDA")                        \
    X(ERROR_HEADER_MISMATCH, "header-mismatch", "")                                                \
    X(ERROR_NO_DESCRIPTORS, "no-descriptors", "; close files" RAISE_FILES)                         \
    X(ERROR_READ_FAILED, "read-failed", "; check the disk or the network that the file is on")     \
    X(ERROR_NO_DLOPEN, "no-dlopen", "; link the program dynamically")                              \
    X(ERROR_FORBIDDEN, "forbidden", FORBIDDEN)                                                     \
    X(ERROR_INCOMPLETE, "incomplete", REINSTALL)                                                   \
    X(ERROR_TOO_OLD, "too-old", "; install a newer driver")

#define INDEX(status, name, advice) STATUS_##status,
enum { STATUSES(INDEX) STATUS_COUNT };
#define CHECK(status, name, advice)                                                                \
    _Static_assert((int)STATUS_##status == (int)CUSHIM_##status, "STATUSES is in another order");
STATUSES(CHECK)

/* Strings one after the other: a table of pointers would be relocated at each start. */
#define NAME(status, name, advice) name "\0"
#define ADVICE(status, name, advice) advice "\0"
static const char status_names[] = STATUSES(NAME), status_advices[] = STATUSES(ADVICE);

static const char *status_string(const char *strings, unsigned number)
{
    for (; number; number--)
        strings += strlen(strings) + 1;
    return strings;
}

const char *cushim_status_name(enum cushim_status status)
{
    return (unsigned)status < STATUS_COUNT ? status_string(status_names, (unsigned)status)
                                           : "unknown";
}

const char *cushim_status_advice(enum cushim_status status)
{
    return (unsigned)status < STATUS_COUNT ? status_string(status_advices, (unsigned)status) : "";
}

const char *cushim_status_advice_exact(enum cushim_status status, bool variable)
{
    switch (status) {
    case CUSHIM_ERROR_NOT_FOUND:
    case CUSHIM_ERROR_NOT_A_FILE:
    case CUSHIM_ERROR_NOT_A_LIBRARY:
    case CUSHIM_ERROR_NOT_CUDA:
    case CUSHIM_ERROR_STUB:
        return cushim_status_advice(variable ? CUSHIM_ERROR_EMPTY_PATH : CUSHIM_ERROR_NOT_A_FILE);
    default:
        return cushim_status_advice(status);
    }
}
