/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include "kernel_module.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

static const char *below(char path[PATH_SIZE], const struct doctor *doctor, const char *name)
{
    snprintf(path, PATH_SIZE, "%s%s", doctor->root, name);
    return path;
}

static bool exists(const struct doctor *doctor, const char *name)
{
    char path[PATH_SIZE];

    return access(below(path, doctor, name), F_OK) == 0;
}

/* The first line of a file, or all that fits; "" where it cannot be read. */
static const char *first_line(const struct doctor *doctor, const char *name, char text[256])
{
    char path[PATH_SIZE];
    FILE *file = fopen(below(path, doctor, name), "re");

    text[0] = '\0';
    if (file) {
        if (!fgets(text, 256, file))
            text[0] = '\0';
        fclose(file);
    }
    return text;
}

/* NVIDIA's display and compute devices on the PCI bus; -1 where there is no bus to look at. */
static int count_gpus(const struct doctor *doctor)
{
    char path[PATH_SIZE], name[PATH_SIZE], text[256];
    DIR *folder = opendir(below(path, doctor, "/sys/bus/pci/devices"));
    int count = 0;

    if (!folder)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "/sys/bus/pci/devices/%s/vendor", entry->d_name);
        if (strtol(first_line(doctor, name, text), NULL, 16) != 0x10de)
            continue;
        snprintf(name, sizeof name, "/sys/bus/pci/devices/%s/class", entry->d_name);
        count += strtol(first_line(doctor, name, text), NULL, 16) >> 16 == 0x03;
    }
    closedir(folder);
    return count;
}

static void check_hardware(struct doctor *doctor)
{
    int count = count_gpus(doctor);

    if (doctor->wsl)
        return;
    if (count > 0) {
        doctor_add(doctor, DOCTOR_OK, "gpu", "%d NVIDIA GPUs on the PCI bus", count);
    } else if (count == 0) {
        doctor_add(doctor, DOCTOR_ERROR, "gpu", "no NVIDIA GPU is on the PCI bus");
        doctor_fix(doctor, "seat the card, enable it in the firmware, or give it to this virtual "
                           "machine");
    } else {
        doctor_add(doctor, DOCTOR_WARNING, "gpu",
                   "/sys/bus/pci is not there: whether there is a GPU is not known");
    }
}

static void check_module(struct doctor *doctor)
{
    struct kernel_module module;

    kernel_module_read(&module, doctor->root);
    if (kernel_module_version(&module)) {
        snprintf(doctor->module, sizeof doctor->module, "%s", kernel_module_version(&module));
        doctor_add(doctor, DOCTOR_OK, "kernel-module", "version %s is loaded", doctor->module);
        return;
    }
    if (doctor->wsl)
        return;
    if (exists(doctor, "/sys/module/nouveau")) {
        doctor_add(doctor, DOCTOR_ERROR, "kernel-module",
                   "the kernel has loaded nouveau, which leaves no GPU to NVIDIA's module");
        doctor_fix(doctor, "put 'blacklist nouveau' in a file of /etc/modprobe.d, make the initial "
                           "file system again, and restart");
    } else if (exists(doctor, "/proc/self")) {
        doctor_add(doctor, DOCTOR_ERROR, "kernel-module", "no NVIDIA kernel module is loaded");
        if (doctor->container)
            doctor_fix(doctor, "load it on the host of this container: modprobe nvidia");
        else
            doctor_fix(doctor,
                       "modprobe nvidia; if it fails, dmesg has the reason: Secure Boot, or a "
                       "kernel without its headers when the module was built");
    } else {
        doctor_add(doctor, DOCTOR_WARNING, "kernel-module",
                   "/proc is not there: whether a module is loaded is not known");
    }
}

static void check_node(struct doctor *doctor, const char *name, const char *making)
{
    char path[PATH_SIZE];

    if (!exists(doctor, name)) {
        doctor_add(doctor, DOCTOR_ERROR, "device-nodes", "%s is missing", name);
        if (doctor->container)
            doctor_fix(doctor, "start the container with its GPU option (--gpus all, or --device "
                               "nvidia.com/gpu=all)");
        else
            doctor_fix(doctor, "%s", making);
    } else if (access(below(path, doctor, name), R_OK | W_OK) != 0) {
        doctor_add(doctor, DOCTOR_ERROR, "device-nodes", "%s may not be opened by this user", name);
        doctor_fix(doctor,
                   "ls -l %s shows its group: add the user to it (often video or render), "
                   "or let the container have the device",
                   name);
    }
}

static void check_nodes(struct doctor *doctor)
{
    char pattern[PATH_SIZE];
    size_t before = doctor->count, nodes, gpus;
    glob_t found;

    if (doctor->wsl || doctor->module[0] == '\0')
        return;
    check_node(doctor, "/dev/nvidiactl", "nvidia-modprobe, as root");
    check_node(doctor, "/dev/nvidia-uvm", "nvidia-modprobe -u, as root");
    nodes = glob(below(pattern, doctor, "/dev/nvidia[0-9]*"), 0, NULL, &found) == 0 ? found.gl_pathc
                                                                                    : 0;
    for (size_t i = 0; i < nodes; i++)
        check_node(doctor, found.gl_pathv[i] + strlen(doctor->root), "");
    if (nodes > 0)
        globfree(&found);
    else
        check_node(doctor, "/dev/nvidia0", "nvidia-modprobe -c 0, as root");
    gpus = glob(below(pattern, doctor, "/proc/driver/nvidia/gpus/*"), 0, NULL, &found) == 0
               ? found.gl_pathc
               : 0;
    if (gpus > 0)
        globfree(&found);
    if (nodes > 0 && nodes < gpus) {
        doctor_add(doctor, DOCTOR_WARNING, "device-nodes",
                   "the kernel module has %zu GPUs, and there are nodes for %zu", gpus, nodes);
        doctor_fix(doctor, doctor->container ? "this container was given some of them"
                                             : "nvidia-modprobe -c NUMBER, as root");
    }
    if (doctor->count == before)
        doctor_add(doctor, DOCTOR_OK, "device-nodes", "nvidiactl, nvidia-uvm and %zu GPUs", nodes);
}

static void check_container(struct doctor *doctor)
{
    const char *visible = secure_getenv("NVIDIA_VISIBLE_DEVICES");
    const char *capabilities = secure_getenv("NVIDIA_DRIVER_CAPABILITIES");

    if (!doctor->container)
        return;
    doctor_add(doctor, DOCTOR_OK, "container", "this is a container");
    if (visible && (strcmp(visible, "void") == 0 || strcmp(visible, "none") == 0)) {
        doctor_add(doctor, DOCTOR_ERROR, "container",
                   "NVIDIA_VISIBLE_DEVICES is %s: the container is given no GPU", visible);
        doctor_fix(doctor, "start it with NVIDIA_VISIBLE_DEVICES=all");
    }
    if (capabilities && !strstr(capabilities, "compute") && !strstr(capabilities, "all")) {
        doctor_add(doctor, DOCTOR_ERROR, "container",
                   "NVIDIA_DRIVER_CAPABILITIES is %s: libcuda is not mounted", capabilities);
        doctor_fix(doctor, "start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility");
    }
}

static void check_wsl(struct doctor *doctor)
{
    if (!doctor->wsl)
        return;
    if (!exists(doctor, "/dev/dxg")) {
        doctor_add(doctor, DOCTOR_ERROR, "wsl", "/dev/dxg is missing: WSL has no GPU");
        doctor_fix(doctor, "wsl --update on Windows, a kernel of WSL 2, and NVIDIA's driver for "
                           "Windows");
    } else if (!exists(doctor, "/usr/lib/wsl/lib/libcuda.so.1")) {
        doctor_add(doctor, DOCTOR_ERROR, "wsl", "/usr/lib/wsl/lib has no libcuda.so.1");
        doctor_fix(doctor, "install NVIDIA's driver on Windows; never one for Linux within WSL");
    } else {
        doctor_add(doctor, DOCTOR_OK, "wsl", "WSL has a GPU, and the driver of Windows");
    }
}

void doctor_system(struct doctor *doctor)
{
    char text[256];

    doctor->container = exists(doctor, "/.dockerenv") || exists(doctor, "/run/.containerenv");
    doctor->wsl = strstr(first_line(doctor, "/proc/version", text), "icrosoft");
    if (doctor->simulated) {
        doctor_add(doctor, DOCTOR_OK, "gpu", "simulated, without a kernel module or device nodes");
    } else {
        check_hardware(doctor);
        check_module(doctor);
        check_nodes(doctor);
    }
    check_container(doctor);
    check_wsl(doctor);
}
