# SPDX-License-Identifier: MIT
"""What a toolkit's headers say, measured by clang and the preprocessor, not by the generator."""

import re

import pytest

import toolkits

try:
    from clang import cindex
    from clang.cindex import CursorKind, TypeKind
except ModuleNotFoundError:
    cindex = None

TARGETS = {"linux": "x86_64-unknown-linux-gnu", "windows": "x86_64-w64-windows-gnu"}
INTERNAL = ["-D__CUDA_API_VERSION_INTERNAL=1", "-D__CUDA_API_VERSION_INTERNAL_ODR=1"]
PFN = re.compile(r"typedef[^;{}]*?\(\s*(?:__attribute__\(\(\w+\)\)\s*)?\*\s*"
                 r"PFN_(cu\w+?)_v(\d+)(?:_(ptsz|ptds))?\s*\)")
# Steer the headers themselves, or are the caller's to define.
STEERING = re.compile(r"_H$|^__|^CUDAAPI$|^CUDA_CB$|^CUDA_API_PER_THREAD_DEFAULT_STREAM$|"
                      r"^CU_UUID_HAS_BEEN_DEFINED$")


class Facts:
    """Records with fields, enums with values, typedefs with types, functions, macros."""

    def __init__(self, toolkit):
        if not cindex:
            pytest.skip("python3-clang is not installed")
        self.toolkit = toolkit
        self.records, self.values, self.aliases = {}, {}, {}
        for cursor in self._parse():
            if cursor.kind == CursorKind.TYPEDEF_DECL:
                self._read(cursor)

    def functions(self, *options):
        """What the headers declare in a mode."""
        return {cursor.spelling for cursor in self._parse(*options)
                if cursor.kind == CursorKind.FUNCTION_DECL}

    def typedefs(self):
        """PFN_ typedef, of the internal ABIs too -> the type that it stands for."""
        return {cursor.spelling: cursor.type.get_canonical().spelling
                for cursor in self._parse(*INTERNAL, parts=("cuda", "companions", "typedefs"))
                if cursor.kind == CursorKind.TYPEDEF_DECL and cursor.spelling.startswith("PFN_")}

    def _parse(self, *options, parts=("cuda", "companions")):
        """Declarations of the toolkit's headers."""
        source = self.toolkit.includes(*parts)
        args = ["-std=c11", "-target", TARGETS[self.toolkit.platform], "-nostdinc", "-w", *options,
                "-I", str(self.toolkit.folder), "-isystem", str(toolkits.SHIM)]
        unit = cindex.Index.create().parse("facts.c", args, unsaved_files=[("facts.c", source)])
        errors = [str(message) for message in unit.diagnostics
                  if message.severity >= cindex.Diagnostic.Error]
        if errors:
            raise RuntimeError("\n".join(errors))
        return [cursor for cursor in unit.cursor.get_children() if cursor.location.file
                and cursor.location.file.name.startswith(str(self.toolkit.folder))]

    def _read(self, cursor):
        kind = cursor.type.get_canonical()
        if kind.kind == TypeKind.RECORD and kind.get_size() > 0:
            fields = {}
            self._fields(kind, "", 0, fields)
            self.records[cursor.spelling] = (kind.get_size(), kind.get_align(), fields)
        elif kind.kind == TypeKind.ENUM:
            self.values[cursor.spelling] = [(value.spelling, value.enum_value)
                                            for value in kind.get_declaration().get_children()]
        else:
            self.aliases[cursor.spelling] = kind.spelling

    def _fields(self, record, path, base, fields):
        """Name -> (offset, size, type) of every field, nested ones with their path."""
        for field in record.get_fields():
            offset = base + field.get_field_offsetof() // 8
            kind = field.type.get_canonical()
            name = path + field.spelling
            if not field.spelling.isidentifier():  # older clangs give "" here, newer ones words
                self._fields(kind, path, offset, fields)
                continue
            spelled = kind.spelling
            inner = kind
            while inner.kind == TypeKind.CONSTANTARRAY:
                inner = inner.element_type.get_canonical()
            # A type that the record itself defines: without a name, or with one that is local
            # in C++.
            nested = inner.kind == TypeKind.RECORD and \
                inner.get_declaration().lexical_parent.kind != CursorKind.TRANSLATION_UNIT
            fields[name] = (offset, kind.get_size(), None if nested else spelled)
            if nested:
                index = "[0]" * (kind.kind == TypeKind.CONSTANTARRAY)
                self._fields(inner, f"{name}{index}.", offset, fields)


def typedefs(toolkit, options, *mode, compiler):
    """(name, since, stream) of the PFN_ typedefs that a mode of the headers has."""
    text = toolkits.preprocess(toolkit.includes("cuda", "companions", "typedefs"), *options, *mode,
                               compiler=compiler)
    return {(name, int(since), stream or "legacy") for name, since, stream in PFN.findall(text)}


def macros(text, *options, compiler):
    """Object-like macros of the driver's headers after TEXT."""
    defined = toolkits.preprocess(text, "-dM", *options, compiler=compiler)
    names = re.findall(r"^#define ((?:CU|cu)\w+)(?!\(|\w)", defined, re.M)
    return {name for name in names if not STEERING.search(name)}


def meanings(names, text, *options, compiler):
    """What each of NAMES stands for after TEXT, white space aside."""
    probes = "".join(f"\n@{number}@ {name}\n" for number, name in enumerate(names))
    output = toolkits.preprocess(text + probes, *options, compiler=compiler)
    # No line of a header begins with a mark; an expansion may be folded over several lines.
    parts = re.split(r"^@(\d+)@", output, flags=re.M)[1:]
    return {names[int(number)]: "".join(body.split())
            for number, body in zip(parts[::2], parts[1::2])}
