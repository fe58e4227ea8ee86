/* SPDX-License-Identifier: MIT */
/* The devices of the profiles, as NVML describes them: of data sheets, and hopper of an H100 and an
 * H200. */
#include <string.h>

#include "nvml/nvml.h"

/* GeForce cards have fans, and no ECC. */
static const struct sim_nvml_facts all[] = {
    {"maxwell", "SIM-GTX980", "84.04.1F.00.00", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_MAXWELL,
     0x13c010de, 128, 165, 3, .fans = 1},
    {"pascal", "SIM-P100", "86.00.41.00.00", NVML_BRAND_TESLA, NVML_DEVICE_ARCH_PASCAL, 0x15f910de,
     64, 300, 3, .ecc = true, .links = 4, .link_version = 1, .link_mbps = 19531},
    {"volta", "SIM-V100", "88.00.4F.00.00", NVML_BRAND_TESLA, NVML_DEVICE_ARCH_VOLTA, 0x1db110de,
     64, 300, 3, .ecc = true, .links = 6, .link_version = 2, .link_mbps = 25781},
    {"turing", "SIM-T4", "90.04.38.00.00", NVML_BRAND_TESLA, NVML_DEVICE_ARCH_TURING, 0x1eb810de,
     64, 70, 3, .ecc = true},
    {"ampere", "SIM-A100", "92.00.45.00.00", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_AMPERE, 0x20b010de,
     64, 400, 4, .ecc = true, .mig = true, .links = 12, .link_version = 3, .link_mbps = 25781},
    {"ampere86", "SIM-RTX3090", "94.02.26.00.00", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_AMPERE,
     0x220410de, 128, 350, 4, .fans = 2},
    {"ada", "SIM-RTX4090", "95.02.3C.00.00", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_ADA, 0x268410de,
     128, 450, 4, .fans = 2},
    {"hopper", "SIM-H200", "96.00.BC.00.00", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_HOPPER, 0x233510de,
     128, 700, 5, .ecc = true, .mig = true, .fabric = true, .links = 18, .link_version = 4,
     .link_mbps = 26562},
    {"blackwell", "SIM-B200", "97.00.88.00.00", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_BLACKWELL,
     0x290110de, 128, 1000, 5, .ecc = true, .mig = true, .fabric = true, .links = 18,
     .link_version = 5, .link_mbps = 53125},
    {"blackwell120", "SIM-RTX5090", "98.02.2E.00.00", NVML_BRAND_GEFORCE,
     NVML_DEVICE_ARCH_BLACKWELL, 0x2b8510de, 128, 575, 5, .fans = 2},
};

const struct sim_nvml_facts *sim_nvml_facts(void)
{
    const char *name = sim_config.profile->name;
    if (strcmp(name, "small") == 0)
        name = "ampere";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].profile, name) == 0)
            return &all[i];
    return &all[0]; /* tests/cli/test_sim.py: there is none without */
}
