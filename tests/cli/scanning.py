# SPDX-License-Identifier: MIT
"""For the tests of `cushim scan`: its answer, programs of C, fatbins made by hand."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from command import CLI, OK, environment, run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cubins import cubin  # noqa: E402 pylint: disable=wrong-import-position

MINGW = "x86_64-w64-mingw32-"
NEEDS_MINGW = pytest.mark.skipif(not shutil.which(MINGW + "dlltool"), reason="no Windows compiler")


def scan(*arguments, code=OK):
    """The JSON output."""
    result = run("scan", "--json", *arguments)
    assert (result.code, result.err) == (code, ""), result.out
    answer = result.json()
    assert list(answer) == ["drivers", "gpus", "files", "all", "verdicts", "sources",
                            "python", "other", "problems"]
    return answer


def only(*arguments, code=OK):
    """The one file that was found."""
    answer = scan(*arguments, code=code)
    assert len(answer["files"]) == 1 and answer["problems"] == []
    return answer["files"][0]


def build(folder, source, *options, name="program"):
    """Compile a C text; undefined symbols are allowed, and are looked up at the start."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (folder / "program.c").write_text(source)
    subprocess.run(["cc", "-w", "-Wl,-z,now", folder / "program.c", "-o", folder / name, *options],
                   check=True, capture_output=True)
    return folder / name


KERNEL = ".address_size 64\n.visible .entry k()\n{\n    ret;\n}\n"
KINDS = {"ptx": 1, "lto": 8}


def fatbin(*codes, flags=0, kernel=KERNEL):
    """A fatbin of ("cubin", 80), ("cubin", 80, cubin(80)), ("lto", 80) and ("ptx", 90, "9.0",
    "sm_90a")."""
    body = b""
    for kind, architecture, *more in codes:
        text = more[0] if kind == "cubin" and more else b"\x7fELF"
        if kind == "ptx":
            text = f"//\n.version {more[0]}\n.target {more[1]}\n{kernel}".encode()
        text += bytes(-len(text) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", KINDS.get(kind, 2), 0x101, 64, len(text), 0,
                            0, 0, 0, architecture, 0, 0, flags, 0, 0) + text
    return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(body)) + body


def memory_of(*arguments, **variables):
    """Exit code, output, and the most memory in KiB that a run of `cushim scan` took."""
    done = subprocess.run([sys.executable, "-c", "import resource, subprocess, sys; "
                           "code = subprocess.run(sys.argv[1:], check=False).returncode; "
                           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); "
                           "sys.exit(code)", CLI, "scan", *map(str, arguments)],
                          capture_output=True, text=True, check=False, timeout=120,
                          env=environment(**variables))
    *out, memory = done.stdout.splitlines()
    return done.returncode, "\n".join(out), done.stderr, int(memory)


def data(folder, content, *more):
    """A library with these bytes among its data, and C besides."""
    (folder / "data.bin").write_bytes(content)
    source = ('__asm__(".section .rodata\\n.globl bytes\\nbytes: .incbin \\"data.bin\\"\\n"\n'
              '        ".byte 0\\n.previous\\n");\n' + "\n".join(more))
    (folder / "program.c").write_text(source)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "program.c", "-o", "a.so"], check=True,
                   cwd=folder)
    return folder / "a.so"


OLD_PTX = b"\0.version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n\0"
BOTH = fatbin(("cubin", 80, cubin(80)), ("ptx", 90, "8.0", "sm_90"))
