# SPDX-License-Identifier: MIT
"""The scanner on NVML's header, which has no typedefs: three small releases of our own."""

import json
import sys

import pytest

from handmade import GEN, NEEDS_CLANG, scan

sys.path.insert(0, str(GEN))
import emit  # noqa: E402 pylint: disable=wrong-import-position
import emit_nvml  # noqa: E402 pylint: disable=wrong-import-position
import emit_nvml_sim  # noqa: E402 pylint: disable=wrong-import-position
from libraries import NVML  # noqa: E402 pylint: disable=wrong-import-position
from registry import RegistryError  # noqa: E402 pylint: disable=wrong-import-position

pytestmark = NEEDS_CLANG
PUBLIC = "#ifndef NVML_NO_UNVERSIONED_FUNC_DEFS\n{}#endif\n"
COMMON = """
#define NVML_API_VERSION {major}
#define nvmlFlagDefault 0x00
#define NVML_EMPTY
#define NVML_STRUCT_VERSION(data, ver) (sizeof(nvml##data##_v##ver##_t) | (ver << 24U))
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef enum nvmlReturn_enum {{ NVML_SUCCESS = 0, NVML_ERROR_UNKNOWN = 999 }} nvmlReturn_t;
typedef struct nvmlInfo_v1_st {{ unsigned pid; }} nvmlInfo_v1_t;
typedef struct nvmlInfo_v2_st {{ unsigned pid, instance; }} nvmlInfo_v2_t, nvmlInfo_t;
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlInit_v2(void);
const char *nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlList(nvmlDevice_t device, {info} *infos);
"""
NAMES = "#define nvmlInit nvmlInit_v2\n"
FIRST = COMMON.format(major=11, info="nvmlInfo_t") + PUBLIC.format(NAMES)
SECOND = COMMON.format(major=12, info="nvmlInfo_v1_t") + """
nvmlReturn_t nvmlList_v2(nvmlDevice_t device, nvmlInfo_t *infos);
nvmlReturn_t nvmlGone(void);
typedef struct { int x; } nvmlGone_t;
nvmlReturn_t nvmlUse(nvmlGone_t *gone);
#define nvmlInfo_v2 NVML_STRUCT_VERSION(Info, 2)
""" + PUBLIC.format(NAMES + "#define nvmlList nvmlList_v2\n")
THIRD = COMMON.format(major=13, info="nvmlInfo_v1_t") + """
nvmlReturn_t nvmlList_v2(nvmlDevice_t device, nvmlInfo_t *infos);
nvmlReturn_t nvmlNew_v1(nvmlDevice_t device);
""" + PUBLIC.format(NAMES + "#define nvmlList nvmlList_v2\n")


def releases(folder, **texts):
    """Headers by release: r11_8="..." is 11.8."""
    for name, text in texts.items():
        place = folder / name[1:].replace("_", ".") / "linux"
        place.mkdir(parents=True)
        (place / "nvml.h").write_text(text, encoding="utf-8")
    return folder


def scan_all(tmp_path, **texts):
    """{file: rows} of a scan that succeeds."""
    registry = tmp_path / "registry"
    done = scan(releases(tmp_path / "headers", **texts), registry, "--library", "nvml")
    assert done.returncode == 0, done.stderr
    return {file.stem: [json.loads(line) for line in file.read_text().splitlines()]
            for file in registry.iterdir()}


def test_entries_types_and_levels(tmp_path):
    """Releases are those that first declare a symbol; spellings are the newest; names lead on."""
    found = scan_all(tmp_path, r11_8=FIRST, r12_4=SECOND, r13_0=THIRD)
    assert set(found) == {"entries", "types", "levels"}
    since = {row["symbol"]: row["since"] for row in found["entries"]}
    assert since == {"nvmlErrorString": 11080, "nvmlInit": 11080, "nvmlInit_v2": 11080,
                     "nvmlList": 11080, "nvmlGone": 12040, "nvmlList_v2": 12040,
                     "nvmlUse": 12040, "nvmlNew_v1": 13000}
    rows = {row["symbol"]: row for row in found["entries"]}
    assert rows["nvmlErrorString"]["result"] == "const char *"
    assert "result" not in rows["nvmlInit"] and "platform" not in rows["nvmlInit"]
    assert rows["nvmlList"]["params"][1][0] == "nvmlInfo_v1_t *"
    assert rows["nvmlNew_v1"]["name"] == "nvmlNew"
    meanings = [(row["release"], row["name"], row["symbol"]) for row in found["levels"]
                if "name" in row]
    assert meanings == [(11080, "nvmlInit", "nvmlInit_v2"), (12040, "nvmlList", "nvmlList_v2")]
    types = {row["name"]: row["versions"] for row in found["types"]}
    assert types["nvmlInfo_t"][-1]["type"] == "struct nvmlInfo_v2_st"
    assert types["nvmlInfo_v2"][0]["value"].startswith("NVML_STRUCT_VERSION")
    assert types["NVML_EMPTY"][0]["value"] == "" and "nvmlInit" not in types
    assert types["nvmlGone_t"][-1]["kind"] == "gone"


def test_emitted_header(tmp_path):
    """A type that only an entry of an older release uses stays; so does its table slot."""
    found = scan_all(tmp_path, r11_8=FIRST, r12_4=SECOND, r13_0=THIRD)
    text = emit_nvml.emit_header(found)
    assert "} nvmlGone_t;" in text and "(*nvmlUse)(nvmlGone_t *gone);" in text
    assert "const char *(*nvmlErrorString)(nvmlReturn_t result);" in text
    assert text.index("(*nvmlInit_v1)(void);") < text.index("#define nvmlInit nvmlInit_v2")


def refused(tmp_path, old, new):
    """What a scan says of a second release that was changed."""
    assert SECOND.count(old) >= 1
    headers = releases(tmp_path / "headers", r11_8=FIRST, r12_4=SECOND.replace(old, new))
    done = scan(headers, tmp_path / "registry", "--library", "nvml")
    assert done.returncode == 1 and "12.4/linux/nvml.h:" in done.stderr
    return done.stderr


def test_refused(tmp_path):
    """A macro that nobody wrote in our words, and other parameters under an old symbol."""
    assert "libraries.py does not know" in refused(
        tmp_path / "macro", "nvmlReturn_t nvmlGone(void);", "#define NVML_NEW(x) (x)\n")
    assert "nvmlList changed its parameters" in refused(
        tmp_path / "parameters", "nvmlInfo_v1_t *infos", "unsigned *infos")


def test_answers(tmp_path):
    """Behaviours without code: what a line becomes, and lines that are refused with their place."""
    path = tmp_path / "answers.def"

    def read(text):
        path.write_text("/* a line */\n" + text, encoding="utf-8")
        return emit_nvml_sim.Answers(path, emit.Files(NVML.registry))
    answers = read("VALID(nvmlDeviceGetIndex, f(1, 2))\n"
                   "VALUE(nvmlDeviceGetIndex nvmlDeviceGetMinorNumber, g(3, 4))\n"
                   "SAME(nvmlDeviceGetBoardId, nvmlDeviceGetIndex)\n"
                   "ZERO(nvmlDeviceGetSramEccErrorStatus)\n")
    assert answers.bodies["nvmlDeviceGetIndex"][0] == "    *index = (unsigned int)(g(3, 4));"
    assert answers.bodies["nvmlDeviceGetSramEccErrorStatus"][0] == \
        "    *status = (nvmlEccSramErrorStatus_t){.version = status->version};"
    assert answers.checks["nvmlDeviceGetBoardId"] == answers.checks["nvmlDeviceGetIndex"] != []
    for line, message in (("nonsense", "no mark"), ("VALUE(nvmlNone, 1)", "no entry nvmlNone"),
                          ("VALUE(nvmlInit, 1)", "VALUE is not written so"),
                          ("WORTH(nvmlInit, 1)", "WORTH is not written so"),
                          ("ANSWER(nvmlInit nvmlInit, 1)", "nvmlInit has a behaviour already")):
        with pytest.raises(RegistryError, match=f"{path}:2: {message}"):
            read(line + "\n")
