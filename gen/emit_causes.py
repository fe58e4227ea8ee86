# SPDX-License-Identifier: MIT
"""causes.c: for `cushim explain`, who causes an error and what to check; docs/errors.md: the same.
Meanings are those of errors.jsonl; codes that the runtime alone has bring their own."""

import json

import ctext
import registry as files

FIELDS = {"code": int, "runtime": str, "phrases": list, "who": str, "causes": list}


def check(row, known, before):
    """Raise ValueError for a line that is no explanation."""
    for field, kind in FIELDS.items():
        if not files.is_a(row.get(field), kind):
            raise ValueError(f"{field} is missing or of another type")
    if row.keys() - {"text"} != FIELDS.keys():
        unknown = sorted(row.keys() - {"text"} - FIELDS.keys())
        raise ValueError("unknown field " + ", ".join(unknown))
    if row["code"] <= before:
        raise ValueError(f"code {row['code']} does not come after {before}")
    if ("text" in row) == (row["code"] in known):
        raise ValueError("text is there for codes that are not in errors.jsonl, and no others")
    for cause in row["causes"]:
        if not isinstance(cause, dict) or cause.keys() != {"cause", "check"}:
            raise ValueError("a cause has the fields cause and check")
    if not row["causes"]:
        raise ValueError("no causes")
    if len(row["causes"]) > 8 or len(row["phrases"]) > 4:
        raise ValueError("more causes or phrases than tools/causes.h has room for")
    texts = [row["runtime"], row["who"], row.get("text", ""), *row["phrases"],
             *(text for cause in row["causes"] for text in cause.values())]
    if not all(files.is_a(text, str) and text.isascii() and (text.isprintable() or not text)
               for text in texts):
        raise ValueError("a text is not plain ASCII")


def read(registry):
    """The lines, each with name and meaning."""
    known = {row["code"]: row for row in registry["errors"]}
    rows, before = [], 0
    for line, row in enumerate(registry["causes"], 1):
        try:
            check(row, known, before)
        except ValueError as error:
            file = f"{registry.directory}/causes.jsonl"
            raise files.RegistryError(f"{file}:{line}: {error}") from None
        before = row["code"]
        rows.append({"name": row["runtime"], **known.get(before, {}), **row})
    return rows


def emit(registry):
    """Text of causes.c."""
    lines = [ctext.banner("causes", "errors"), '#include "causes.h"', "",
             "const struct causes_row causes_rows[] = {"]
    rows = read(registry)
    for row in rows:
        causes = ["        {" + json.dumps(cause["cause"]) + ",\n         " +
                  json.dumps(cause["check"]) + "}," for cause in row["causes"]]
        phrases = ", ".join(map(json.dumps, row["phrases"])) or "NULL"
        lines += [f"    {{{row['code']}, {json.dumps(row['name'])}, {json.dumps(row['runtime'])},",
                  f"     {json.dumps(row['text'])},", f"     {json.dumps(row['who'])},",
                  f"     {{{phrases}}},", "     {", *causes, "     }},"]
    return "\n".join([*lines, "};", f"const size_t causes_count = {len(rows)};"]) + "\n"


def emit_page(registry):
    """Text of docs/errors.md."""
    lines = ["<!-- SPDX-License-Identifier: MIT -->",
             "# Errors, their causes and what to check", "",
             "    cushim explain 222",
             "    cushim explain CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
             '    cushim explain "unsupported toolchain"        words of a message',
             "    cushim explain                                all codes", "",
             "The command takes a number, a name of the driver's or the runtime's, or a message in "
             "which one",
             "of them or known words stand. It knows every code of the driver; the codes below it "
             "can trace to",
             "causes. Page and command are made of "
             "`gen/registry/causes.jsonl` and `errors.jsonl`.", ""]
    for row in read(registry):
        names = row["name"] if row["name"] == row["runtime"] else \
            f"{row['name']}, {row['runtime']}"
        lines += [f"## {row['code']}: {names}", "| | |", "|---|---|",
                  f"| means | {row['text']} |", f"| caused by | {row['who']} |",
                  "| known by the words | " +
                  ", ".join(f"\"{phrase}\"" for phrase in row["phrases"]) + " |", "",
                  "| cause | check |", "|---|---|"]
        lines += [f"| {mark(cause['cause'])} | {mark(cause['check'])} |" for cause in row["causes"]]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def mark(text):
    """A table's cell."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
