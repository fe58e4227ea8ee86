# SPDX-License-Identifier: MIT
"""Conan 2: the libraries, and on request the simulated driver.

    conan create . --version 0.1.0
"""

from conan import ConanFile
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain


class Cushim(ConanFile):
    """CMake finds it as it finds an installation: cushim::cushim, cushim::dropin, cushim::sim."""

    name = "cushim"
    description = "The CUDA driver API at run time, without linking to it"
    homepage = "@homepage@"
    license = "MIT"
    topics = ("cuda", "gpu", "driver", "testing")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "sim": [True, False]}
    default_options = {"shared": False, "fPIC": True, "sim": False}
    languages = "C"

    def layout(self):
        basic_layout(self, src_folder="src")

    def package_id(self):
        del self.info.options.fPIC  # the libraries are position independent always

    def build_requirements(self):
        self.tool_requires("meson/[>=1.0]")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = MesonToolchain(self)
        toolchain.project_options.update({
            "tools": "disabled", "man": "disabled", "fatbin": "disabled",
            "sim": bool(self.options.sim)})
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, self.package_path / "licenses")
        Meson(self).install()

    def package_info(self):
        # The project's own package of CMake is the one to find, with its function cushim_embed.
        self.cpp_info.set_property("cmake_find_mode", "none")
        system = ["dl", "pthread"] if self.settings.os == "Linux" else []
        parts = {"cushim": ["cushim"], "cushim-dropin": ["cushim-dropin"],
                 "cushim-nvml-dropin": ["cushim-nvml-dropin"]}
        if not self.options.shared:
            parts["cushim-static"] = ["cushim"]
        if self.options.sim:
            parts["cushim-sim"] = ["cushim-sim", "cushim"]
            system = [*system, "m"]
        self.cpp_info.components["cushim"].builddirs = ["lib/cmake/cushim"]
        for name, libraries in parts.items():
            self.cpp_info.components[name].libs = libraries
            self.cpp_info.components[name].system_libs = system
            self.cpp_info.components[name].set_property("pkg_config_name", name)
        headers = self.cpp_info.components["cushim-cuda-headers"]
        headers.includedirs = ["include", "include/cushim/cuda-headers"]
        headers.set_property("pkg_config_name", "cushim-cuda-headers")
