#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the calls of fuzz_api: for each entry of the registry a C function that calls it with
arguments by fuzz_api.h. Usage: api_calls.py OUTPUT"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))

import ctext  # noqa: E402
import registry  # noqa: E402

# An argument of such a name says how many elements an array beside it has.
COUNT = re.compile(r"^(count|len|n|num\w*|size|sizes|bufferSize|\w*Count|tensorRank|failIdx|"
                   r"numbytes|dataSize|nb\w*|depth)$")
BYTES = re.compile(r"^(byte\w*|\w*Bytes|ByteCount|N|maxSize|allocSize)$")
SHAPE = re.compile(r"^(grid|block|cluster)\w*$|^(Width|Height|Depth|width|height|depth)\w*$")
FLAGS = re.compile(r"flags", re.IGNORECASE)
# Their fields name host memory, of which nobody knows the size: numbers must stay small.
COPIES = re.compile(r"^CUDA_MEMCPY[23]D")
# These add places to an address, which leave the memory; of the host's, nobody can tell.
BOXES = re.compile(r"^CUDA_MEMCPY[23]D|^CUmemcpy3D")
SMALL, NEAR, BYTE, EDGE, FLAG, ANY = "SMALL", "NEAR", "BYTES", "SHAPE", "FLAGS", "ANY"
# Numbers that stand for objects; all others of type `handle` do, too.
HANDLES = {"CUdeviceptr_v2", "CUmemGenericAllocationHandle_v1", "CUtexObject_v1",
           "CUsurfObject_v1", "CUgraphConditionalHandle", "CUlogicalEndpointId"}
DEVICES = {"CUdevice_v1"}
SCALARS = {"int", "unsigned int", "size_t", "unsigned long long", "long long", "unsigned char",
           "unsigned short", "char", "uint32_t", "uint64_t", "float", "unsigned long", "double"}
# The member of the union that a value of `type` means. Elsewhere any member will do: none of them
# points to memory of the caller's.
NODES = {"kernel": "KERNEL", "memcpy": "MEMCPY", "memset": "MEMSET", "host": "HOST",
         "graph": "GRAPH", "eventWait": "WAIT_EVENT", "eventRecord": "EVENT_RECORD",
         "alloc": "MEM_ALLOC", "free": "MEM_FREE", "memOp": "BATCH_MEM_OP",
         "conditional": "CONDITIONAL"}
IMAGES = {"image", "fatCubin", "code"}
HEAD = """
#include "fuzz_api.h"


"""


class Calls:
    """Text of the functions, and what they need."""

    def __init__(self):
        data = {name: registry.read(registry.DEFAULT, name) for name in ("entries", "types")}
        self.entries = [entry for entry in data["entries"] if entry.get("platform") != "windows"]
        self.types = {row["name"]: ctext.newest(row) for row in data["types"]}
        self.names = ctext.by_name(data["entries"])
        self.kinds = []
        self.functions = []
        self.made = set()

    def plain(self, name):
        """A name and its facts, behind aliases."""
        while name in self.types and self.types[name]["kind"] == "alias" and \
                name not in HANDLES | DEVICES:
            name = self.types[name]["type"]
        return name, self.types.get(name, {"kind": "scalar" if name in SCALARS else "unknown"})

    def kind(self, name):
        """The number of a kind of handle."""
        if name not in self.kinds:
            self.kinds.append(name)
        return self.kinds.index(name)

    def is_handle(self, name):
        """Whether values of the type stand for objects."""
        plain, facts = self.plain(name)
        return plain in HANDLES or facts["kind"] == "handle"

    def number(self, name, owner):
        """How large a number of this name may be."""
        if owner and COPIES.match(owner):
            return NEAR
        if COUNT.match(name):
            return SMALL
        for pattern, answer in ((BYTES, BYTE), (SHAPE, EDGE), (FLAGS, FLAG)):
            if pattern.search(name):
                return answer
        return ANY

    def value(self, kind, name, owner=""):
        """An expression of a type that is passed as a value; None: fill it in place."""
        kind = kind.removeprefix("const ")
        plain, facts = self.plain(kind)
        if plain in DEVICES:
            return "fuzz_device(f)"
        if plain == "CUdeviceptr_v2" and BOXES.match(owner):
            return f"({kind})fuzz_device_memory(f)"
        if self.is_handle(plain):
            return f"({kind})fuzz_handle(f, {self.kind(plain)})"
        if plain == "CUstreamBatchMemOpType":
            return f"({kind})fuzz_operation(f)"
        if facts["kind"] == "enum":
            values = ", ".join(str(value) for _, value, *_ in facts["values"][:400])
            return f"({kind})FUZZ_PICK(f, {values})"
        if facts["kind"] == "function":
            return f"({kind})fuzz_function(f, \"{plain}\")"
        if plain in ("float", "double"):
            return "fuzz_float(f)"
        if facts["kind"] == "unknown":
            return "0" # another header's
        if facts["kind"] == "scalar":
            return f"({kind})fuzz_number(f, FUZZ_{self.number(name, owner)})"
        return None

    def pointer(self, kind, name, owner, several):
        """An expression of a pointer."""
        target = kind.replace("const ", "").removesuffix("*").strip()
        if target == "void":
            if name in IMAGES:
                return "fuzz_image(f, NULL)"
            if name.startswith("reserved"):
                return "NULL"
            if name in ("p", "devPtr", "globalAddress"):
                return "fuzz_host_pointer(f)"
            return "fuzz_area(f)"
        if target == "char":
            if "const" not in kind:
                return "fuzz_area(f)"
            paths = ("fname", "path", "pathToFile", "fileName")
            return "fuzz_path(f)" if name in paths else "fuzz_name(f)"
        if target.startswith("void *"):
            if name == "kernelParams":
                return "fuzz_params(f)"
            if name == "extra":
                return "fuzz_extra(f)"
            return f"({kind})fuzz_pointers(f)"
        if target.endswith("*"):
            return "fuzz_block(f, 8 * sizeof(void *))"
        plain, facts = self.plain(target)
        if facts["kind"] == "unknown":
            return "NULL"
        if facts["kind"] in ("struct", "union"):
            fill = self.filler(target)
            return f"fuzz_filled(f, sizeof({target}), {8 if several else 1}, {fill})"
        if self.is_handle(plain):
            return f"fuzz_handles(f, sizeof({target}), {8 if several else 1}, {self.kind(plain)})"
        if facts["kind"] == "enum":
            return (f"fuzz_filled(f, sizeof({target}), {8 if several else 1}, "
                    f"{self.filler(target)})")
        return f"fuzz_numbers(f, sizeof({target}), {8 if several else 4}, FUZZ_SMALL)"

    def filler(self, target):
        """The function that fills one value of a type, made when first asked for."""
        name = "fill_" + target.replace(" ", "_")
        if name not in self.made:
            self.made.add(name)
            facts = self.plain(target)[1]
            lines = [f"static void {name}(struct fuzz *f, void *memory)", "{",
                     f"    {target} *value = memory;", "    (void)f, (void)value;"]
            if facts["kind"] == "enum":
                lines.append(f"    *value = {self.value(target, '')};")
            else:
                self.fields(target, facts, "value->", lines)
            self.functions += [*lines, "}", ""]
        return name

    def fields(self, owner, facts, path, lines):
        """Statements that fill a structure, or one member of a union."""
        members = facts["fields"]
        if facts["kind"] == "union":
            self.one_of(owner, members, path, lines)
            return
        for field in members:
            self.field(owner, field, path, lines)

    def one_of(self, owner, members, path, lines):
        """One member of a union."""
        if owner == "CUgraphNodeParams":
            members = [member for member in members if member["name"] in NODES]
        lines.append(f"    switch (fuzz_below(f, {len(members)})) {{")
        for number, member in enumerate(members):
            lines.append(f"    case {number}:")
            if owner == "CUgraphNodeParams":
                lines.append(f"    value->type = CU_GRAPH_NODE_TYPE_{NODES[member['name']]};")
            if owner.startswith("CUmemcpy3DOperand"):  # else an array is an address of the host
                kind = {"ptr": "POINTER", "array": "ARRAY"}[member["name"]]
                lines.append(f"    value->type = CU_MEMCPY_OPERAND_TYPE_{kind};")
            self.field(owner, member, path, lines)
            lines.append("    break;")
        lines.append("    }")

    def field(self, owner, field, path, lines):
        """Statements that fill one field."""
        name = field["name"]
        inner = f"{path}{name}" + ("." if name else "")
        if "union" in field:
            self.one_of(owner, field["union"], inner, lines)
            return
        if "struct" in field:
            for member in field["struct"]:
                self.field(owner, member, inner, lines)
            return
        kind, place = field["type"], f"{path}{name}"
        if name.startswith("reserved") or name == "_oversize" or \
                owner == "CUgraphNodeParams" and name == "type":
            return
        if field.get("dims"):
            plain, facts = self.plain(kind)
            if "*" not in kind and facts["kind"] == "scalar":
                lines.append(f"    fuzz_fill_numbers(f, &{place}, sizeof {place}, "
                             f"sizeof({kind}));")
            return
        if kind.endswith("*"):
            lines.append(f"    {place} = {self.pointer(kind, name, owner, True)};")
            return
        made = self.value(kind, name, owner)
        if made:
            lines.append(f"    {place} = {made};")
        elif self.plain(kind)[1]["kind"] in ("struct", "union"):
            lines.append(f"    {self.filler(kind)}(f, &{place});")

    def call(self, number, entry):
        """The function that calls an entry."""
        lines = [f"static CUresult call_{number}(struct fuzz *f)", "{"]
        several = any(COUNT.match(name) for _, name in entry["params"])
        options = {name: kind for kind, name in entry["params"]}
        learn = []
        for place, (kind, name) in enumerate(entry["params"]):
            if "(*)" in kind:
                lines.append(f"    {ctext.declare(kind, f'a{place}')} = NULL;")
                continue
            if kind.endswith("*"):
                made = self.pointer(kind, name, "", several)
                if name == "data" and "CUjitInputType" in options.values():
                    made = "fuzz_image(f, &f->image_size)"
                target = kind.replace("const ", "").removesuffix("*").strip()
                if "const" not in kind and (target == "void *" or self.is_handle(target)):
                    which = self.kind("host") if target == "void *" else \
                        self.kind(self.plain(target)[0])
                    learn.append(f"    fuzz_learn(f, {which}, a{place});")
            elif name == "size" and "CUjitInputType" in options.values():
                made = "f->image_size"
            else:
                made = self.value(kind, name)
            lines.append(f"    {ctext.declare(kind, f'a{place}')}"
                         + (f" = {made};" if made else ";"))
            if not made:
                lines.append(f"    {self.filler(kind)}(f, &a{place});")
        kinds = [kind for kind, _ in entry["params"]]
        if "CUjit_option *" in kinds:
            place = kinds.index("CUjit_option *")
            values = next(i for i in range(place, len(kinds)) if kinds[i] == "void **")
            lines.append(f"    fuzz_jit(f, a{place}, a{values});")
        if entry["name"] == "cuLinkCreate":
            lines.append("    f->block_count = 0; /* the link keeps its options for its life */")
        arguments = ", ".join(f"a{place}" for place in range(len(entry["params"])))
        member = ctext.member(entry, self.names)
        lines.append(f"    CUresult result = f->cu->{member}({arguments});")
        if learn:
            lines += ["    if (result == CUDA_SUCCESS) {",
                      *("    " + line for line in learn), "    }"]
        return [*lines, "    return result;", "}", ""]

    def text(self):
        """The whole file."""
        self.kind("host")
        calls = []
        for number, entry in enumerate(self.entries):
            calls += self.call(number, entry)
        rows = [f"    {{\"{entry['symbol']}\", call_{number}}},"
                for number, entry in enumerate(self.entries)]
        pushed = sorted({entry["name"] for entry in self.entries}
                        | {entry["symbol"] for entry in self.entries})
        kinds = [f"const int fuzz_kind_{name} = {number};"
                 for number, name in enumerate(self.kinds)]
        return "\n".join([
            ctext.banner("entries", "types") + HEAD,
            *(f"#undef {name}" for name in pushed), "", *self.functions, *calls, *kinds,
            f"const size_t fuzz_kind_count = {len(self.kinds)};",
            "const struct fuzz_call fuzz_calls[] = {", *rows, "};",
            f"const size_t fuzz_call_count = {len(rows)};", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(Calls().text(), encoding="utf-8")
