# SPDX-License-Identifier: MIT
"""The module cushim: with a driver of each kind, and without one."""

import ctypes
import importlib.util
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

NATIVE = ROOT / "python/cushim/native.py"
STRUCTURES = {"Options": "cushim_options", "Attempt": "cushim_attempt",
              "Attribute": "cushim_attribute", "Entry": "cushim_entry",
              "DeviceProperties": "cushim_device_properties",
              "DeviceScope": "cushim_device_scope", "Launch": "cushim_launch",
              "FeatureFacts": "cushim_feature_facts"}
FACTS = """
import json, cushim
cu = cushim.load()
before = cu.features()["cooperative-launch"].support
print(json.dumps({
    "true": bool(cu), "status": cu.status, "init": cu.init(), "message": cu.message,
    "version": cu.version, "text": str(cu.version), "path": cu.path,
    "attempts": [list(attempt) for attempt in cu.attempts],
    "has": [cu.has("cuMemAlloc_v2"), cu.has("cuGreenCtxCreate"), cu.has("cuNothing")],
    "reason": cu.reason("cuGreenCtxCreate"),
    "devices": [[device.name, device.capability, device.total_memory, device.uuid[:4],
                 device.attribute("WARP_SIZE"), device.attribute(10)] for device in cu.devices()],
    "before": before,
    "features": {name: [bool(feature), feature.support, feature.reason] for name, feature
                 in cu.features(cu.devices()[0] if cu.devices() else None).items()},
}))
"""


def simulated(run, site, release, program, *options):
    """The program under a simulated driver."""
    start = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    return run("-c", start, site / "cushim/bin/cushim", "sim", "--quiet", "--cuda", release,
               *options, "--", sys.executable, "-c", program)


def facts_of(done):
    """What FACTS printed."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_misspelt(run):
    """What may have been meant; a release that is none; a name that is near none."""
    done = run("-c", "import cushim\ncu = cushim.load()\nprint(cu.reason('cuMemAlocAsync'))\n"
               "print(cu.reason('cuMemAllocAsync'), cu.nearest('printf'))\ncu.proc('cuInit', 11)",
               CUSHIM_LIBCUDA="/nowhere/libcuda.so.1")
    first, second = done.stdout.splitlines()
    assert first.endswith("; did you mean cuMemAllocAsync?") and "did you mean" not in second
    assert second.endswith(" None")
    assert done.stderr.endswith("ValueError: release: 11: a release is (12, 4) or 12040\n")


def test_without_driver(run):
    facts = facts_of(run("-c", FACTS, CUSHIM_LIBCUDA="/nowhere/libcuda.so.1"))
    assert not facts["true"] and not facts["init"] and facts["status"] == "not-found"
    assert "/nowhere/libcuda.so.1" in facts["message"]
    assert facts["version"] == [0, 0] and facts["path"] is None and facts["devices"] == []
    assert facts["has"] == [False] * 3 and "there is no CUDA driver" in facts["reason"]
    assert facts["attempts"][0][0] == "/nowhere/libcuda.so.1"
    assert {support for _, support, _ in facts["features"].values()} <= {"no-driver", "platform"}


def test_with_driver(run, site):
    facts = facts_of(simulated(run, site, "11.4", FACTS, "--devices", "2"))
    assert facts["true"] and facts["init"] and facts["status"] == "ok"
    assert facts["version"] == [11, 4] and facts["text"] == "11.4"
    assert facts["path"].endswith("libcuda-sim-11.4.so") and facts["path"] in facts["message"]
    assert facts["has"] == [True, False, False] and "12.4" in facts["reason"]
    assert len(facts["devices"]) == 2
    for name, capability, memory, uuid, warp, by_number in facts["devices"]:
        assert name.startswith("NVIDIA A100") and capability == [8, 0] and memory > 2**20
        assert uuid == "GPU-" and warp == by_number == 32
    assert facts["before"] == "undecided"
    assert facts["features"]["cooperative-launch"] == [
        True, "supported", "cooperative-launch: supported"]
    assert facts["features"]["green-contexts"][:2] == [False, "driver"]


def test_no_device(run, site):
    facts = facts_of(simulated(run, site, "13.0", FACTS, "--devices", "0"))
    assert facts["true"] and facts["status"] == "ok" and not facts["init"]
    assert "100" in facts["message"] and facts["devices"] == []


def test_fork(run, site):
    """In a child of a process that used CUDA each way says so; the parent goes on."""
    done = simulated(run, site, "12.4", """
import ctypes, os, sys, cushim
cu = cushim.load()
assert cu.init() and cu.devices()
child = os.fork()
if not child:
    again = cushim.load()
    print(again.init(), again.devices(), again.message)
    for use in (lambda: again.device(0).__enter__(), lambda: again.call(
            "cuDeviceGetCount", (2, 0), ctypes.byref(ctypes.c_int()))):
        try:
            use()
        except cushim.Error as error:
            print(error)
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0 and cu.init() and len(cu.devices()) == 1
""")
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first.startswith("False [] ") and "does not survive a fork; start a new" in first
    assert "does not survive a fork" in second and "this process was forked" in third


def test_proc_calls(run, site):
    """An address is the driver's function, of exactly the release that was asked for."""
    done = simulated(run, site, "12.2", """
import ctypes, cushim
cu = cushim.load()
version = ctypes.c_int()
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))
assert kind(cu.proc("cuDriverGetVersion", (2, 2)))(ctypes.byref(version)) == 0
assert version.value == 12020
assert cu.proc("cuStreamSynchronize", 7000) != cu.proc("cuStreamSynchronize", 7000, True)
for name, release in (("cuGreenCtxCreate", (12, 4)), ("cuNothing", (12, 0))):
    try:
        cu.proc(name, release)
    except cushim.Error as error:
        print(error)
for needed in ({"release": (13, 0)}, {"symbols": ["cuMemAlloc_v2", "cuGreenCtxCreate"]},
               {"symbols": (name for name in ("cuMemAllocAsinc", "cuMemAlloc_v2", "cuNothing"))}):
    try:
        cu.require(**needed)
    except cushim.Error as error:
        print(error)
cu.require((12, 2), ["cuMemAlloc_v2"])
""")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5 and "cuGreenCtxCreate" in lines[0] and "cuNothing" in lines[1]
    assert "13.0" in lines[2] and "cuGreenCtxCreate" in lines[3] and "cuMemAlloc" not in lines[3]
    assert lines[4] == ("this version of cushim knows no cuMemAllocAsinc, cuNothing: misspelt, or "
                        "newer than cushim; did you mean cuMemAllocAsync?")


def test_open_at_a_path(run, build):
    """Two drivers in one process, neither of them the process's own; a closed one is refused."""
    done = run("-c", f"""
import cushim
first, second = (cushim.open({str(build / 'src/sim')!r} + f"/libcuda-sim-{{release}}.so")
                 for release in ("10.2", "12.4"))
with first, second:
    assert first.version == (10, 2) and second.version >= (12, 0), (first, second)
assert first.status == "invalid-argument" and not first
assert not cushim.open("/nowhere").has("cuInit")
assert "/nowhere" in repr(cushim.open("/nowhere"))
for odd in ("cuInit\\0x",):
    try:
        second.has(odd)
    except ValueError as error:
        print(error)
assert not second.has("cu\\udcff€")
""", CUSHIM_LIBCUDA="/nowhere")
    assert (done.returncode, done.stdout) == (0, "symbol: a NUL in a name\n"), done.stderr


def test_entries(run):
    done = run("-c", """
import cushim
entries = {entry.symbol: entry for entry in cushim.load().entries()}
assert len(entries) > 700 and entries["cuMemAlloc_v2"].name == "cuMemAlloc"
assert entries["cuMemAlloc_v2"].since == (3, 2) and entries["cuMemAlloc_v2"].header == "cuda.h"
assert cushim.__version__ == cushim.library_version() and not hasattr(cushim, "__versoin__")
assert "open" not in cushim.__all__ and "open" in dir(cushim)
assert all(hasattr(cushim, name) for name in dir(cushim))
assert not {"os", "ctypes", "Dict", "check"} & set(dir(cushim))
print(cushim.library_version(), cushim.newest_release())
""")
    assert done.returncode == 0, done.stderr
    version, newest = done.stdout.split()
    assert f"version: '{version}'" in (ROOT / "meson.build").read_text("utf-8")
    assert int(newest.partition(".")[0]) >= 13


def test_without_library(run, site, tmp_path):
    """The module imports without libcushim.so too, and a call names what is missing."""
    shutil.copytree(site / "cushim", tmp_path / "cushim", ignore=lambda *_: ["libcushim.so.0"])
    away = tmp_path / "away"  # before the system's folders, where one may be installed
    away.mkdir()
    (away / "libcushim.so.0").touch()
    done = run("-c", "import cushim; cushim.load()", PYTHONPATH=str(tmp_path),
               LD_LIBRARY_PATH=str(away))
    assert done.returncode == 1 and re.search("OSError: .*libcushim.so.0", done.stderr)


def test_command(run, site):
    done = run("-m", "cushim", "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "cushim"), done.stderr
    (site / "cushim/bin/cushim").rename(site / "cushim/bin/away")
    try:
        done = run("-m", "cushim", "--version")
    finally:
        (site / "cushim/bin/away").rename(site / "cushim/bin/cushim")
    assert done.returncode == 1 and done.stderr.startswith("cushim: ")


def test_structures(build, tmp_path):
    """Each structure is the header's: size, and place and size of each member."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    found = importlib.util.spec_from_file_location("native", NATIVE)
    native = importlib.util.module_from_spec(found)
    found.loader.exec_module(native)
    lines, expected = [], []
    for name, structure in STRUCTURES.items():
        kind = getattr(native, name)
        lines.append(f'printf("%zu\\n", sizeof(struct {structure}));')
        expected.append(str(ctypes.sizeof(kind)))
        for member, _ in kind._fields_:
            lines.append(f'printf("%zu %zu\\n", offsetof(struct {structure}, {member}), '
                         f'sizeof(((struct {structure} *)0)->{member}));')
            expected.append(f"{getattr(kind, member).offset} {getattr(kind, member).size}")
    source = tmp_path / "layout.c"
    headers = ["stdio.h", "cushim/device.h", "cushim/feature.h", "cushim/launch.h"]
    source.write_text("".join(f"#include <{header}>\n" for header in headers) +
                      "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n", "utf-8")
    program = tmp_path / "layout"
    subprocess.run(["cc", f"-I{ROOT / 'include'}", f"-I{build / 'gen'}", source, "-o", program],
                   check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == expected


@pytest.mark.in_all
def test_types(tmp_path):
    """The hints hold, for those who check their own program against them."""
    if not shutil.which("mypy"):
        pytest.skip("no mypy")
    program = tmp_path / "program.py"
    program.write_text("import cushim\nrelease: tuple[int, int] = cushim.load().version\n"
                       "names: list[str] = [device.name for device in cushim.load().devices()]\n",
                       "utf-8")
    done = subprocess.run(["mypy", "--strict", "--allow-untyped-decorators", "--cache-dir",
                           tmp_path / "cache", ROOT / "python/cushim", program],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
