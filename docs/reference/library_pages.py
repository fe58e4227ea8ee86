#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the manual pages of the library: one for each public header, and an alias for each name.

Usage: library_pages.py VERSION DATE OUTPUT HEADER... [-- NAME...]

DATE is "2026-01-31". The page of cushim/launch.h is cushim_launch.3, that of cushim/cushim.h is
cushim.3, that of the classes is cushim.hpp.3. Every NAME has to be a function or macro of these
headers, and gets NAME.3.
"""

import datetime
import re
import sys
import tempfile
from pathlib import Path

from headers import plain, read_headers, read_owners, run_doxygen

BLOCKS = ("verbatim", "programlisting", "itemizedlist", "parameterlist", "simplesect")


def page_name(header):
    """cushim/launch.h: cushim_launch."""
    if header.endswith(".hpp"):
        return Path(header).name
    stem = Path(header).stem
    return stem if stem == "cushim" else f"cushim_{stem}"


def escape(text):
    """Text that roff takes as it stands."""
    text = text.replace("\\", "\\e")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def inline(element):
    """Pieces of a paragraph: strings, and the elements that are blocks."""
    pieces = [element.text or ""]
    for child in element:
        if child.tag in BLOCKS:
            pieces.append(child)
        elif child.tag == "computeroutput":
            pieces.append(f"\0I{''.join(child.itertext())}\0P")
        elif child.tag == "para":
            pieces += inline(child)
        else:
            pieces.append("".join(child.itertext()))
        pieces.append(child.tail or "")
    return pieces


def sentence(text):
    """A run of text for roff, each sentence on a line of its own."""
    lines = re.sub(r"(?<=[.!?]) (?=[^a-z])", "\n", " ".join(text.split()))
    return escape(lines).replace("\0", "\\f")


class Page:
    """Lines of mdoc. Text after anything else begins a paragraph."""

    def __init__(self):
        self.lines = []
        self.fresh = True  # nothing since the heading

    def heading(self, macro, title):
        self.lines.append(f".{macro} {title}")
        self.fresh = True

    def text(self, text):
        if not text.strip():
            return
        if not self.fresh:
            self.lines.append(".Pp")
        self.lines.append(sentence(text))
        self.fresh = False

    def code(self, text):
        self.lines += [".Bd -literal -offset indent", escape(text.strip("\n")), ".Ed"]
        self.fresh = False

    def rows(self, rows):
        """(macro line or term, text) in a list."""
        self.lines.append(".Bl -tag -width Ds")
        for term, text in rows:
            self.lines += [f".It {term}", sentence(text) if text else "\\&"]
        self.lines.append(".El")
        self.fresh = False

    def block(self, element):
        """An element that stands for itself."""
        if element.tag in ("verbatim", "programlisting"):
            self.code("".join(element.itertext()))
        elif element.tag == "itemizedlist":
            self.lines.append(".Bl -bullet")
            for item in element:
                self.lines += [".It", sentence("".join(inline(item)))]
            self.lines.append(".El")
            self.fresh = False
        elif element.tag == "parameterlist":
            self.rows([(f"Fa {plain(item.find('parameternamelist'))}",
                        "".join(inline(item.find("parameterdescription")))) for item in element])
        else:  # the result
            self.text("Returns: " + "".join(inline(element)))

    def element(self, element):
        """A description: paragraphs, with blocks in them."""
        for para in element.findall("para"):
            run = ""
            for piece in inline(para):
                if isinstance(piece, str):
                    run += piece
                    continue
                self.text(run)
                run = ""
                self.block(piece)
            self.text(run)

    def description(self, member):
        """All that is known of a member."""
        for part in member.text:
            self.element(part)


def short(member):
    """A member's text in one run, for lists."""
    return " ".join("".join(piece if isinstance(piece, str) else plain(piece)
                            for para in part.findall("para") for piece in inline(para))
                    for part in member.text)


def synopsis(page, header, functions, macros):
    """How each function and macro is declared."""
    page.heading("Sh", "SYNOPSIS")
    page.lines.append(f".In {header.name}")
    for function in functions:
        page.lines += [f".Ft {function.declaration}", f".Fo {function.name}"]
        page.lines += [f'.Fa "{parameter}"' for parameter in function.parameters
                       or ["void"] if parameter.strip()]
        page.lines.append(".Fc")
    for macro in macros:
        names = " ".join(f'"{name}"' for name in macro.names)
        page.lines.append(f".Fn {macro.name} {names}")


def write_header(header, others, version, date):
    """The page of a header."""
    functions = [member for member in header.members if member.kind == "function"]
    macros = [member for member in header.members if member.kind == "define" and member.names]
    constants = [member for member in header.members if member.kind == "define"
                 and not member.names]
    types = [member for member in header.members if member.kind in ("struct", "enum", "typedef")]
    names = dict.fromkeys([page_name(header.name), *(item.name for item in functions + macros)])
    page = begin(header, names, version, date)
    synopsis(page, header, functions, macros)
    page.heading("Sh", "DESCRIPTION")
    for part in header.text[1:]:
        page.element(part)
    for title, members in (("FUNCTIONS", functions), ("MACROS", macros)):
        if members:
            page.heading("Sh", title)
        for member in members:
            page.heading("Ss", member.name)
            page.description(member)
    if constants:
        page.heading("Sh", "CONSTANTS")
        page.rows([(f"Dv {constant.name}", short(constant)) for constant in constants])
    if types:
        page.heading("Sh", "TYPES")
    for member in types:
        page.heading("Ss", member.name if member.kind == "typedef"
                     else f"{member.kind} {member.name}")
        if member.kind == "typedef":
            page.code(member.declaration + ";")
        page.description(member)
        if member.members:
            page.rows([(f"Dv {item.name}" if item.kind == "enumvalue"
                        else f'Vt "{item.declaration}"', short(item)) for item in member.members])
    return end(page, header, others), list(names)


def begin(header, names, version, date):
    """A page up to its names."""
    page = Page()
    day = datetime.date.fromisoformat(date)
    page.lines += [f'.\\" Made from include/{header.name} by docs/reference/library_pages.py.',
                   f".Dd {day:%B} {day.day}, {day.year}", f".Dt {page_name(header.name).upper()} 3",
                   f".Os cushim {version}", ".nh"]
    page.heading("Sh", "NAME")
    page.lines += [f".Nm {name} ," for name in names]
    page.lines[-1] = page.lines[-1][:-2]
    page.lines.append(f".Nd {sentence(header_brief(header))}")
    return page


def end(page, header, others):
    """The text of a page, with links to the other ones."""
    page.heading("Sh", "SEE ALSO")
    seen = ["Xr cushim 1", *(f"Xr {page_name(other)} 3" for other in sorted(others, key=page_name)
                              if other != header.name)]
    page.lines += [f".{reference} ," for reference in seen]
    page.lines[-1] = page.lines[-1][:-2]
    return "\n".join(page.lines) + "\n"


def write_owners(header, others, version, date):
    """The page of the classes, each with its functions."""
    page = begin(header, [page_name(header.name)], version, date)
    page.heading("Sh", "SYNOPSIS")
    page.lines.append(f".In {header.name}")
    page.heading("Sh", "DESCRIPTION")
    for part in header.text[1:]:
        page.element(part)
    page.heading("Sh", "CLASSES")
    for owner in (member for member in header.members if member.kind == "class"):
        page.heading("Ss", f"class {owner.name}")
        page.description(owner)
        page.rows([(f'Vt "{call.declaration}"', short(call)) for call in owner.members])
    functions = [member for member in header.members if member.kind == "function"]
    if functions:
        page.heading("Sh", "FUNCTIONS")
        page.rows([(f'Vt "{call.declaration}"', short(call)) for call in functions])
    page.heading("Sh", "MACROS")
    page.rows([(f"Dv {macro.name}", short(macro)) for macro in header.members
               if macro.kind == "define"])
    return end(page, header, others)


def header_brief(header):
    """The first sentence, without its end."""
    return "".join(inline(header.text[0].find("para"))).strip().rstrip(".")


def main():
    arguments = sys.argv[1:]
    wanted = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    version, date, output, *headers = arguments[:arguments.index("--") if wanted else None]
    output = Path(output)
    with tempfile.TemporaryDirectory() as folder:
        made = run_doxygen(folder)
        found = {header.name: header for header in read_headers(made)}
        owners = read_owners(made)
    owner = {}
    everything = [*headers, owners.name]
    (output / f"{page_name(owners.name)}.3").write_text(
        write_owners(owners, everything, version, date), encoding="utf-8")
    for name in headers:
        text, names = write_header(found[name], everything, version, date)
        (output / f"{page_name(name)}.3").write_text(text, encoding="utf-8")
        owner.update({known: page_name(name) for known in names})
    for name in wanted:
        if name not in owner:
            sys.exit(f"{name}: no public header has it")
        if name != owner[name]:
            (output / f"{name}.3").write_text(f".so man3/{owner[name]}.3\n", encoding="utf-8")


if __name__ == "__main__":
    main()
