# SPDX-License-Identifier: MIT
"""`cushim features`: every answer is what the registry and the driver's exports say."""

import json
import os
import subprocess

import pytest
from command import (FAKE_GPU, NO_DRIVER, OK, ROOT, SIM_DRIVERS, SIM_NVML, USAGE, each_branch,
                     nm_exports, real_driver, registry, run, run_on)

pytest_generate_tests = each_branch

FIELDS = ["feature", "group", "text", "since", "answer", "reason", "entries", "attribute",
          "capability", "platform"]
FEATURES = [json.loads(line) for line in
            (ROOT / "gen/registry/features.jsonl").read_text(encoding="utf-8").splitlines()]
SINCE = {entry["symbol"]: entry["since"] for entry in registry()}


def by_exports(feature, version, exports):
    """The answer for a driver alone."""
    if feature.get("platform") == "windows":
        return "platform"
    if version < feature["since"]:
        return "driver"
    for symbol in feature["entries"]:
        if symbol not in exports:
            return "driver" if SINCE[symbol] > version else "absent"
    return "undecided" if {"attribute", "capability"} & feature.keys() else "supported"


def check(answer, exports):
    """The JSON output against the registry and the exports."""
    assert list(answer) == ["driver", "device", "features", "nvml"]
    assert answer["device"] is None
    assert [row["feature"] for row in answer["features"]] == [row["feature"] for row in FEATURES]
    for row, feature in zip(answer["features"], FEATURES):
        assert list(row) == FIELDS
        assert row["reason"].startswith(f"{row['feature']}: ")
        for name in ("group", "text", "since", "entries"):
            assert row[name] == feature[name]
        assert row["attribute"] == feature.get("attribute", {}).get("name")
        assert row["answer"] == by_exports(feature, answer["driver"]["version"], exports), row


def test_at_least_eighty():
    assert len(FEATURES) >= 80


@pytest.mark.parametrize("driver", SIM_DRIVERS, ids=lambda path: path.name)
def test_simulated(driver):
    result = run("features", "--json", "--driver", driver)
    assert (result.code, result.err) == (OK, "")
    check(result.json(), nm_exports(driver))


def test_real(branch):
    driver = real_driver(branch)
    result = run_on(driver, "features", "--json")
    assert (result.code, result.err) == (OK, "")
    check(result.json(), nm_exports(driver.path))


@pytest.mark.parametrize("profile, clusters", [("ampere", "device"), ("hopper", "supported")])
@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_device(profile, clusters):
    result = run("features", "--json", "--device", "0", "--driver", SIM_DRIVERS[-1],
                 CUSHIM_SIM_PROFILE=profile, CUSHIM_SIM_SUMMARY="0")
    assert (result.code, result.err) == (OK, "")
    rows = {row["feature"]: row for row in result.json()["features"]}
    assert rows["clusters"]["answer"] == clusters
    assert rows["memory-pools"]["answer"] == "supported"
    assert not [row for row in rows.values() if row["answer"] in ("failed", "no-driver")]


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_nvml():
    """What NVML tells of the device, if one is asked and NVML is there."""
    settings = {"CUSHIM_LIBNVIDIA_ML": SIM_NVML, "CUSHIM_SIM_SUMMARY": "0"}
    words = ("features", "--name", "clusters", "--driver", SIM_DRIVERS[-1])
    found = run(*words, "--json", "--device", "0", **settings).json()["nvml"]
    assert found["nvlinks"] == 12 and found["fabric"] is None and found["mig"] is False
    text = run(*words, "--device", "0", **settings).out.splitlines()
    assert text[-1].startswith("By NVML: 0 of ") and text[-1].endswith(", ECC on, MIG off")
    assert "By NVML" not in run(*words, **settings).out
    assert run(*words, "--json", **settings).json()["nvml"] is None


def test_text():
    result = run("features", "--driver", FAKE_GPU, "--name", "graph*")
    assert (result.code, result.err) == (OK, "")
    head, titles, *lines, tail = result.out.splitlines()
    assert head == f"{FAKE_GPU}, CUDA 10.2"
    assert titles.split()[:3] == ["FEATURE", "SINCE", "ANSWER"]
    wanted = [row for row in FEATURES if row["group"] == "graph"]
    assert [line.split()[0] for line in lines] == [row["feature"] for row in wanted]
    assert tail.startswith(f"{len(wanted)} features shown, ")
    one = run("features", "--driver", FAKE_GPU, "--name", wanted[0]["feature"])
    assert one.out.splitlines()[-1].startswith("1 feature shown, ")


def test_missing():
    rows = run("features", "--json", "--missing", "--driver", FAKE_GPU).json()["features"]
    assert rows and not [row for row in rows if row["answer"] == "supported"]


def test_the_driver_is_started_for_a_device_alone(tmp_path):
    log = tmp_path / "log"
    assert run("features", "--driver", FAKE_GPU, FAKE_LOG=log).code == OK
    assert log.read_text() == "cuInit 0\nheld 0\n"
    assert run("features", "--driver", FAKE_GPU, "--device", "1", FAKE_LOG=log).code == OK
    assert log.read_text() == "cuInit 1\nheld 0\n"


@pytest.mark.parametrize("device", ["2", "99"])
def test_no_such_device(device):
    result = run("features", "--driver", FAKE_GPU, "--device", device)
    assert result.code == NO_DRIVER
    assert f"no device {device}; the driver has 2" in result.err


@pytest.mark.parametrize("device", ["", "x", "-1", "1x", "99999999999"])
def test_wrong_device(device):
    result = run("features", "--device", device)
    assert (result.code, result.out) == (USAGE, "")
    assert "is no number from 0 on" in result.err


def test_without_driver():
    result = run("features", "--json", "--driver", "/nonexistent/libcuda.so.1")
    assert result.code == NO_DRIVER
    answers = {row["answer"] for row in result.json()["features"]}
    assert answers == {"no-driver", "platform"}


def test_text_without_driver_is_a_sentence():
    """None is supported: the table is for those that a name asks for."""
    words = ("features", "--driver", "/nonexistent/libcuda.so.1")
    result = run(*words)
    assert (result.code, result.out) == (NO_DRIVER, "")
    assert result.err.count("\n") == 1 and "/nonexistent/libcuda.so.1" in result.err
    assert "graphs" in run(*words, "--name", "graph*").out


def symbols_of(tmp_path, call):
    """Names in a program that makes one call of the static library."""
    source = tmp_path / "program.c"
    source.write_text(f"int {call}(int, ...);\nint main(void) {{ return {call}(0); }}\n")
    program = tmp_path / "program"
    subprocess.run(["cc", source, os.environ["CUSHIM_STATIC"], "-ldl", "-pthread", "-o", program],
                   check=True)
    return subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout


if "CUSHIM_STATIC" in os.environ:  # not in a build with sanitizers, which programs link as well
    def test_a_program_without_features_does_not_carry_them(tmp_path):
        assert "cushim_feature_strings" not in symbols_of(tmp_path, "cushim_registry_version")
        assert "cushim_feature_strings" in symbols_of(tmp_path, "cushim_support_name")
