# SPDX-License-Identifier: MIT
"""sentences.c: for `cushim explain`, the cure of each sentence that cushim prints;
sentences.md: the same, for the web site.

A line of sentences.jsonl is a heading, a text, or a sentence with its cure. A sentence without a
cure has that of the text before it. "…" stands for what varies.
"""

import json
import re
import textwrap

import ctext
import registry as files

HEAD = """# Every sentence, and its cure

    cushim explain "truncated: 100 bytes, but a segment ends at 200"

prints the cure of a sentence. Every sentence that the library and the simulated driver can print is
here; a test compares. `…` is what varies. By symptom: [troubleshooting](troubleshooting.md).
"""
KINDS = ({"heading"}, {"text"}, {"sentence"}, {"sentence", "cure"})


def read(registry):
    """The lines, checked."""
    seen = set()
    for line, row in enumerate(registry["sentences"], 1):
        wrong = ""
        if row.keys() not in KINDS:
            wrong = "not a heading, a text, or a sentence with or without a cure"
        elif not all(files.is_a(text, str) and text.strip() for text in row.values()):
            wrong = "a field is empty, or no string"
        elif row.get("sentence") in seen:
            wrong = f"{row['sentence']} is there twice"
        if wrong:
            file = f"{registry.directory}/sentences.jsonl"
            raise files.RegistryError(f"{file}:{line}: {wrong}")
        seen |= {row["sentence"]} if "sentence" in row else set()
        yield row


def plain(text):
    """A cure for a terminal: without Markdown's marks."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def emit(registry):
    """Text of sentences.c."""
    lines = [ctext.banner("sentences"), '#include "sentences.h"', "",
             "const struct sentences_row sentences_rows[] = {"]
    cure, count = "", 0
    for row in read(registry):
        if row.keys() == {"text"}:
            cure = row["text"]
        if "sentence" not in row:
            continue
        if row.get("cure", "the same") != "the same":
            cure = row["cure"]
        text, advice = (json.dumps(text, ensure_ascii=False)
                        for text in (row["sentence"], plain(cure)))
        lines.append(f"    {{{text},\n     {advice}}},")
        count += 1
    return "\n".join([*lines, "};", f"const size_t sentences_count = {count};"]) + "\n"


def emit_page(registry):
    """Text of sentences.md."""
    lines, before = [HEAD.rstrip("\n")], None
    for row in [*read(registry), {}]:
        kind = "list" if row.keys() == {"sentence"} else \
            "table" if "sentence" in row else "".join(row.keys())
        if before == "list" and kind != "list":
            lines.append("```")
        if kind == before:
            pass
        elif kind == "table":
            lines += ["" if before == "text" or before == "list" else None,
                      "| sentence | cure |", "|---|---|"]
        elif kind == "list":
            lines += ["", "```text"]
        elif kind == "heading" or before in ("table", "list"):
            lines.append("")
        if kind == "list":
            lines.append(row["sentence"])
        elif kind == "table":
            code = f"`` {row['sentence']} ``" if "`" in row["sentence"] else f"`{row['sentence']}`"
            lines.append(f"| {code} | {row['cure']} |")
        elif kind == "heading":
            lines.append(row["heading"])
        elif kind == "text":
            lines += textwrap.wrap(row["text"], 100, break_long_words=False,
                                   break_on_hyphens=False)
        before = kind
    return "\n".join(line for line in lines if line is not None).rstrip("\n") + "\n"
