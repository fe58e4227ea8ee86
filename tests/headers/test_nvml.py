# SPDX-License-Identifier: MIT
"""cushim/nvml.h against NVIDIA's nvml.h of every release, each at its level.

Facts about NVIDIA's header are measured by clang. Source that is written for it compiles with ours
to the same: types, sizes, offsets, values, functions and what plain names mean.
"""

import re
import shutil

import pytest

import asserts
import facts
import toolkits

INCLUDE = "#include <cushim/nvml.h>\n"
PLAIN = "-DNVML_NO_UNVERSIONED_FUNC_DEFS"
ABSENT = {  # that only steers NVIDIA's own header, or that it calls deprecated and not to be used
    "DECLDIR", "NVML_POWER_SMOOTHING_IDX_FROM_FIELD_VAL",
    "NVML_POWER_SMOOTHING_IDX_FROM_FIELD_VAL_DEPRECATED"}
# 11.2 declared all four with one structure; these are the types that 11.7 gave them.
RESPELLED = {"11.2": {f"nvmlDeviceGet{kind}RunningProcesses{abi}"
                      for kind in ("Compute", "Graphics") for abi in ("", "_v2")}}
LISTED = re.compile(r"^#define ((?:NVML|nvml|MAX_|INVALID_)\w+)(\()?", re.M)


class Kit:
    """nvml.h of one release."""

    platform = "linux"

    def __init__(self, folder):
        self.folder = folder / "linux"
        self.release = folder.name
        major, minor = map(int, folder.name.split("."))
        self.version = major * 1000 + minor * 10

    @staticmethod
    def includes(*_):
        return "#include <nvml.h>\n"

    @property
    def level(self):
        """The option for our header."""
        return f"-DCUSHIM_NVML_VERSION={self.version}"


def kits():
    """Parameters: what gen/fetch.py --library nvml put into the cache, oldest first."""
    found = [Kit(folder) for folder in (toolkits.cache() / "headers-nvml").glob("*.*")
             if (folder / "linux" / "nvml.h").is_file()]
    found.sort(key=lambda kit: kit.version)
    return toolkits.each_release(found, "no nvml.h in the cache: run gen/fetch.py --library nvml")


def functions(kit):
    """Assertions that each function is declared with NVIDIA's type."""
    for cursor in facts.Facts._parse(kit_facts(kit), PLAIN):  # pylint: disable=protected-access
        if cursor.kind == facts.CursorKind.FUNCTION_DECL and \
                cursor.spelling not in RESPELLED.get(kit.release, ()):
            result = cursor.type.get_result().get_canonical().spelling
            params = ", ".join(kind.get_canonical().spelling
                               for kind in cursor.type.argument_types()) or "void"
            yield f"SAME(OF(&{cursor.spelling}), {result} (*)({params}));"


def kit_facts(kit):
    """Facts, once for each release."""
    if not hasattr(kit, "facts"):
        kit.facts = facts.Facts(kit)
    return kit.facts


@pytest.mark.parametrize("kit", kits())
def test_types_and_functions(kit, tmp_path):
    """In C and C++; the assertions hold after NVIDIA's own header, too."""
    measured = kit_facts(kit)
    checks = tmp_path / "checks.h"
    checks.write_text(asserts.text(asserts.layout(measured), functions(kit)), encoding="utf-8")
    written = checks.read_text(encoding="utf-8")
    assert written.count("HOLDS(") > 700 and written.count("SAME(OF(&") > 200
    text = f'#include "{checks}"\n'
    toolkits.check_all({
        "NVIDIA's": ("gcc", "c11", "#include <nvml.h>\n" + text, f"-I{kit.folder}", PLAIN),
        "C": ("gcc", "c11", INCLUDE + text, kit.level, PLAIN),
        "C++": ("clang" if shutil.which("clang++") else "gcc", "c++17", INCLUDE + text, kit.level,
                PLAIN),
    })


@pytest.mark.parametrize("kit", kits())
def test_macros(kit, tmp_path):
    """Every macro of NVIDIA's is there with the same value, but for spelling."""
    theirs_text = toolkits.preprocess("#include <nvml.h>\n", "-dM", f"-I{kit.folder}")
    ours_text = toolkits.preprocess(INCLUDE, "-dM", kit.level)
    theirs, ours = (dict(LISTED.findall(text)) for text in (theirs_text, ours_text))
    lacking = set(theirs) - set(ours) - ABSENT
    assert not lacking
    names = sorted(name for name, arguments in theirs.items() if not arguments)
    assert len(names) > 100
    expanded = [facts.meanings(names, text, *options, compiler="gcc") for text, options in (
        ("#include <nvml.h>\n", [f"-I{kit.folder}"]), (INCLUDE, [kit.level]))]
    wrong = {name: (expanded[0][name], expanded[1][name]) for name in names
             if "sizeof" not in expanded[0][name] and expanded[0][name] != expanded[1][name]}
    assert not wrong
    checks = tmp_path / "checks.h"
    checks.write_text(asserts.text(
        f"HOLDS({name} == ({expanded[0][name].replace('unsignedint', 'unsigned int')}));"
        for name in names if "sizeof" in expanded[0][name]), encoding="utf-8")
    toolkits.check_all({"versions": ("gcc", "c11", f'{INCLUDE}#include "{checks}"\n', kit.level)})


@pytest.mark.parametrize("compiler, standard", toolkits.each_language())
def test_alone(compiler, standard):
    """The header compiles alone, without a warning, and NVIDIA's after it adds nothing."""
    options = [*toolkits.WARNINGS, "-pedantic", "-isystem", toolkits.ROOT]
    assert not toolkits.check(compiler, standard, INCLUDE, *options)
    for level in (11020, 12000, 13050):
        assert not toolkits.check(compiler, standard, INCLUDE, *options,
                                  f"-DCUSHIM_NVML_VERSION={level}")


@pytest.mark.parametrize("kit", kits()[-1:])
def test_either_header(kit):
    """NVIDIA's header behind ours adds nothing; before ours it is refused, with a sentence."""
    where = f"-I{kit.folder}"
    assert not toolkits.check("gcc", "c11", INCLUDE + "#include <nvml.h>\n", where)
    assert "include one of the two" in toolkits.check("gcc", "c11", "#include <nvml.h>\n" + INCLUDE,
                                                      where)
    assert "no release that cushim knows" in toolkits.check("gcc", "c11", INCLUDE,
                                                            "-DCUSHIM_NVML_VERSION=12345")
