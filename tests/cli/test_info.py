# SPDX-License-Identifier: MIT
"""`cushim info`."""

import re

import pytest
from command import (FAKE_GPU, NO_DRIVER, OK, SIM_DRIVERS, SIM_NVML, each_branch, fake,
                     real_driver, registry, run, run_on)

pytest_generate_tests = each_branch

STATES = ("available", "no-driver", "newer", "absent", "platform")
SOURCES = {"option", "environment", "resolver", "compat", "process", "system", "list"}


def check_schema(info):
    """Names and types of the JSON output; numbers that must add up."""
    assert list(info) == ["cushim", "driver", "attempts", "kernel_module", "table", "remarks",
                          "nvml", "init"]
    assert set(info["nvml"]) == {"status", "message", "entries", "available"}
    assert (info["nvml"]["status"] == "ok") == (info["nvml"]["available"] > 0)
    assert re.fullmatch(r"\d+\.\d+\.\d+", info["cushim"])
    driver = info["driver"]
    assert set(driver) == {"path", "version", "status", "message", "source", "ptx"}
    assert isinstance(driver["message"], str) and driver["message"]
    found = driver["status"] == "ok"
    assert (driver["version"] > 0) == found
    for name in ("path", "source"):
        assert (driver[name] is not None) == found
    assert info["attempts"]
    for attempt in info["attempts"]:
        assert set(attempt) == {"path", "source", "status", "message"}
        assert attempt["source"] in SOURCES
        assert isinstance(attempt["status"], str)
    assert [attempt["status"] == "ok" for attempt in info["attempts"]][-1] == found
    assert set(info["kernel_module"]) == {"version", "file"}
    table = info["table"]
    assert set(table) == {"registry_version", "entries", *STATES}
    assert table["entries"] == len(registry()) == sum(table[state] for state in STATES)
    assert isinstance(info["remarks"], list)


def test_json():
    result = run("info", "--json", "--driver", FAKE_GPU)
    assert (result.code, result.err) == (OK, "")
    info = result.json()
    check_schema(info)
    assert info["driver"]["path"] == FAKE_GPU
    assert info["driver"]["version"] == 10020
    assert info["driver"]["source"] == "option"
    assert info["init"] is None


@pytest.mark.parametrize("path", ["", "/nonexistent/libcuda.so.1"])
def test_json_without_driver(path):
    result = run("info", "--json", CUSHIM_LIBCUDA=path)
    assert (result.code, result.err) == (NO_DRIVER, "")
    info = result.json()
    check_schema(info)
    assert info["driver"]["status"] == ("not-found" if path else "empty-path")
    assert info["attempts"][0]["source"] == "environment"
    assert info["table"]["no-driver"] == info["table"]["entries"]


def test_source_is_named():
    assert "named by --driver" in run("info", "--driver", FAKE_GPU).out
    assert "environment variable CUSHIM_LIBCUDA" in run("info", CUSHIM_LIBCUDA=FAKE_GPU).out


def test_candidates_and_table_are_listed():
    result = run("info", "--driver", FAKE_GPU)
    file = re.escape(FAKE_GPU)
    assert re.search(rf"^  ok +option +{file} +{file}$", result.out, re.MULTILINE)
    assert re.search(rf"^  available +\d+ of {len(registry())}$", result.out, re.MULTILINE)
    assert re.search(r"^  CUDA version +10\.2$", result.out, re.MULTILINE)


def test_search_lists_every_candidate():
    result = run("info", "--json")
    sources = [attempt["source"] for attempt in result.json()["attempts"]]
    order = ["process", "system", "list"]
    assert sources == sorted(sources, key=order.index)


def test_without_init_the_driver_is_not_started(tmp_path):
    assert run("info", "--driver", FAKE_GPU, FAKE_LOG=tmp_path / "log").code == OK
    assert (tmp_path / "log").read_text() == "cuInit 0\nheld 0\n"
    assert run("info", "--driver", fake("init_aborts")).code == OK


def test_init_lists_devices():
    result = run("info", "--init", "--driver", FAKE_GPU)
    assert (result.code, result.err) == (OK, "")
    assert re.search(r"^  1  Fake GPU B  compute 7\.5  3\.0 GiB  0000:A1:00\.0  "
                     r"GPU-00112233-4455-6677-8899-aabbccddeef1$", result.out, re.MULTILINE)


def test_init_json():
    result = run("info", "--init", "--json", "--driver", FAKE_GPU)
    assert (result.code, result.err) == (OK, "")
    info = result.json()
    check_schema(info)
    assert info["init"]["status"] == "ok"
    assert info["init"]["devices"][1] == {
        "ordinal": 1, "name": "Fake GPU B", "compute_capability": "7.5", "memory": 3 << 30,
        "uuid": "GPU-00112233-4455-6677-8899-aabbccddeef1", "pci": "0000:A1:00.0",
        "nvml": None}


@pytest.mark.parametrize("symbol, name", [("cuDeviceGetUuid", "uuid"),
                                          ("cuDeviceGetPCIBusId", "pci")])
def test_init_with_a_fact_missing(symbol, name):
    result = run("info", "--init", "--json", "--driver", FAKE_GPU, FAKE_FAIL=symbol)
    assert result.code == OK
    assert [device[name] for device in result.json()["init"]["devices"]] == [None, None]


@pytest.mark.parametrize("variables", [{"FAKE_DEVICES": "0"}, {"FAKE_FAIL": "cuInit"},
                                       {"FAKE_FAIL": "cuDeviceGetCount"}])
def test_init_without_device(variables):
    result = run("info", "--init", "--driver", FAKE_GPU, **variables)
    assert result.code == NO_DRIVER
    assert re.search(r"^Devices\n  none +\S", result.out, re.MULTILINE)
    init = run("info", "--init", "--json", "--driver", FAKE_GPU, **variables).json()["init"]
    assert init["devices"] == []
    assert variables.get("FAKE_FAIL", "") in init["message"]


def test_remarks():
    result = run("info", "--driver", fake("future"))
    assert result.code == OK
    assert "Remarks\n  The driver is newer than this cushim" in result.out
    info = run("info", "--json", "--driver", fake("proc_lies")).json()
    assert info["remarks"] == ["interposed"]


def test_real_driver(branch):
    driver = real_driver(branch)
    result = run_on(driver, "info", "--json")
    assert (result.code, result.err) == (OK, "")
    info = result.json()
    check_schema(info)
    assert info["driver"]["path"] == str(driver.path)
    assert info["driver"]["version"] == driver.cuda
    assert info["table"]["available"] > 200


def test_real_driver_without_gpu(branch):
    result = run_on(real_driver(branch), "info", "--init", "--json", CUDA_VISIBLE_DEVICES="")
    assert result.code == NO_DRIVER
    init = result.json()["init"]
    assert init["status"] != "ok" and init["devices"] == []
    assert "cuInit" in init["message"]


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_nvml():
    """NVML's library is named; with --init, what it tells of each device."""
    settings = {"CUSHIM_LIBNVIDIA_ML": SIM_NVML, "CUSHIM_SIM_PROFILE": "hopper",
                "CUSHIM_SIM_DEVICES": "2", "CUDA_VISIBLE_DEVICES": "1"}
    words = ("info", "--init", "--driver", SIM_DRIVERS[-1])
    info = run(*words, "--json", **settings).json()
    check_schema(info)
    assert info["nvml"]["available"] == info["nvml"]["entries"] > 400
    (device,) = info["init"]["devices"]
    assert device["nvml"] == {"used": 0, "processes": 0, "gpu_percent": 0, "nvlinks": 18,
                              "fabric": "completed", "ecc": True, "mig": False}
    text = run(*words, **settings).out
    assert f"NVML is {SIM_NVML}\n" in text
    assert re.search(r"  0  0 of \d+ MiB in use, processes: 0, 0 % busy, NVLinks: 18, "
                     r"fabric: completed, ECC on, MIG off\n", text)
    missing = run(*words, "--json", **{**settings, "CUSHIM_LIBNVIDIA_ML": "/nowhere"}).json()
    assert missing["nvml"]["status"] == "not-found"
    assert missing["init"]["devices"][0]["nvml"] is None


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_nvml_of_another_driver():
    """It does not know the device, and the line says so; the rest is as without it."""
    result = run("info", "--init", "--driver", FAKE_GPU, CUSHIM_LIBNVIDIA_ML=SIM_NVML)
    assert result.code == OK
    assert re.search(r"^  0  cushim_nvml_device: .*NVML_ERROR_NOT_FOUND$", result.out, re.M)
