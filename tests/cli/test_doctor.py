# SPDX-License-Identifier: MIT
"""`cushim doctor`: systems of files that imitate each trouble, and the driver's own troubles on
fake and simulated drivers. A system is given by --root; one test is in a namespace of its own."""

import os
import re
import shutil
import subprocess

import pytest
from command import (CLI, FAILED, FAKE_GPU, OK, ROOT, SIM_DRIVERS, SIM_NVML, environment, fake, run)

LIBRARIES = "usr/lib/x86_64-linux-gnu"
VERSION = "550.163.01"
MODULE = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {VERSION}  Tue Apr  8 2025\n"


def put(root, name, text=""):
    """A file of a system."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def put_library(root, folder, version):
    """libcuda.so.1 as drivers install it."""
    put(root, f"{folder}/libcuda.so.{version}", version)
    (root / folder / "libcuda.so.1").symlink_to(f"libcuda.so.{version}")


def sound(root):
    """A system without trouble, with one GPU."""
    put(root, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
    put(root, "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n")
    put(root, "sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n")
    put(root, "sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n")
    put(root, "proc/driver/nvidia/version", MODULE)
    put(root, "proc/driver/nvidia/gpus/0000:01:00.0/information")
    put(root, "proc/self/status")
    put(root, "proc/version", "Linux version 6.1.0\n")
    for node in ("nvidiactl", "nvidia-uvm", "nvidia0"):
        put(root, f"dev/{node}")
    put_library(root, LIBRARIES, VERSION)
    put(root, "usr/local/cuda-12.4/version.json",
        '{\n   "cuda" : {\n      "name" : "CUDA SDK",\n      "version" : "12.4.1"\n   }\n}\n')
    (root / "home").mkdir()


def unfolded(text):
    """A finding, and its fix, on one line each."""
    return re.sub(r"\n {25,}(?!fix: )", " ", text)


def doctor(root, code=None, **variables):
    """{check: [finding]} of --json, and the same in the text."""
    words = ["doctor", "--no-init", *(["--root", root] if root else [])]
    variables = {"HOME": "/home"} | variables
    result = run(*words, "--json", **variables)
    assert result.err == ""
    findings = result.json()["findings"]
    assert result.code == (FAILED if any(row["level"] == "error" for row in findings) else OK)
    assert code is None or result.code == code
    folded = run(*words, **variables).out
    assert all(len(line) <= 100 or " " not in line[30:] for line in folded.splitlines()), folded
    text = unfolded(folded)
    for row in findings:
        assert row["text"] in text and (row["fix"] or "") in text
        assert (row["fix"] is None) == (row["level"] == "ok") or row["level"] == "warning"
    errors, warnings = ([row["level"] for row in findings].count(level)
                        for level in ("error", "warning"))
    assert text.endswith(f"{errors} error{'s' * (errors != 1)}, "
                         f"{warnings} warning{'s' * (warnings != 1)}\n")
    grouped = {}
    for row in findings:
        grouped.setdefault(row["check"], []).append(row)
    return grouped


def test_sound(tmp_path):
    sound(tmp_path)
    found = doctor(tmp_path, OK)
    assert {row["level"] for rows in found.values() for row in rows} == {"ok"}
    assert list(found) == ["gpu", "kernel-module", "device-nodes", "libraries", "toolkit", "cache",
                           "environment"]
    assert VERSION in found["libraries"][0]["text"] and "12.4" in found["toolkit"][0]["text"]


def gone(*names):
    """Take files or folders away."""
    def change(root):
        for name in names:
            path = root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return change


def made(**files):
    """Add files: "__" is a slash."""
    def change(root):
        for name, text in files.items():
            put(root, name.replace("__", "/"), text)
    return change


def both(*changes):
    """One after the other."""
    def change(root):
        for one in changes:
            one(root)
    return change


def toolkit(release):
    """Another toolkit beside the sound one."""
    return lambda root: put(root, f"usr/local/cuda-{release}/version.json",
                            f'{{"cuda" : {{"version" : "{release}.0"}}}}')


def library(folder, version):
    """Another driver's library."""
    return lambda root: put_library(root, folder, version)


def nvrtc(folder, release):
    """NVRTC, whose release stands in the name of the library beside it."""
    return made(**{f"{folder}/libnvrtc.so.12": "", f"{folder}/libnvrtc-builtins.so.{release}": "",
                   f"{folder}/libnvrtc-builtins.alt.so.{release}": ""})


def ptxas(folder, release):
    """The assembler, by the sentence that its --version prints."""
    return made(**{f"{folder}/ptxas": f"\x7fELF\0Cuda compilation tools, release {release}, "
                                      f"V{release}.88\0\0\0\0\0"})


WSL = both(gone("sys", "proc/driver", f"{LIBRARIES}"), made(proc__version="Linux Microsoft WSL2\n"))
CONTAINER = lambda root: put(root, ".dockerenv")  # noqa: E731
NOTHING = lambda root: None  # noqa: E731
# Name: what is wrong, with which variables; the check, the level, words of text and fix.
TROUBLES = {
    "no card": (gone("sys/bus/pci/devices/0000:01:00.0"), {}, "gpu", "error", "no NVIDIA GPU",
                "seat"),
    "no sysfs": (gone("sys"), {}, "gpu", "warning", "is not known", ""),
    "no module": (gone("proc/driver"), {}, "kernel-module", "error", "no NVIDIA kernel module",
                  "modprobe nvidia"),
    "no module in a container": (both(gone("proc/driver"), CONTAINER), {}, "kernel-module", "error",
                                 "no NVIDIA kernel module", "on the host"),
    "nouveau": (both(gone("proc/driver"), made(sys__module__nouveau__refcnt="1")), {},
                "kernel-module", "error", "nouveau", "blacklist nouveau"),
    "no proc": (gone("proc"), {}, "kernel-module", "warning", "/proc is not there", ""),
    "no control node": (gone("dev/nvidiactl"), {}, "device-nodes", "error",
                        "/dev/nvidiactl is missing", "nvidia-modprobe"),
    "no uvm node": (gone("dev/nvidia-uvm"), {}, "device-nodes", "error",
                    "/dev/nvidia-uvm is missing", "nvidia-modprobe -u"),
    "no GPU node": (gone("dev/nvidia0"), {}, "device-nodes", "error", "/dev/nvidia0 is missing",
                    "nvidia-modprobe -c 0"),
    "container without nodes": (both(gone("dev"), CONTAINER), {}, "device-nodes", "error",
                                "/dev/nvidiactl is missing", "--gpus all"),
    "fewer nodes than GPUs": (made(proc__driver__nvidia__gpus__b__information=""), {},
                              "device-nodes", "warning", "2 GPUs, and there are nodes for 1",
                              "nvidia-modprobe"),
    "container with some": (both(made(proc__driver__nvidia__gpus__b__information=""), CONTAINER),
                            {}, "device-nodes", "warning", "nodes for 1", "was given some"),
    "container given none": (CONTAINER, {"NVIDIA_VISIBLE_DEVICES": "void"}, "container", "error",
                             "given no GPU", "NVIDIA_VISIBLE_DEVICES=all"),
    "container without compute": (CONTAINER, {"NVIDIA_DRIVER_CAPABILITIES": "graphics,utility"},
                                  "container", "error", "libcuda is not mounted", "compute"),
    "WSL without GPU": (WSL, {}, "wsl", "error", "/dev/dxg is missing", "wsl --update"),
    "WSL without driver": (both(WSL, made(dev__dxg="")), {}, "wsl", "error", "no libcuda.so.1",
                           "on Windows"),
    "no library": (gone(LIBRARIES), {}, "libraries", "error", "no usual folder",
                   "install NVIDIA's driver"),
    "no library in a container": (both(gone(LIBRARIES), CONTAINER), {}, "libraries", "error",
                                  "no usual folder", "NVIDIA_DRIVER_CAPABILITIES"),
    "module of another version": (made(proc__driver__nvidia__version=MODULE.replace(
        VERSION, "535.261.03")), {}, "libraries", "error", "cuInit returns 803", "restart"),
    "two drivers": (library("usr/lib64", "535.261.03"), {}, "libraries", "warning",
                    "two drivers' libraries", "kernel module's"),
    "compat package": (library("usr/local/cuda/compat", "580.65.06"), {}, "libraries", "warning",
                       "cuda-compat package", "LD_LIBRARY_PATH"),
    "library first in the path": (library("opt/mine", "470.256.02"),
                                  {"LD_LIBRARY_PATH": "/opt/mine"}, "libraries", "error",
                                  "/opt/mine/libcuda.so.1 is of version 470.256.02", "restart"),
    "toolkit of the family": (toolkit("12.9"), {}, "toolkit", "warning", "ends with 222",
                              "up to 12.4"),
    "toolkit of a later family": (toolkit("13.0"), {}, "toolkit", "warning", "end with 35",
                                  "update the driver"),
    "old toolkit's form": (made(**{"usr__local__cuda-99.1__version.txt": "CUDA Version 99.1.85\n"}),
                           {}, "toolkit", "warning", "is CUDA 99.1", "up to 12.4"),
    "NVRTC of a Python package": (
        nvrtc("home/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "12.9"), {},
        "compilers", "warning", "NVRTC of CUDA 12.9, and the driver is of 12.4", "up to 12.4"),
    "NVRTC of Debian": (nvrtc(LIBRARIES, "13.0"), {}, "compilers", "warning", "ends with 222",
                        "sm_NN"),
    "NVRTC of conda": (nvrtc("opt/env/lib", "12.8"), {"CONDA_PREFIX": "/opt/env"}, "compilers",
                       "warning", "NVRTC of CUDA 12.8", "sm_NN"),
    "NVRTC in the path": (nvrtc("opt/mine", "12.5"), {"LD_LIBRARY_PATH": "/opt/mine"}, "compilers",
                          "warning", "NVRTC of CUDA 12.5", "sm_NN"),
    "ptxas of triton": (ptxas("usr/local/lib/python3.11/site-packages/triton/backends/nvidia/bin",
                              "13.1"), {}, "compilers", "warning",
                        "machine code of a later family", "up to 12.4"),
    "cache that is a file": (made(home__x="a file"), {"CUDA_CACHE_PATH": "/home/x/cache"}, "cache",
                             "warning", "cannot be written", "CUDA_CACHE_PATH"),
    "cache off": (NOTHING, {"CUDA_CACHE_DISABLE": "1"}, "cache", "warning", "CUDA_CACHE_DISABLE",
                  "unset"),
    "hidden by the empty value": (NOTHING, {"CUDA_VISIBLE_DEVICES": ""}, "environment", "error",
                                  "hides all GPUs", "unset it"),
    "hidden by -1": (NOTHING, {"CUDA_VISIBLE_DEVICES": "-1"}, "environment", "error",
                     "hides all GPUs", "unset it"),
    "some visible": (NOTHING, {"CUDA_VISIBLE_DEVICES": "1"}, "environment", "warning",
                     "these GPUs alone", "unset it"),
    "stub": (made(**{"c/stubs/libcuda.so.1": ""}), {"LD_LIBRARY_PATH": "/x:/c/stubs"},
             "environment", "error", "stub as libcuda.so.1: cuInit returns 34",
             "take the folder out"),
    "stub to link": (made(**{"c/stubs/libcuda.so": ""}), {"LD_LIBRARY_PATH": "/c/stubs/:/x"},
                     "environment", "warning", "stub as libcuda.so: in programs that load it",
                     "take the folder out"),
    "no stub": (NOTHING, {"LD_LIBRARY_PATH": "/no/such/stubs:/c"}, "environment", "ok",
                "no variable hides or redirects", ""),
    "compat folder": (NOTHING, {"LD_LIBRARY_PATH": "/usr/local/cuda/compat"}, "environment",
                      "warning", "returns 804", "take the folder out"),
    "preloaded": (NOTHING, {"LD_PRELOAD": "libm.so.6",
                            "ASAN_OPTIONS": "verify_asan_link_order=0"}, "environment", "warning",
                  "stand before the driver's", "unset it"),
    "preloaded by the system": (made(**{"etc/ld.so.preload": "/usr/lib/libvgpu.so\n"}), {},
                                "environment", "warning", "ld.so.preload has '/usr/lib/libvgpu.so",
                                "shares the GPU"),
    "library by name": (NOTHING, {"CUSHIM_LIBCUDA": "/x"}, "environment", "warning",
                        "this library and no other", "unset it"),
    "hidden": (NOTHING, {"CUSHIM_LIBCUDA": ""}, "environment", "warning",
               "it hides the driver from programs with cushim", "unset it"),
    "no JIT": (NOTHING, {"CUDA_DISABLE_PTX_JIT": "1"}, "environment", "error", "end with 223",
               "unset it"),
    "JIT alone": (NOTHING, {"CUDA_FORCE_PTX_JIT": "1"}, "environment", "warning", "end with 209",
                  "unset it"),
    "blocking": (NOTHING, {"CUDA_LAUNCH_BLOCKING": "1"}, "environment", "warning", "waits",
                 "unset it"),
    "MPS": (NOTHING, {"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mps"}, "environment", "warning",
            "MPS daemon", "unset it"),
    "injection": (NOTHING, {"CUDA_INJECTION64_PATH": "/x.so"}, "environment", "warning",
                  "into each program", "unset it"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble(name, tmp_path):
    change, variables, check, level, words, fix = TROUBLES[name]
    root = tmp_path / "a system"
    sound(root)
    change(root)
    before = sorted(str(path) for path in root.rglob("*"))
    rows = [row for row in doctor(root, **variables)[check] if row["level"] == level]
    assert any(words in row["text"] and fix in (row["fix"] or "") for row in rows), rows
    assert sorted(str(path) for path in root.rglob("*")) == before  # it changes nothing


@pytest.mark.parametrize("release, text", [("12.9", "ptxas of CUDA 12.9"), ("12.4", "12.4")])
def test_ptxas_of_the_family(release, text, tmp_path):
    """Machine code of the driver's own family is no trouble; nor is NVRTC that is no newer."""
    sound(tmp_path)
    ptxas("usr/bin", release)(tmp_path)
    nvrtc("usr/lib64", "12.4")(tmp_path)
    rows = doctor(tmp_path, OK)["compilers"]
    assert {row["level"] for row in rows} == {"ok"} and len(rows) == 2
    assert any(text in row["text"] for row in rows)


def test_audited(tmp_path):
    """The loader itself says that the library is not there."""
    sound(tmp_path)
    result = run("doctor", "--no-init", "--root", tmp_path, LD_AUDIT="/nonexistent.so")
    assert "LD_AUDIT is '/nonexistent.so': a library is asked about each file" in result.out


def inside(root):
    """The command and the libraries that it takes, in a system that becomes the root."""
    done = subprocess.run(["ldd", CLI], capture_output=True, text=True, check=False,
                          env=environment())
    files = re.findall(r"(/\S+) \(0x", done.stdout)
    folder = root / "cushim-here"
    folder.mkdir()
    for file in [CLI, *files]:
        shutil.copy(file, folder)
    loader, = [os.path.basename(file) for file in files if "/ld-" in file]
    return [f"/cushim-here/{loader}", "--library-path", "/cushim-here",
            f"/cushim-here/{os.path.basename(CLI)}"]


@pytest.mark.skipif(os.environ.get("CUSHIM_SANITIZER", "none") != "none",
                    reason="sanitizers need /proc")
@pytest.mark.parametrize("name", [name for name in TROUBLES if name not in (
    "preloaded", "preloaded by the system", "library first in the path")])
def test_trouble_in_a_namespace(name, tmp_path):
    """The same systems as the root of a namespace, with no option that tells of it."""
    change, variables, check, level, words, fix = TROUBLES[name]
    root = tmp_path / "system"
    sound(root)
    change(root)
    (root / "home").mkdir(exist_ok=True)
    command = inside(root)
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--root", root,
                           *command, "doctor", "--no-init"], capture_output=True, text=True,
                          check=False, env=environment(HOME="/home", **variables))
    if "unshare" in done.stderr:
        pytest.skip("no mount namespace is allowed here")
    rows = re.findall(r"^(\w+) +([a-z-]+) +(.*(?:\n {25}fix: .*)?)",
                      unfolded(done.stdout), re.M)
    text = " ".join(rest for *head, rest in rows if head == [level, check])
    if check == "libraries" and "no usual folder" in words:
        assert words in unfolded(done.stdout) and fix in unfolded(done.stdout)
        return
    assert words in text and fix in text, done.stdout


def test_no_home(tmp_path):
    sound(tmp_path)
    done = subprocess.run(["env", "-u", "HOME", CLI, "doctor", "--no-init", "--root", tmp_path],
                          capture_output=True, text=True, check=False, env=environment())
    assert "neither HOME nor CUDA_CACHE_PATH" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_rights(tmp_path_factory):
    """A node that this user may not open."""
    root = tmp_path_factory.mktemp("rights")
    sound(root)
    for folder in (root, *root.parents):
        if folder.name.startswith("pytest-") or folder == root:
            folder.chmod(0o755)
    (root / "dev/nvidia-uvm").chmod(0o600)
    (root / "dev/nvidiactl").chmod(0o666)
    (root / "dev/nvidia0").chmod(0o666)
    result = run("doctor", "--no-init", "--root", root, user=65534, HOME="/home")
    assert "/dev/nvidia-uvm may not be opened by this user" in result.out
    assert result.out.count("device-nodes") == 1 and "add the user to it" in result.out


def test_empty_system(tmp_path):
    """Neither /proc nor /sys nor anything else."""
    found = doctor(tmp_path, FAILED)
    assert found["gpu"][0]["level"] == found["kernel-module"][0]["level"] == "warning"
    assert found["libraries"][0]["level"] == "error"


def test_in_a_namespace():
    """Without /proc and /sys, and in a container's namespaces, it ends as elsewhere."""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             'mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec "$@"', "sh", CLI,
             "doctor", "--no-init"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment())
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no mount namespace is allowed here")
    assert "whether there is a GPU is not known" in done.stdout
    assert "whether a module is loaded is not known" in done.stdout


# ---- the driver itself

def driver_findings(**variables):
    """What is found of the driver; the machine's own findings are left out."""
    rows = run("doctor", "--json", **variables).json()["findings"]
    return [(row["check"], row["level"], row["text"]) for row in rows
            if row["check"] in ("driver", "init", "device", "nvml")]


def test_no_driver():
    (check, level, text), = driver_findings(CUSHIM_LIBCUDA="/nonexistent/libcuda.so.1")
    assert (check, level) == ("driver", "error") and "/nonexistent/libcuda.so.1" in text


@pytest.mark.parametrize("variables, words", [({"FAKE_DEVICES": "-1"}, "100"),
                                              ({"FAKE_FAIL": "cuInit"}, "999")])
def test_init_fails(variables, words):
    found = driver_findings(CUSHIM_LIBCUDA=FAKE_GPU, **variables)
    assert found[0][:2] == ("driver", "ok")
    assert found[1][:2] == ("init", "error") and words in found[1][2]


def test_interposed():
    found = driver_findings(CUSHIM_LIBCUDA=fake("wrap_one"))
    assert any(row[:2] == ("driver", "warning") and "another library" in row[2] for row in found)


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_kernel():
    """With a GPU it runs a kernel; one that fails is an error."""
    found = driver_findings(CUSHIM_LIBCUDA=SIM_DRIVERS[-1])
    assert [row[:2] for row in found[:3]] == [("driver", "ok"), ("init", "ok"), ("device", "ok")]
    found = driver_findings(CUSHIM_LIBCUDA=SIM_DRIVERS[-1], CUSHIM_SIM_FAULT="cuLaunchKernel")
    assert found[-2][:2] == ("device", "error") and "device 0" in found[-2][2]
    found = driver_findings(CUSHIM_LIBCUDA=SIM_DRIVERS[-1],
                            CUSHIM_SIM_FAULT="cuDevicePrimaryCtxRetain")
    assert found[-2][:2] == ("device", "error")


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_a_simulated_driver():
    """It needs neither the machine's GPU nor a kernel module."""
    result = run("sim", "--quiet", "--", CLI, "doctor")
    assert (result.code, result.err) == (OK, ""), result.out
    assert result.out.startswith("ok      gpu              simulated, ")
    assert "kernel-module" not in result.out and "device-nodes" not in result.out


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
@pytest.mark.parametrize("variables, level, words", [
    ({}, "ok", "works; devices: 1"),
    ({"CUSHIM_SIM_NVML_FAULT": "nvmlInit:error=LIB_RM_VERSION_MISMATCH"}, "warning", "nvmlInit: "),
    ({"CUSHIM_LIBNVIDIA_ML": "/nowhere"}, "warning", "/nowhere"),
])
def test_nvml(variables, level, words):
    settings = {"CUSHIM_LIBCUDA": SIM_DRIVERS[-1], "CUSHIM_LIBNVIDIA_ML": SIM_NVML, **variables}
    assert driver_findings(**settings)[-1][:2] == ("nvml", level)
    assert words in driver_findings(**settings)[-1][2]


def test_page():
    """docs/doctor.md has each check, and these tests have each."""
    sources = "".join(file.read_text(encoding="utf-8")
                      for file in (ROOT / "tools").glob("doctor_*.c"))
    checks = set(re.findall(r'DOCTOR_\w+, "([a-z-]+)"', sources)) | \
        set(re.findall(r'DOCTOR_WARNING, "([a-z-]+)"', sources))
    page = (ROOT / "docs/doctor.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.M)) == checks
    assert len(TROUBLES) >= 25
