# SPDX-License-Identifier: MIT
"""What Doxygen reads in the public headers, as plain objects."""

import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INCLUDE = ROOT / "include"
# Other loaders' names over cushim; those loaders document them.
ADAPTERS = ("cuew.h", "dynlink_loader.h")


def run_doxygen(output, extra=""):
    """Make the folder "xml" below a folder; a warning is a failure.

    Doxygen reads the headers by a link in /tmp: from the names of files it strips no folder whose
    name has letters beyond ASCII.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        include = Path(folder, "include")
        include.symlink_to(INCLUDE)
        settings = (HERE / "Doxyfile").read_text(encoding="utf-8") + f"""
OUTPUT_DIRECTORY = "{output}"
INPUT = "{include}/cushim"
EXCLUDE_PATTERNS = {" ".join(f"*/{name}" for name in ADAPTERS)}
STRIP_FROM_PATH = "{include}"
STRIP_FROM_INC_PATH = "{include}"
{extra}
"""
        done = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True,
                              check=False)
    if done.returncode != 0 or "warning:" in done.stderr:
        raise RuntimeError(f"doxygen: {done.stdout}{done.stderr}")
    return Path(output) / "xml"


@dataclass
class Member:
    """A function, macro, type, enumerator or field. The kind is Doxygen's word."""
    kind: str
    name: str
    line: int
    declaration: str = ""  # of a function: the type of its result; of a field: type and name
    parameters: list = field(default_factory=list)  # of a function: "const char *name"
    names: list = field(default_factory=list)  # of its parameters
    text: list = field(default_factory=list)  # elements of Doxygen, to be written out
    members: list = field(default_factory=list)  # of a structure or an enumeration

    def words(self):
        """All of its text, on one line."""
        return " ".join(" ".join(part.itertext()) for part in self.text)

    def sections(self, tag, kind=""):
        """Elements of that tag and kind in its text."""
        return [found for part in self.text for found in part.iter(tag)
                if not kind or found.get("kind") == kind]


@dataclass
class Header:
    """A public header."""
    name: str  # "cushim/launch.h"
    text: list
    members: list

    def words(self):
        """The text at its beginning."""
        return " ".join(" ".join(part.itertext()) for part in self.text)


def plain(element):
    """The text of an element, blanks made single."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def joined(type_name, name):
    """A declaration: the star belongs to the name."""
    return type_name + ("" if type_name.endswith("*") else " ") + name


def texts(node):
    """Brief and long text of a node."""
    return [part for part in (node.find("briefdescription"), node.find("detaileddescription"))
            if part is not None and plain(part)]


def read_member(node):
    """A <memberdef>."""
    line = int(node.find("location").get("line"))
    member = Member(node.get("kind"), plain(node.find("name")), line, plain(node.find("type")),
                    text=texts(node))
    if member.kind == "typedef":
        member.declaration = plain(node.find("definition")).replace("( ", "(")
    elif member.kind == "variable":
        dimensions = plain(node.find("argsstring"))
        member.declaration = joined(member.declaration, member.name) + dimensions
    for parameter in node.findall("param"):
        name = plain(parameter.find("declname" if member.kind != "define" else "defname"))
        member.names.append(name)
        if member.kind == "function":
            member.parameters.append(joined(plain(parameter.find("type")), name)
                                     + plain(parameter.find("array")))
        else:
            member.parameters.append(name)
    member.members = [Member("enumvalue", plain(value.find("name")), 0, text=texts(value))
                      for value in node.findall("enumvalue")]
    return member


def read_structure(file):
    """A structure's page."""
    node = ET.parse(file).getroot().find("compounddef")
    return Member("struct", plain(node.find("compoundname")),
                  int(node.find("location").get("line")), text=texts(node),
                  members=[read_member(member) for member in node.iter("memberdef")])


def read_header(folder, file):
    """A header's page, its members in the order of its lines."""
    node = ET.parse(file).getroot().find("compounddef")
    members = [read_member(member) for member in node.iter("memberdef")]
    members += [read_structure(folder / f"{inner.get('refid')}.xml")
                for inner in node.findall("innerclass") if "::" not in plain(inner)]
    members.sort(key=lambda member: member.line)
    return Header(node.find("location").get("file"), texts(node), members)


def read_headers(folder):
    """The headers of C."""
    files = sorted(folder.glob("*_8h.xml"))
    return [read_header(folder, file) for file in files]


def read_call(node, scope):
    """A function of C++, its declaration in one line."""
    member = read_member(node)
    result = re.sub(rf"{re.escape(scope)}(< .*? >)?::", "", plain(node.find("definition")), count=1)
    words = re.sub(r"(?<=\w)=(?=\w)", " = ", result + plain(node.find("argsstring")))
    kinds = ", ".join(plain(kind) for kind in node.findall("templateparamlist/param"))
    member.declaration = (f"template <{kinds}> " if kinds else "") + \
        re.sub(r" ([*&]) (?=\w)", r" \1", words)
    return member


def read_calls(node):
    """What is public and described of a class or a namespace."""
    calls = [read_call(call, plain(node.find("compoundname"))) for call in node.iter("memberdef")
             if call.get("kind") == "function" and call.get("prot") == "public"]
    return [call for call in calls if call.text]


def read_owners(folder):
    """cushim.hpp: its macros, its functions, and its classes with their functions."""
    header = read_header(folder, folder / "cushim_8hpp.xml")
    header.members += read_calls(ET.parse(folder / "namespacecushim.xml").find("compounddef"))
    for file in folder.glob("classcushim_*.xml"):
        node = ET.parse(file).find("compounddef")
        header.members.append(Member("class", plain(node.find("compoundname")),
                                     int(node.find("location").get("line")), text=texts(node),
                                     members=read_calls(node)))
    header.members.sort(key=lambda member: member.line)
    return header
