# SPDX-License-Identifier: MIT
"""The committed registry is exactly what gen/scan.py makes of NVIDIA's headers.

That takes the headers of every release that the registry knows: gen/fetch.py puts them into a
cache, which is read and not filled here.
"""

import functools
import sys

import pytest

from handmade import FILES, GEN, NEEDS_CLANG

sys.path.insert(0, str(GEN))
import fetch  # noqa: E402 pylint: disable=wrong-import-position
import libraries  # noqa: E402 pylint: disable=wrong-import-position
import registry  # noqa: E402 pylint: disable=wrong-import-position

RESULTS = {"cuda": "CUresult", "nvml": "nvmlReturn_t"}


@pytest.fixture(scope="module", name="library", params=libraries.LIBRARIES)
def library_fixture(request):
    """Each library with a registry."""
    return libraries.LIBRARIES[request.param]


@pytest.fixture(scope="module", name="headers")
def headers_fixture(tmp_path_factory, library):
    """A folder with the releases that the registry knows, and no newer one."""
    cache = fetch.headers_folder(library=library)
    releases = [registry.version_text(row["release"])
                for row in registry.read(library.registry, "levels") if "name" not in row]
    lacking = [release for release in releases if not fetch.complete(cache, release, library)]
    if lacking:
        pytest.skip(f"no headers of {', '.join(lacking)} in {cache}: gen/fetch.py fetches them")
    folder = tmp_path_factory.mktemp("headers")
    for release in releases:
        (folder / release).symlink_to(cache / release)
    return folder


def test_error_texts(library):
    """Every error code has its line in errors.jsonl, and there are no others."""
    result = next(row for row in registry.read(library.registry, "types")
                  if row["name"] == RESULTS[library.name])
    codes = {(number, name) for name, number, *_ in result["versions"][-1]["values"]}
    assert codes == {(row["code"], row["name"])
                     for row in registry.read(library.registry, "errors")}


@pytest.mark.in_all
@NEEDS_CLANG
def test_committed(headers, library, tmp_path, monkeypatch):
    """Both from nothing and on top of what is there; the headers are parsed once for both."""
    import scan  # pylint: disable=import-outside-toplevel  # it needs libclang

    monkeypatch.setattr(scan, "HeaderSet", functools.cache(scan.HeaderSet))
    files = [name for name in FILES if (library.registry / f"{name}.jsonl").exists()]
    committed = {name: (library.registry / f"{name}.jsonl").read_text(encoding="utf-8")
                 for name in files}
    for origin in (tmp_path, library.registry):
        made = scan.scan(headers, origin, library)
        for name in files:
            assert registry.dumps(made[name]) == committed[name], f"{name}.jsonl is stale: run " \
                "gen/scan.py"
