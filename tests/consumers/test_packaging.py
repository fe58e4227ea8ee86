# SPDX-License-Identifier: MIT
"""What packagers rely on: each file in one package, options obeyed, sources joined, the wrap."""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from adopt import HERE, NO_DRIVER, ROOT, need, run

sys.path.insert(0, str(ROOT / "tests/docs"))

from test_links import broken, links  # noqa: E402

PACKAGING = ROOT / "packaging"
SPEC = PACKAGING / "rpm/cushim.spec"
HOME = "https:" + "//cushim.example/"
VALUES = (f"homepage={HOME}", f"sha256={64 * '0'}", f"sha512={128 * '0'}",
          f"release={HOME}cushim-0.1.0.tar.xz", "maintainer=A <a@cushim.example>")
MACROS = {"_bindir": "bin", "_libdir": "lib/*", "_includedir": "include", "_datadir": "share",
          "_mandir": "share/man"}


def files(installed):
    """Paths below the prefix that were installed."""
    return sorted(str(path.relative_to(installed.prefix)) for path in installed.prefix.rglob("*")
                  if path.is_symlink() or not path.is_dir())


def matches(pattern, file):
    """Whether a pattern names a file, or a folder above it; * stays within a folder."""
    wanted, parts = pattern.split("/"), file.split("/")
    return len(wanted) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted))


def debian():
    """package -> (patterns, what debian/rules takes out again)."""
    removed = [match.partition("/usr/") for match in re.findall(
        r"rm -f debian/(\S+)", (PACKAGING / "debian/rules").read_text(encoding="utf-8"))]
    packages = {}
    for path in (PACKAGING / "debian").iterdir():
        if path.suffix in (".install", ".manpages"):
            lines = map(str.split, path.read_text(encoding="utf-8").splitlines())
            names = [name for words in lines for name in words[:-1] or words]  # and a folder to
            patterns = [name.removeprefix("debian/tmp/").removeprefix("usr/") for name in names]
            entry = packages.setdefault(path.stem, ([], []))
            entry[0].extend(patterns)
            entry[1].extend(rest for package, _, rest in removed if package == path.stem)
    return {name: tuple(entry) for name, entry in packages.items()}


def rpm():
    """The same of the spec."""
    packages, current = {}, None
    for line in SPEC.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:1] == ["%files"]:
            current = packages.setdefault(words[1] if len(words) > 1 else "", ([], []))
        elif words[:1] == ["%changelog"]:
            break
        elif current and words and words[0] not in ("%license", "%doc"):
            pattern = re.sub(r"%\{(\w+)\}", lambda match: MACROS[match[1]], words[-1])
            current[words[0] == "%exclude"].append(pattern.rstrip("/"))
    return packages


@pytest.mark.parametrize("read", [debian, rpm])
def test_each_file_is_in_one_package(read, installed, build):
    """Nothing that is installed is left out, in two packages, or named twice, and no pattern is
    stale. Documents are in packages by each system's own way."""
    packages = read()
    assert len(packages) >= 4
    there = [re.sub(rf"^{re.escape(build.options['libdir'])}/", "lib/triplet/", file)
             for file in files(installed)]
    for file in there:
        if file.startswith("share/doc/"):
            continue
        owners = [name for name, (patterns, without) in packages.items()
                  for pattern in patterns if matches(pattern, file)
                  and not any(matches(pattern, file) for pattern in without)]
        assert len(owners) == 1, (file, owners)
    everything = build.options["sim"] and any("man3" in file for file in there) and any(
        file == "bin/cushim" for file in there)
    stale = [pattern for patterns, _ in packages.values() for pattern in patterns
             if not any(matches(pattern, file) for file in there)]
    assert not everything or stale == [], stale


def test_debian_names_static_code(installed, build):
    """Each package that has libzstd or liblz4 in it says so, and lintian is told why. A package
    without their code does not."""
    need("nm")
    if not build.options["sim"] or build.options["sim_codecs"] != "static":
        pytest.skip("built without static libraries of others")
    holders = set()
    for name, (patterns, _) in debian().items():
        for path in installed.prefix.rglob("*"):
            file = str(path.relative_to(installed.prefix)).replace(
                f"{build.options['libdir']}/", "lib/triplet/", 1)
            if path.is_file() and path.read_bytes()[:4] in (b"\x7fELF", b"!<ar") and any(
                    matches(pattern, file) for pattern in patterns) and re.search(
                        r" [tT] (ZSTD|LZ4)_", run("nm", path, code=None)):
                holders.add(name)
    stanzas = (PACKAGING / "debian/control").read_text(encoding="utf-8").split("\n\n")
    told = {re.search(r"^Package: (.*)$", stanza, re.M)[1] for stanza in stanzas
            if "\nStatic-Built-Using: " in stanza}
    overridden = {path.stem for path in (PACKAGING / "debian").glob("*.lintian-overrides")}
    assert holders in (told, set()) and told == overridden  # built without them: nothing to tell


def test_debian_packs_manual_pages(installed):
    """What dh_compress leaves as it is are files that link each other, and no manual page."""
    rules = (PACKAGING / "debian/rules").read_text(encoding="utf-8")
    kept = re.search(r"dh_compress (.*)", rules)[1].replace("-X", "").split()
    there = files(installed)
    assert [file for file in there if "share/man" in file and any(k in file for k in kept)] == []
    docs = [file for file in there if "share/doc" in file]
    assert docs and all(any(k in file for k in kept) for file in docs)


def test_installed_readme(installed):
    """Its links and those of the pages lead to files that are installed. Others are their text."""
    top = installed.prefix / "share/doc/cushim"
    pages = list(top.rglob("*.md"))
    assert not list(broken(pages)) and sum(len(links(page)) for page in pages) > 250
    for page in pages:
        texts = [(folder / page.relative_to(top)).read_text("utf-8") for folder in (top, ROOT)]
        assert len({re.sub(r"\]\([^()\s]+\)|[][]", "", text) for text in texts}) == 1, page


def fill(folder, *values):
    """The folders of packaging/ with values."""
    run(sys.executable, PACKAGING / "fill.py", folder, *values)
    return folder


@pytest.mark.parametrize("values", [(), VALUES], ids=["bare", "filled"])
def test_fill(values, tmp_path):
    """Nothing is left to fill in; without a value its line is gone, or has its default."""
    fill(tmp_path, *values)
    texts = {path.relative_to(tmp_path): path.read_text(encoding="utf-8")
             for path in tmp_path.rglob("*") if path.is_file()}
    assert len(texts) > 20
    places = re.compile(r"@(homepage|release|sha\d+|maintainer)\b")
    assert [name for name, text in texts.items() if places.search(text)] == []
    whole = "\n".join(texts.values())
    assert whole.count("<cushim@localhost.localdomain>") == (0 if values else 3)
    assert whole.count(HOME) == (12 if values else 0)
    json.loads(texts[Path("vcpkg/vcpkg.json")])
    compile(texts[Path("conan/conanfile.py")], "conanfile.py", "exec")
    watch = texts[Path("debian/watch")].splitlines()[2:]
    assert watch == ["version=4"] + [f"{HOME} (?:.*/)?cushim-@ANY_VERSION@@ARCHIVE_EXT@"] * (
        values == VALUES)
    signed = fill(tmp_path, *VALUES, "signature=.asc") / "debian/watch"
    assert f"opts=pgpsigurlmangle=s/$/.asc/ \\\n{HOME}" in signed.read_text("utf-8")


def test_debian_source(tmp_path):
    """The lines of the page make a source package, and lintian has no remark on it but that a first
    upload closes no bug."""
    need("dpkg-buildpackage", "dh", "lintian", "git", "xz")
    if run("git", "-C", ROOT, "status", code=None).startswith("fatal"):
        pytest.skip("not a git checkout")
    release = tmp_path / "build/meson-dist/cushim-0.1.0.tar"
    release.parent.mkdir(parents=True)
    run("git", "-C", ROOT, "archive", "--prefix=cushim-0.1.0/", "-o", release, "HEAD")
    run("xz", "-0", release)
    out = fill(tmp_path / "out", *VALUES)
    page = (ROOT / "docs/packaging.md").read_text(encoding="utf-8")
    lines = re.search(r"in `out`:\n\n((?:    .*\n)+)", page)[1]
    assert lines.count("dpkg-buildpackage -us -uc") == 1
    run("sh", "-euc", lines.replace("-us -uc", "-us -uc -S -d"), cwd=out)
    (source,) = out.glob("*.dsc")
    assert "Testsuite: autopkgtest\n" in source.read_text(encoding="utf-8")
    shown = run("lintian", "--allow-root", source, code=None)
    assert re.findall(r"^[EW]: (.*)", shown, re.M) == [], shown


def test_debian_smoke(installed, tmp_path):
    """What autopkgtest runs on the packages, on an installation of the same files."""
    need("pkg-config", "c++")
    run(PACKAGING / "debian/tests/smoke", cwd=ROOT, env={
        **installed.env, "AUTOPKGTEST_TMP": str(tmp_path), "PKG_CONFIG": installed.pkg_config,
        "PATH": f"{installed.prefix}/bin:{os.environ['PATH']}"})


def test_fill_refuses(tmp_path):
    for word in ("homepage", "home=page", "sha256="):
        said = run(sys.executable, PACKAGING / "fill.py", tmp_path / "to", word, code=1)
        assert f"'{word}' is not one of homepage" in said and not (tmp_path / "to").exists()


def test_options_of_the_recipes():
    """What a recipe passes to Meson are options that there are."""
    known = set(re.findall(r"^option\('(\w+)'", (ROOT / "meson_options.txt").read_text("utf-8"),
                           re.M)) | {"default_library"}
    for name, least in (("vcpkg/portfile.cmake", 3), ("conda/recipe.yaml", 7),
                        ("rpm/cushim.spec", 6), ("debian/rules", 7)):
        found = re.findall(r"-D(\w+)=", (PACKAGING / name).read_text(encoding="utf-8"))
        assert len(found) >= least and set(found) <= known, (name, found)


def test_spec(tmp_path):
    """rpm reads it, and rpmlint has no remark but those that rpmlint.toml explains."""
    need("rpmspec", "rpmlint")
    for values in ((), VALUES):
        spec = fill(tmp_path, *values) / "rpm/cushim.spec"
        shown = run("rpmspec", "-q", "--qf", "%{name}\n", spec).split()
        assert {"cushim", "cushim-libs", "cushim-devel", "cushim-sim-devel"} <= set(shown)
        shown = run("rpmlint", "-c", PACKAGING / "rpm/rpmlint.toml", spec, code=None)
        assert "0 errors, 0 warnings" in shown
    shown = run("rpmspec", "--define", "_lto_cflags -flto=auto", "--define",
                "meson flags: %{_lto_cflags}", "-P", spec)
    assert "flags:" in shown and "-flto" not in shown  # static libraries for any compiler


@pytest.mark.in_all
@pytest.mark.by_hand
def test_conan(tmp_path):
    """A release of what is committed, by its address and hash: the recipe builds it, and a project
    of CMake finds it. So does one of pkg-config, by the names of an installation."""
    need("cmake", "meson", "git", "xz", "python3", "pkg-config")
    if run("git", "-C", ROOT, "status", code=None).startswith("fatal"):
        pytest.skip("not a git checkout")
    run("python3", "-m", "venv", tmp_path / "python")
    said = run(tmp_path / "python/bin/pip", "install", "--quiet", "conan", code=None)
    if not (tmp_path / "python/bin/conan").exists():
        pytest.skip(f"pip cannot fetch Conan here: {said}")
    run("git", "-C", ROOT, "archive", "--prefix=cushim-0.1.0/", "-o", tmp_path / "release.tar",
        "HEAD")
    run("xz", "-0", tmp_path / "release.tar")
    release = tmp_path / "release.tar.xz"
    fill(tmp_path / "filled", f"release=file://{release}",
         f"sha256={hashlib.sha256(release.read_bytes()).hexdigest()}")
    version = run("meson", "--version").strip()
    project = tmp_path / "project"
    project.mkdir()
    (project / "conanfile.txt").write_text("[requires]\ncushim/0.1.0\n[generators]\n"
                                           "CMakeDeps\nCMakeToolchain\nPkgConfigDeps\n",
                                           encoding="utf-8")
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.15)\nproject(app LANGUAGES C)\n"
        f"find_package(cushim REQUIRED)\nadd_executable(app {HERE}/app.c)\n"
        "target_link_libraries(app PRIVATE cushim::static)\n", encoding="utf-8")
    env = {"CONAN_HOME": str(tmp_path / "home")}
    conan = tmp_path / "python/bin/conan"
    run(conan, "profile", "detect", env=env)
    profile = tmp_path / "home/profiles/default"
    profile.write_text(profile.read_text("utf-8") + f"[platform_tool_requires]\nmeson/{version}\n",
                       encoding="utf-8")
    run(conan, "create", tmp_path / "filled/conan", "--version", "0.1.0", env=env, timeout=900)
    run(conan, "install", project, "--output-folder", project / "made", env=env)
    run("cmake", "-S", project, "-B", project / "made", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_TOOLCHAIN_FILE={project / 'made/conan_toolchain.cmake'}")
    run("cmake", "--build", project / "made")
    assert "status not-found" in run(project / "made/app", env={"CUSHIM_LIBCUDA": NO_DRIVER})
    (project / "cuda.c").write_text(
        "#include <cuda.h>\nint main(void) { return cuInit(0) != 100; }\n", encoding="utf-8")
    for source, names in ((HERE / "app.c", "cushim-static"),
                          (project / "cuda.c", "cushim-cuda-headers cushim-dropin")):
        run("sh", "-euc", f"cc {source} -o found $(pkg-config --cflags --libs {names})\n./found",
            cwd=project, env={"PKG_CONFIG_PATH": str(project / "made"),
                              "CUSHIM_LIBCUDA": NO_DRIVER})


def test_destinations():
    """Meson takes a relative DESTDIR below the build folder: no page has one."""
    found = [match for page in (ROOT / "docs").glob("*.md")
             for match in re.findall(r"DESTDIR=(.)", page.read_text(encoding="utf-8"))]
    assert len(found) >= 2 and set(found) == {'"'}


def test_versions_agree(build):
    """Of the project, the spec, the wrap and Debian's changelog."""
    info = json.loads(run("meson", "introspect", "--projectinfo", build.path))
    for file, pattern in ((SPEC, r"^Version: +(\S+)"), (PACKAGING / "wrap/cushim.wrap",
                                                       r"^directory = cushim-(\S+)"),
                          (PACKAGING / "debian/changelog", r"^cushim \(([^-]+)-")):
        found = re.search(pattern, file.read_text(encoding="utf-8"), re.M)[1]
        assert found == info["version"], file


def test_a_suite_alone(build):
    """Meson builds for a test whatever the test is told: `meson test --suite unit` in a new folder
    does not want `ninja` before. A static library is in what is built of it."""
    def read(what):
        return json.loads(run("meson", "introspect", f"--{what}", build.path))
    made = {name: target["id"] for target in read("targets") for name in target["filename"]}
    lacking = [(test["name"], word) for test in read("tests")
               for word in [*test["env"].values(), *test["cmd"]]
               if word in made and made[word] not in test["depends"] and word[-2:] != ".a"]
    assert lacking == []


@pytest.mark.parametrize("kind", ["static", "shared", "both"])
def test_default_library(kind, tmp_path):
    """Each kind of library is there if it is asked for, and cushim.pc describes what is there."""
    need("meson")
    run("meson", "setup", tmp_path, ROOT, f"-Ddefault_library={kind}", "-Dtools=disabled",
        "-Dman=disabled")
    names = {path.rpartition("/")[2] for path in
             json.loads(run("meson", "introspect", "--installed", tmp_path)).values()}
    assert ("libcushim.a" in names) == (kind != "shared")
    assert any(name.startswith("libcushim.so") for name in names) == (kind != "static")
    private = tmp_path / "meson-private"
    assert (private / "cushim-static.pc").exists() == (kind != "shared")
    assert ("libcushim.a" in (private / "cushim.pc").read_text("utf-8")) == (kind == "static")


def test_sources_may_be_joined(tmp_path):
    """A build with --unity=on, as distributions try them."""
    need("meson", "ninja")
    run("meson", "setup", tmp_path, ROOT, "--unity=on", "-Dunity_size=1000", "-Dtools=disabled",
        "-Dman=disabled", "-Dbuildtype=debug")
    run("ninja", "-C", tmp_path, "src/libcushim.a", "src/libcushim-dropin.a")


def test_nothing_is_looked_for(tmp_path):
    """No file of the build names a place where a toolkit may be."""
    probed = [path for path in ROOT.rglob("meson.build") if "build" not in path.parts[:-1]
              and "/usr/local/cuda" in path.read_text(encoding="utf-8")]
    assert probed == []


def test_wrap(tmp_path):
    """The wrap file as it lies and a release beside it: a project gets each dependency and the
    tool. With an address it fetches the release."""
    need("meson", "git", "xz")
    if run("git", "-C", ROOT, "status", code=None).startswith("fatal"):
        pytest.skip("not a git checkout")
    wrap = (PACKAGING / "wrap/cushim.wrap").read_text(encoding="utf-8")
    names = re.search(r"^dependency_names = (.*)$", wrap, re.M)[1].split(", ")
    built = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("meson.build"))
    assert sorted(names) == sorted(re.findall(r"override_dependency\('(.*?)'", built))
    cache = tmp_path / "subprojects/packagefiles"
    cache.mkdir(parents=True)
    shutil.copy(PACKAGING / "wrap/cushim.wrap", tmp_path / "subprojects")
    folder = re.search(r"^directory = (.*)$", wrap, re.M)[1]
    run("git", "-C", ROOT, "archive", f"--prefix={folder}/", "-o", cache / "release.tar", "HEAD")
    run("xz", "-0", cache / "release.tar")
    release = (cache / "release.tar.xz").rename(
        cache / re.search(r"^source_filename = (.*)$", wrap, re.M)[1])
    shutil.copy(HERE / "app.c", tmp_path)
    (tmp_path / "meson.build").write_text(
        f"project('user', 'c')\nforeach name : {names}\n  dependency(name)\nendforeach\n"
        "executable('app', 'app.c', dependencies: dependency('cushim-static'))\n"
        "find_program('cushim-embed')\n", encoding="utf-8")
    run("meson", "setup", "build", "--wrap-mode=forcefallback", "--auto-features=enabled",
        cwd=tmp_path, env={"PKG_CONFIG_LIBDIR": "/"})  # as in a bare system
    run("ninja", "-C", "build", "app", cwd=tmp_path)
    assert "status not-found" in run(tmp_path / "build/app", env={"CUSHIM_LIBCUDA": NO_DRIVER})
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "meson.build", other)
    fill(other / "filled", f"release=file://{release}",
         f"sha256={hashlib.sha256(release.read_bytes()).hexdigest()}")
    (other / "filled/wrap").rename(other / "subprojects")
    run("meson", "subprojects", "download", cwd=other)
    assert (other / "subprojects" / folder / "meson.build").exists()


def test_cache_of_the_loader(build, tmp_path):
    """An installation where the system's loader searches tells it; one for a package, or into
    another folder, changes nothing of the system."""
    called, searched, own = tmp_path / "called", tmp_path / "lib", tmp_path / "own"
    for folder in (tmp_path / "bin", searched, own):
        folder.mkdir()
    (tmp_path / "usr").symlink_to(tmp_path)
    told = f"printf '{searched}: (from <builtin>:0)\\n\\tlibz.so.1 -> libz.so.1.2\\n'"
    ldconfig = f"case $* in *-N*) {told} ;; *) touch '{called}' ;; esac"
    for name, text in (("ldconfig", ldconfig), ("id", "echo 0")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    changes = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    script = ROOT / "src/packaging/ldconfig.sh"
    assert b"ldconfig.sh" in (build.path / "meson-private/install.dat").read_bytes()
    run("sh", script, searched, env={**changes, "DESTDIR": "/elsewhere"})
    run("sh", script, own, env=changes)
    assert not called.exists()
    for name in (searched, tmp_path / "usr/lib"):
        run("sh", script, name, env=changes)
        assert called.exists()
        called.unlink()
