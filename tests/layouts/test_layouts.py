# SPDX-License-Identifier: MIT
"""Cushim opens the file that plain dlopen opens, wherever the driver lies.

layout.c does one or the other. Where plain dlopen fails, cushim fails as well, and its sentence
gives no advice that may be wrong; or it finds the driver in its own list of folders. Where plain
dlopen kills the process, because the file is truncated, cushim is no better and no worse.
"""

import errno
import functools
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

BUILD = Path(os.environ["LAYOUTS"])
FAKES = Path(os.environ["CUSHIM_FAKES"])
NAME = "libcuda.so.1"
MULTIARCH = "/usr/lib/x86_64-linux-gnu"
WRONG_ADVICE = ("reinstall", "install NVIDIA")  # where the installation is all right


@dataclass
class Opened:
    """What a run of layout.c printed."""
    code: int
    file: str = ""
    words: str = ""
    status: str = ""
    message: str = ""


def parse(done):
    """Of a finished process."""
    opened = Opened(done.returncode)
    for line in done.stdout.splitlines():
        kind, _, text = line.partition(" ")
        setattr(opened, {"none": "words"}.get(kind, kind), text)
    return opened


def environment(**variables):
    """Without what leads to another driver."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("CUSHIM_LIB", "CUSHIM_LOG", "LD_"))}
    return clean | {name: str(value) for name, value in variables.items()}


def put(folder, fake="v12"):
    """A driver in a folder, as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(FAKES / f"fake_{fake}.so", folder / NAME)
    return folder / NAME


def put_torn(folder):
    """The beginning of a driver in a folder: enough for the system to map it."""
    torn = put(folder)
    os.truncate(torn, 3000)
    return torn


def both(top, *options, program="layout", before=(), **variables):
    """Plain dlopen and cushim, a process each; the program lies in the folder `top`."""
    copy = top / program
    if not copy.exists():
        shutil.copy(BUILD / program, copy)
    return tuple(parse(subprocess.run(
        [*before, copy, way, *map(str, options)], env=environment(**variables), cwd=top,
        capture_output=True, text=True, timeout=60, check=False)) for way in ("plain", "cushim"))


def assert_same(top, *options, expected, **how):
    """Both open the file that is expected."""
    plain, cushim = both(top, *options, **how)
    assert plain.code == cushim.code == 0
    assert (plain.file, plain.words) == (str(expected), "")
    assert (cushim.file, cushim.status) == (str(expected), "ok"), cushim.message
    assert cushim.message.startswith((f"{expected}: CUDA ", f"{NAME}: CUDA ")), cushim.message


@pytest.fixture(name="top")
def top_folder(tmp_path):
    """A path with a space, and without links."""
    folder = tmp_path.resolve() / "lay out"
    folder.mkdir()
    return folder


# ---- LD_LIBRARY_PATH and the program's own paths

def test_variable(top):
    """The usual way."""
    assert_same(top, LD_LIBRARY_PATH=top / "good", expected=put(top / "good"))


def test_variable_set_later(top):
    """The system uses the value that the variable had when the process began."""
    put_torn(top / "torn")
    assert_same(top, "--search", top / "torn", LD_LIBRARY_PATH=top / "good",
                expected=put(top / "good"))


def test_variable_set_later_to_a_driver(top):
    """So a variable that is set later finds nothing, and cushim is no better."""
    put(top / "good")
    plain, cushim = both(top, "--search", top / "good")
    assert plain.words and not cushim.file
    assert cushim.status == "not-found"


def test_rpath_before_variable(top):
    """DT_RPATH is before the variable."""
    put_torn(top / "torn")
    assert_same(top, program="layout_rpath", LD_LIBRARY_PATH=top / "torn",
                expected=put(top / "good"))


def test_variable_before_runpath(top):
    """DT_RUNPATH is behind it."""
    put_torn(top / "good")
    assert_same(top, program="layout_runpath", LD_LIBRARY_PATH=top / "first",
                expected=put(top / "first"))


def test_runpath(top):
    """DT_RUNPATH alone."""
    assert_same(top, program="layout_runpath", expected=put(top / "good"))


def test_lib_token(top):
    """$LIB is the system's name of its library folder."""
    found = [put(top / "good" / name) for name in ("lib/x86_64-linux-gnu", "lib64", "lib")]
    plain, cushim = both(top, LD_LIBRARY_PATH=top / "good" / "$LIB")
    assert plain.file in map(str, found)
    assert (cushim.file, cushim.status) == (plain.file, "ok")


def test_hwcaps(top):
    """A folder for this processor is before the folder itself, whose file is truncated here."""
    levels = (top / "good/glibc-hwcaps" / f"x86-64-v{level}" for level in (2, 3, 4))
    found = [str(put(level)) for level in levels]
    put_torn(top / "good")
    plain, cushim = both(top, LD_LIBRARY_PATH=top / "good")
    if plain.file not in found:
        pytest.skip("the processor, or the C library, has no glibc-hwcaps")
    assert (cushim.file, cushim.status) == (plain.file, "ok")


@pytest.mark.parametrize("program, folder, variable", [
    ("layout", "good/glibc-hwcaps/x86-64-v2", "good"),
    ("layout", "torn", "torn"),
    ("layout_rpath", "good", None),
    ("layout_runpath", "good", None),
], ids=["hwcaps", "variable", "rpath", "runpath"])
def test_torn(top, program, folder, variable):
    """A truncated file that the search meets is the system's to open: SIGBUS, or its words."""
    put(top / "good")
    put_torn(top / folder)
    search = {"LD_LIBRARY_PATH": top / variable} if variable else {}
    plain, cushim = both(top, program=program, **search)
    assert plain.code in (0, -signal.SIGBUS)
    assert cushim.code == plain.code
    if plain.code == 0 and plain.words:
        assert cushim.status == "truncated" and str(top / folder / NAME) in cushim.message


def test_torn_by_name(top):
    """A file that the caller names is examined before it is opened."""
    torn = put_torn(top / "torn")
    _, cushim = both(top, "--path", torn)
    assert (cushim.code, cushim.status) == (0, "truncated")


def test_loaded_before(top):
    """What the process has loaded under this soname is found, whatever the variable says."""
    first = put(top / "first", "soname")
    put_torn(top / "torn")
    assert_same(top, "--first", first, LD_LIBRARY_PATH=top / "torn", expected=first)


@pytest.mark.parametrize("program", ["layout", "layout_shared"])
def test_relative_path(top, program):
    """The path is that of the file which was opened, whatever the current folder is later."""
    put(top / "other/sub", "v11")
    how = {"LD_LIBRARY_PATH": BUILD.parents[1] / "src"} if program == "layout_shared" else {}
    assert_same(top, "--path", "./sub/" + NAME, "--folder", top / "other", program=program,
                expected=put(top / "sub"), **how)


def test_relative_variable(top):
    """The same for a relative folder in the variable."""
    put(top / "other/sub", "v11")
    assert_same(top, "--folder", top / "other", LD_LIBRARY_PATH="sub", expected=put(top / "sub"))


def test_link(top):
    """And for a link: the file that it leads to."""
    target = put(top / "target")
    (top / "link").symlink_to(top / "target")
    assert_same(top, LD_LIBRARY_PATH=top / "link", expected=target)


@pytest.mark.parametrize("program", ["layout", "layout_audited"])
def test_audit(top, program):
    """An auditor may find the driver in a place of its own: LD_AUDIT and DT_AUDIT."""
    put_torn(top / "torn")
    found = put(top / "good")
    how = {"LAYOUT_REDIRECT": found, "LD_LIBRARY_PATH": top / "torn"}
    if program == "layout":
        how["LD_AUDIT"] = BUILD / "redirect.so"
    assert_same(top, program=program, expected=found, **how)


# ---- in a mount namespace

# What is written to these folders is this process's alone, and gone with it. Of a driver that the
# machine has, neither file nor cache is left.
NAMESPACE = """
mount -t tmpfs none /mnt
for folder in /usr /etc /run; do
    mkdir -p /mnt$folder/upper /mnt$folder/work
    mount -t overlay overlay \\
        -o lowerdir=$folder,upperdir=/mnt$folder/upper,workdir=/mnt$folder/work $folder
done
rm -f $(find /usr/lib /usr/lib64 /run -name libcuda.so.1 -not -type d)
printf '/lib/x86_64-linux-gnu\\n/usr/lib/x86_64-linux-gnu\\n' >/etc/ld.so.conf
ldconfig
"""


UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount",
           "--propagation", "private", "sh", "-euc"]


@functools.cache
def namespaces_work():
    """Not in every container."""
    probe = subprocess.run([*UNSHARE, NAMESPACE], capture_output=True, check=False)
    return probe.returncode == 0


def namespace(script):
    """A command, to put before another, that runs the script in a mount namespace first."""
    if not namespaces_work():
        pytest.skip("no mount namespace is allowed here")
    return [*UNSHARE, NAMESPACE + script + '\nexec "$@"', "sh"]


def test_cache_before_folder(top):
    """The cache leads elsewhere, and a truncated file lies in the system's folder."""
    put(top / "good")
    put_torn(top / "torn")
    before = namespace(f"""
        cp '{top}/torn/{NAME}' {MULTIARCH}/
        mkdir /usr/lib/driver
        cp '{top}/good/{NAME}' /usr/lib/driver/
        sed -i 1i/usr/lib/driver /etc/ld.so.conf
        ldconfig
        ldconfig -p | grep -q '=> /usr/lib/driver/{NAME}'
    """)
    assert_same(top, before=before, expected=f"/usr/lib/driver/{NAME}")


def test_cache_of_a_torn_file(top):
    """The cache leads to a file that was truncated later: the system opens it, and so cushim."""
    put(top / "good")
    put_torn(top / "torn")
    before = namespace(f"""
        mkdir /usr/lib/driver
        cp '{top}/good/{NAME}' /usr/lib/driver/
        sed -i 1i/usr/lib/driver /etc/ld.so.conf
        ldconfig
        cp '{top}/torn/{NAME}' /usr/lib/driver/
    """)
    plain, cushim = both(top, before=before)
    assert plain.code in (0, -signal.SIGBUS)
    assert cushim.code == plain.code


@pytest.mark.parametrize("folder", [
    "/usr/lib/wsl/lib", "/run/opengl-driver/lib", f"{MULTIARCH}/nvidia/current",
    f"{MULTIARCH}/GL/default/lib", "/usr/lib64"])
def test_listed_folder(top, folder):
    """A folder that only the system's own cache would lead to, or nothing."""
    put(top / "good")
    before = namespace(f"mkdir -p {folder}\ncp '{top}/good/{NAME}' {folder}/")
    plain, cushim = both(top, before=before)
    assert plain.code == cushim.code == 0
    assert plain.file in ("", cushim.file)
    assert os.path.basename(cushim.file) == NAME and cushim.status == "ok", cushim.message
    assert cushim.file.endswith(folder.removeprefix("/usr") + "/" + NAME)


def test_no_cache(top):
    """Without /etc/ld.so.cache the system looks into its own folders."""
    put(top / "good")
    before = namespace(f"cp '{top}/good/{NAME}' {MULTIARCH}/\nrm -f /etc/ld.so.cache")
    assert_same(top, before=before, expected=f"{MULTIARCH}/{NAME}")


def assert_fails(plain, cushim, statuses):
    """Both fail, and the installation is not blamed."""
    assert plain.code == cushim.code == 0
    assert plain.words and not cushim.file
    assert cushim.status in statuses, cushim.message
    assert not [words for words in WRONG_ADVICE if words in cushim.message], cushim.message


@pytest.mark.parametrize("by_path", [False, True], ids=["search", "path"])
def test_noexec(top, by_path):
    """A file system from which nothing may be executed."""
    put(top / "good")
    before = namespace("""
        mkdir /mnt/driver
        mount -t tmpfs -o noexec none /mnt/driver
        """ + f"cp '{top}/good/{NAME}' /mnt/driver/")
    options = ["--path", f"/mnt/driver/{NAME}"] if by_path else []
    plain, cushim = both(top, *options, before=before, LD_LIBRARY_PATH="/mnt/driver")
    assert_fails(plain, cushim, ("forbidden",))


# ---- limits and filters

@pytest.mark.parametrize("by_path", [False, True], ids=["search", "path"])
def test_address_space(top, by_path):
    """No address space is left for the library (ulimit -v)."""
    (top / "large").mkdir()
    shutil.copy(BUILD / "large.so", top / "large" / NAME)
    options = ["--path", top / "large" / NAME] if by_path else []
    plain, cushim = both(top, *options, before=["prlimit", f"--as={1 << 28}"],
                         LD_LIBRARY_PATH=top / "large")
    assert_fails(plain, cushim, ("out-of-memory", "open-failed"))


@pytest.mark.parametrize("by_path", [False, True], ids=["search", "path"])
@pytest.mark.parametrize("error", [errno.EPERM, errno.EACCES, errno.ENOSYS])
@pytest.mark.parametrize("call", ["openat", "newfstatat", "mmap"])
def test_filter(top, call, error, by_path):
    """A filter of system calls. The driver is all right, and the sentence must not deny that."""
    good = put(top / "good")
    options = ["--path", good] if by_path else []
    plain, cushim = both(top, *options, "--deny", call, error, LD_LIBRARY_PATH=top / "good")
    if plain.file:
        assert (cushim.file, cushim.status) == (plain.file, "ok"), cushim.message
    else:
        assert_fails(plain, cushim, ("forbidden", "open-failed", "unreadable", "out-of-memory"))
