# SPDX-License-Identifier: MIT
"""No nvJitLink for cuda.core, wherever a toolkit lies: it makes machine code, which only a GPU
runs. Without it the driver links PTX."""
try:
    from cuda import pathfinder
except ImportError:  # pip, before the packages are there
    pass
else:
    load = pathfinder.load_nvidia_dynamic_lib

    def load_others(libname):
        """As before, but for one library."""
        if libname == "nvJitLink":
            raise pathfinder.DynamicLibNotFoundError("hidden from these tests")
        return load(libname)

    pathfinder.load_nvidia_dynamic_lib = load_others
