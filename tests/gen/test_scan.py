# SPDX-License-Identifier: MIT
"""gen/scan.py makes of small hand-made toolkits exactly what golden-*.txt hold, however often it
runs. handmade.py renews those files.
"""

import json

import handmade
import pytest
from handmade import CASES, FILES, NEEDS_CLANG, edit, registry_text, scan, scanned, toolkits

pytestmark = NEEDS_CLANG


def golden(case):
    """What the scanner has to make of a case."""
    return {name.partition(".")[0]: text for name, text in handmade.golden(case).items()}


def rows(text):
    """The lines' objects, by their first field."""
    return {next(iter(row.values())): row for row in map(json.loads, text.splitlines())}


@pytest.mark.parametrize("case", CASES)
def test_golden(case, tmp_path):
    """All releases at once into an empty registry."""
    made = scanned(toolkits(case, tmp_path / "headers"), tmp_path / "registry")
    assert set(made) == set(FILES)
    for name in FILES:
        assert made[name] == golden(case)[name]


@pytest.mark.parametrize("case", CASES)
def test_again(case, tmp_path):
    """A second run writes nothing, and --check agrees."""
    registry, headers = tmp_path / "registry", toolkits(case, tmp_path / "headers")
    first = scanned(headers, registry)
    times = [path.stat().st_mtime_ns for path in sorted(registry.iterdir())]
    assert scanned(headers, registry) == first
    assert [path.stat().st_mtime_ns for path in sorted(registry.iterdir())] == times
    assert scanned(headers, registry, "--check") == first


@pytest.mark.parametrize("case", CASES)
def test_release_by_release(case, tmp_path):
    """Releases added one at a time, with the older ones at hand or not, give the same bytes."""
    releases = sorted(path.name for path in toolkits(case, tmp_path / "all").iterdir())
    for number, release in enumerate(releases, 1):
        grown = toolkits(case, tmp_path / f"grown-{release}", releases[:number])
        alone = toolkits(case, tmp_path / f"alone-{release}", [release])
        made = scanned(grown, tmp_path / "all so far")
        assert scanned(alone, tmp_path / "one each") == made
    assert made == golden(case)


def test_check_writes_nothing(tmp_path):
    """--check names the files that a new release would change, and leaves them."""
    registry = tmp_path / "registry"
    before = scanned(toolkits("entries", tmp_path / "old", ["12.0"]), registry)
    done = scan(toolkits("entries", tmp_path / "new"), registry, "--check")
    assert done.returncode == 1
    assert done.stderr == "would change: entries, levels\n"
    assert registry_text(registry) == before


def test_order_is_append_only():
    """A new entry comes last even where its name and its release sort before older ones."""
    symbols = list(rows(golden("entries")["entries"]))
    assert symbols.index("cuAccess") > symbols.index("cuPlanWithFlags")
    assert rows(golden("entries")["entries"])["cuAccess"]["since"] == 2000


def test_platform_widens(tmp_path):
    """What one platform had is everywhere once a release has it on both."""
    registry = tmp_path / "registry"
    old = scanned(toolkits("platforms", tmp_path / "old", ["12.0"]), registry)
    assert rows(old["entries"])["cuTegra"]["platform"] == "linux"
    new = scanned(toolkits("platforms", tmp_path / "new"), registry)
    assert "platform" not in rows(new["entries"])["cuTegra"]
    assert rows(new["entries"])["cuD3D9CtxCreate"]["platform"] == "windows"


def test_windows_levels():
    """A name that only Windows has means there what its macro says."""
    assert '"name": "cuD3D9CtxCreate", "symbol": "cuD3D9CtxCreate_v2"' in \
        golden("platforms")["levels"]


def test_plain_name_of_an_absent_header(tmp_path):
    """A release of which a header is not at hand says nothing about that header's plain names."""
    headers = toolkits("platforms", tmp_path / "headers")
    edit(headers / "12.0/linux/cudaVDPAUTypedefs.h", (
        "#include <cudaVDPAU.h>\n",
        "#include <cudaVDPAU.h>\n#define PFN_cuVDPAUGetDevice PFN_cuVDPAUGetDevice_v3010\n"))
    for name in ("cudaVDPAU.h", "cudaVDPAUTypedefs.h"):
        (headers / "12.1/linux" / name).unlink()
    assert scanned(headers, tmp_path / "registry")["typedefs"] == (
        '{"name": "PFN_cuVDPAUGetDevice", "versions": '
        '[{"since": 12000, "symbol": "cuVDPAUGetDevice"}]}\n')


def test_only_names_and_numbers(tmp_path):
    """A comment of a header reaches no file of the registry."""
    headers = toolkits("types", tmp_path / "headers")
    for file in headers.glob("*/linux/*.h"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(";\n", "; /* a sentence */\n"), encoding="utf-8")
    assert scanned(headers, tmp_path / "registry") == golden("types")
