# SPDX-License-Identifier: MIT
"""What the tests of this folder share: an installation in a scratch prefix, and running things."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NO_DRIVER = "/nonexistent/libcuda.so.1"


def need(*tools, path=None):
    """Skip by name what this machine, or a PATH of its own, lacks."""
    for tool in tools:
        if not shutil.which(tool, path=path):
            pytest.skip(f"{tool} is not installed")


def run(*command, cwd=None, env=None, code=0, timeout=1200):
    """Run a command; its output, where it ends with the CODE that is expected (None: any). A test
    that needs a program that the machine lacks is skipped."""
    words = [str(word) for word in command]
    env = environment(env)
    if "/" not in words[0]:
        need(words[0], path=env["PATH"])
    done = subprocess.run(words, cwd=cwd, env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    assert code in (done.returncode, None), \
        f"{' '.join(words)}: code {done.returncode}\n{done.stdout}"
    return done.stdout


def environment(changes=None):
    """This process's, without what would reach into the programs under test."""
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("CUSHIM_", "CUDA_", "LD_", "MAKE", "MESON"))}
    return {**variables, "LC_ALL": "C", **(changes or {})}


def facts(text):
    """Lines "name value" as a dictionary."""
    return dict(line.split(" ", 1) for line in text.splitlines())


def needed(binary):
    """Libraries that a binary names."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", binary))


def exports(binary):
    """Names that a binary gives to others."""
    lines = run("nm", "-D", "--defined-only", binary).splitlines()
    return [line.split()[-1].partition("@")[0] for line in lines]


def assert_keeps_to_itself(binary):
    """It asks for no driver, and exports nothing of cushim's or the driver's."""
    assert [name for name in needed(binary) if "cuda" in name] == []
    assert [name for name in exports(binary) if re.match(r"cu[A-Z]|cushim", name)] == []


class Build:
    """The build folder that the tests run in."""

    def __init__(self, path):
        self.path = Path(path)
        need("meson")
        rows = json.loads(run("meson", "introspect", "--buildoptions", self.path))
        self.options = {row["name"]: row["value"] for row in rows}
        if self.options["b_sanitize"] != "none" or self.options["b_coverage"]:
            pytest.skip("this build is instrumented, and no consumer links what that needs")

    def install(self, folder):
        """`meson install` with FOLDER as the root of the file system."""
        run("meson", "install", "-C", self.path, "--no-rebuild", "--destdir", folder)
        return Installation(folder)


class Installation:
    """Where what was installed lies."""

    def __init__(self, folder):
        self.package = next(folder.rglob("cushim.pc"))
        self.libraries = self.package.parent.parent
        prefix = re.search(r"^prefix=/?(.*)$", self.package.read_text(encoding="utf-8"), re.M)[1]
        self.prefix = folder / prefix
        self.include = next(self.prefix.rglob("cushim.h")).parent.parent
        self.shared = self.libraries / "libcushim.so.0"
        self.static = self.libraries / "libcushim.a"
        self.dropin = self.libraries / "libcushim-dropin.a"
        self.cuda_headers = self.include / "cushim/cuda-headers"

    @property
    def pkg_config(self):
        """The command for this prefix, as a user's in /usr would be without options."""
        return f"pkg-config --define-variable=prefix={self.prefix}"

    @property
    def env(self):
        """What finds it where it lies; a driver is not among that."""
        return {"PKG_CONFIG_PATH": str(self.package.parent), "CUSHIM_LIBCUDA": NO_DRIVER,
                "LD_LIBRARY_PATH": str(self.libraries)}

    def compile(self, output, *sources, options=(), libraries=(), compiler="cc"):
        """A program against this installation."""
        run(compiler, *sources, "-o", output, "-I", self.include, *options, *libraries,
            "-ldl", "-pthread")
        return output


def with_driver(env, driver):
    """ENV for a program that uses this driver."""
    folders = [env.get("LD_LIBRARY_PATH"), driver.environment().get("LD_LIBRARY_PATH")]
    return {**env, "CUSHIM_LIBCUDA": str(driver.path),
            "LD_LIBRARY_PATH": ":".join(folder for folder in folders if folder)}
