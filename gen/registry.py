# SPDX-License-Identifier: MIT
"""The registry's files: reading, writing, and what every user of them needs to know."""

import json
import re
from pathlib import Path

DEFAULT = Path(__file__).resolve().parent / "registry"
# What every line of a file has, and of what type; README.md says what it means.
FIELDS = {
    "entries": {"symbol": str, "name": str, "since": int, "stream": str, "header": str,
                "params": list},
    "types": {"name": str, "header": str, "versions": list},
    "levels": {"release": int}, "drivers": {"source": str}, "gpus": {"source": str},
    "typedefs": {"name": str, "versions": list},
    "errors": {"code": int, "name": str, "text": str}, "causes": {"code": int}, "sentences": {},
    "features": {"feature": str, "group": str, "text": str, "since": int, "entries": list},
}
KEYS = {"entries": "symbol", "types": "name", "typedefs": "name",
        "features": "feature"}  # no two lines share it
WORDS = {str: "a string", int: "a number", list: "a list"}
PLATFORMS = (None, "linux", "windows")
KINDS = {"alias": {"type"}, "define": {"value"}, "enum": {"values"}, "gone": set(),
         "function": {"result", "params"}, "handle": {"tag"}, "struct": {"fields"},
         "union": {"fields"}}  # what a version of a type is, and has


class RegistryError(Exception):
    """Bad data; the message begins with file and line."""


def read(directory, name):
    """Objects of DIRECTORY/NAME.jsonl, in order; an empty list where there is no such file."""
    path = Path(directory) / f"{name}.jsonl"
    if not path.exists():
        return []
    rows, seen = [], set()
    try:
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    except OSError as error:
        raise RegistryError(f"{path}:1: {error.strerror}") from None
    for number, line in enumerate(lines if lines != [b""] else [], 1):
        try:
            row = json.loads(line.decode("utf-8"))
            check(name, row)
            key = row.get(KEYS.get(name))
            if key is not None and key in seen:
                raise ValueError(f"{key} is there twice")
            seen.add(key)
            if name == "errors" and rows and row["code"] <= rows[-1]["code"]:
                raise ValueError(f"code {row['code']} does not come after {rows[-1]['code']}")
        except (ValueError, RecursionError) as error:
            raise RegistryError(f"{path}:{number}: {error}") from None
        rows.append(row)
    return rows


def check(name, row):
    """Raise ValueError for a line that its users would trip over."""
    if not isinstance(row, dict):
        raise ValueError("not an object")
    for field, kind in FIELDS.get(name, {}).items():
        if not is_a(row.get(field), kind):
            raise ValueError(f"{field} is not {'there' if field not in row else WORDS[kind]}")
    if not any(row.get("platform") == known for known in PLATFORMS):
        raise ValueError(f"platform is not one of {', '.join(filter(None, PLATFORMS))}")
    if name == "entries":
        symbol = row["symbol"]
        if not SUFFIX.match(symbol) or split_symbol(symbol)[::2] != (row["name"], row["stream"]):
            raise ValueError(f"{symbol} is not of name {row['name']} and stream {row['stream']}")
        check_params(row["params"])
    elif name == "types":
        check_versions(row["versions"])
    elif name == "typedefs":
        check_meanings(row["versions"])
    elif name == "levels" and ("name" in row) != is_a(row.get("symbol"), str):
        raise ValueError("name and symbol are not there together")
    elif name == "errors" and not (row["text"].isascii() and row["text"].isprintable()):
        raise ValueError("text is not plain ASCII")


def is_a(value, kind):
    """Whether a value is of a type; a truth value is no number."""
    return isinstance(value, kind) and not isinstance(value, bool)


def check_versions(versions):
    """Raise ValueError if they are no history of a type."""
    if not versions:
        raise ValueError("no versions")
    for fact in versions:
        if not isinstance(fact, dict) or not is_a(fact.get("since"), int):
            raise ValueError("versions are not objects with a number since")
        kind = fact.get("kind")
        if not is_a(kind, str) or kind not in KINDS or not KINDS[kind] <= set(fact):
            raise ValueError(f"no version of a type: {json.dumps(fact)}")


def check_meanings(versions):
    """Raise ValueError if they are no history of a plain name."""
    if not versions:
        raise ValueError("no versions")
    for fact in versions:
        if not isinstance(fact, dict) or not is_a(fact.get("since"), int):
            raise ValueError("versions are not objects with a number since")
        if "symbol" not in fact or not (fact["symbol"] is None or is_a(fact["symbol"], str)):
            raise ValueError(f"no meaning of a plain name: {json.dumps(fact)}")


def check_params(params):
    """Raise ValueError if they are no pairs of type and name."""
    for param in params:
        if not (isinstance(param, list) and len(param) == 2
                and all(isinstance(part, str) for part in param)):
            raise ValueError("params are not pairs of type and name")


def dumps(rows):
    """The file's text for ROWS: one compact object a line."""
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


def write(directory, name, rows):
    """Write a file only if that changes it, so that builds see no false change."""
    path = Path(directory) / f"{name}.jsonl"
    text = dumps(rows)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def version_text(version):
    """12040 -> "12.4"."""
    return f"{version // 1000}.{version % 1000 // 10}"


SUFFIX = re.compile(r"^(?P<name>(?:cu|nvml)\w+?)(?:_v(?P<abi>\d+))?(?P<stream>_ptsz|_ptds)?$")


def split_symbol(symbol):
    """"cuX_v2_ptsz" -> ("cuX", 2, "ptsz"); a symbol without _vN is ABI 1."""
    match = SUFFIX.match(symbol)
    stream = match["stream"]
    return match["name"], int(match["abi"] or 1), stream[1:] if stream else "legacy"
