# SPDX-License-Identifier: MIT
"""One toolkit's headers, read with libclang: prototypes, typedefs of entry points, macros, types.

Only names, types, values and numbers are taken; no comment is read.
"""

import re
from pathlib import Path

from libraries import CUDA

try:
    from clang import cindex
    from clang.cindex import CursorKind, TypeKind
except ImportError as error:
    raise SystemExit(f"{error}: this Python lacks libclang's bindings; on Debian they are the "
                     "package python3-clang, for /usr/bin/python3") from None

RECORDS = (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL)
SHIM = Path(__file__).resolve().parent / "shim"
TARGETS = {"linux": "x86_64-unknown-linux-gnu", "windows": "x86_64-w64-windows-gnu"}
TYPEDEF = re.compile(r"^PFN_(?P<name>cu\w+?)_v(?P<since>\d+)(?:_(?P<stream>ptsz|ptds))?$")


class HeaderError(Exception):
    """Input that is refused; the message begins with file and line."""


def add_once(found, key, cursor):
    """Add what may be declared only once."""
    if key in found:
        raise HeaderError(f"{where(cursor)}: {cursor.spelling} is declared twice, first at "
                          f"{where(found[key])}")
    found[key] = cursor


def where(cursor):
    """FILE:LINE of a cursor."""
    location = cursor.location
    return f"{location.file.name if location.file else '<command line>'}:{location.line}"


def element(kind):
    """What an array is of, and its dimensions; of other types there are none."""
    dims = []
    while kind.kind == TypeKind.CONSTANTARRAY:
        dims.append(kind.element_count)
        kind = kind.element_type
    return kind, dims


class HeaderSet:
    """The headers of one release on one platform."""

    def __init__(self, folder, platform, library=CUDA, version=None):
        self.folder = Path(folder)
        self.platform = platform
        self.library = library
        self.pairs = self._find_pairs()
        internal = self._parse(library.internal, typedefs=True)
        public = self._parse("")
        self.macros = self._read_macros(public)
        self.per_thread_macros = self._read_macros(
            self._parse("#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1\n", typedefs=True))
        self.typedef_macros = self._read_macros(internal)
        self.version = self._read_version(version)
        self.prototypes = self._read_prototypes(internal)
        self.typedefs = self._read_typedefs(internal)
        self.places = {}  # of each type and constant
        self.types = self._read_types(public, {})
        self.types = self._read_types(internal, self.types)

    # -- parsing

    def _find_pairs(self):
        """The pairs of which this folder has the header; a typedef header alone says nothing."""
        main = self.folder / self.library.needed[0]
        if not main.is_file():
            raise HeaderError(f"{main}:1: no such file")
        pairs = [pair for pair in self.library.pairs if (self.folder / pair[0]).is_file()]
        for api, typedefs in pairs:
            if typedefs and not (self.folder / typedefs).is_file():
                raise HeaderError(f"{self.folder / api}:1: no {typedefs} beside it")
        return pairs

    def _parse(self, prefix, typedefs=False):
        """Cursors of the set's own declarations and macros, each with its header's name."""
        names = [name for pair in self.pairs for name in (pair if typedefs else pair[:1]) if name]
        source = prefix + "".join(f"#include <{name}>\n"
                                  for name in (*self.library.expected, *names))
        unit = cindex.Index.create().parse(
            "scan.c",
            args=["-std=c11", "-target", TARGETS[self.platform], "-nostdinc", "-Wno-everything",
                  "-I", str(self.folder), "-isystem", str(SHIM)],
            unsaved_files=[("scan.c", source)],
            options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        for diagnostic in unit.diagnostics:
            if diagnostic.severity >= cindex.Diagnostic.Error:
                place = diagnostic.location
                raise HeaderError(f"{place.file.name if place.file else 'scan.c'}:{place.line}: "
                                  f"{diagnostic.spelling}")
        files = {f"{self.folder}/{name}": name for pair in self.pairs for name in pair if name}
        found = []
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if file and file.name in files:
                found.append((cursor, files[file.name]))
        return found

    def _read_macros(self, cursors):
        """Object-like macros: name -> (body, place). Others may be those that are known."""
        macros = {}
        for cursor, _ in cursors:
            if cursor.kind != CursorKind.MACRO_DEFINITION:
                continue
            tokens = [token.spelling for token in cursor.get_tokens()][1:]
            if tokens and tokens[0] == "(" and self._function_like(cursor):
                known = self.library.functions
                if known is not None and cursor.spelling not in known:
                    raise HeaderError(f"{where(cursor)}: {cursor.spelling} is a macro with "
                                      "arguments that libraries.py does not know")
                continue
            macros[cursor.spelling] = (tokens, where(cursor))
        return macros

    @staticmethod
    def _function_like(cursor):
        start, tokens = cursor.extent.start.offset, cursor.get_tokens()
        first = next(iter(tokens))
        second = next(iter(tokens))
        return second.extent.start.offset == start + len(first.spelling)

    def _read_version(self, version):
        if not self.library.version:
            return version
        if "CUDA_VERSION" not in self.macros:
            raise HeaderError(f"{self.folder / 'cuda.h'}:1: no CUDA_VERSION")
        body, place = self.macros["CUDA_VERSION"]
        if not re.fullmatch(r"\d+", "".join(body)):
            raise HeaderError(f"{place}: CUDA_VERSION is not a number")
        return int(body[0])

    # -- entries

    @staticmethod
    def _read_prototypes(cursors):
        """symbol -> cursor of its prototype."""
        found = {}
        for cursor, _ in cursors:
            if cursor.kind == CursorKind.FUNCTION_DECL:
                add_once(found, cursor.spelling, cursor)
        return found

    @staticmethod
    def _read_typedefs(cursors):
        """(name, since, stream) -> cursor of its typedef."""
        found = {}
        for cursor, _ in cursors:
            if cursor.kind != CursorKind.TYPEDEF_DECL or not cursor.spelling.startswith("PFN_"):
                continue
            match = TYPEDEF.match(cursor.spelling)
            if not match:
                raise HeaderError(f"{where(cursor)}: {cursor.spelling} does not say which release "
                                  "introduced it")
            key = (match["name"], int(match["since"]), match["stream"] or "legacy")
            add_once(found, key, cursor)
        return found

    def header_of(self, typedefs_header):
        """The header that declares what a typedef header names."""
        return next(api for api, typedefs in self.pairs if typedefs == typedefs_header)

    def meanings(self, per_thread=False):
        """What each name that a macro redirects stands for: name -> symbol."""
        macros = self.per_thread_macros if per_thread else self.macros
        found = {}
        for name in macros:
            if self.library.symbol.match(name):
                symbol = self._expand(macros, name)
                # NVML has constants and types of such names, too.
                if symbol and (self.pairs[0][1] or symbol in self.prototypes):
                    found[name] = symbol
        return found

    @staticmethod
    def _expand(macros, name):
        """Follow NAME -> SYMBOL, or NAME -> __CUDA_API_PTxx(SYMBOL), to its end."""
        seen, suffix = set(), ""
        while name in macros and name not in seen:
            seen.add(name)
            body = macros[name][0]
            if len(body) == 1:
                name = body[0]
            elif len(body) == 4 and body[0].startswith("__CUDA_API_PT"):
                if "__CUDA_API_PER_THREAD_DEFAULT_STREAM" in macros:
                    suffix = "_" + body[0][-4:].lower()
                name = body[2]
            else:
                return None
        return name + suffix

    def plain_names(self, per_thread=False):
        """The typedef that each PFN_ macro stands for: name -> (typedef, place)."""
        macros = self.per_thread_macros if per_thread else self.typedef_macros
        return {name: (self._plain(" ".join(body), per_thread), place)
                for name, (body, place) in macros.items() if name.startswith("PFN_")}

    @staticmethod
    def _plain(body, per_thread):
        """A macro's body, or what __API_TYPEDEF_PTxx(PFN_X, VERSION, PER-THREAD VERSION) is."""
        match = re.fullmatch(r"__API_TYPEDEF_(PTSZ|PTDS) \( (PFN_\w+) , (\d+) , (\d+) \)", body)
        if not match:
            return body
        stream, name, legacy, since = match.groups()
        return f"{name}_v{since}_{stream.lower()}" if per_thread else f"{name}_v{legacy}"

    # -- types

    def _read_types(self, cursors, known):
        """Types and constants: name -> fact; those in KNOWN stay, others are marked internal."""
        types = dict(known)
        internal = {"internal": True} if known else {}
        self.tags = {fact["tag"] for fact in types.values() if "tag" in fact}
        for cursor, header in cursors:
            if header.endswith("Typedefs.h"):
                continue
            if cursor.kind == CursorKind.TYPEDEF_DECL and cursor.spelling not in types:
                self.places[cursor.spelling] = where(cursor)
                fact = {"header": header, **internal, **self._typedef(cursor)}
                types[cursor.spelling] = fact
                self.tags.add(fact.get("tag", cursor.spelling))
            elif cursor.kind == CursorKind.MACRO_DEFINITION and not known:
                value = self._constant(cursor)
                if value is not None:
                    self.places[cursor.spelling] = where(cursor)
                    types[cursor.spelling] = {"header": header, "kind": "define", "value": value}
        return types

    def _constant(self, cursor):
        name = cursor.spelling
        if not self.library.constant.match(name) or name in self.library.not_constants or \
                name.endswith("_H"):
            return None
        if name not in self.macros:  # it has arguments
            return None
        body, _ = self.macros[name]
        if not body and self.library.version:
            return None  # in the driver's headers such a macro steers them
        if len(body) == 1 and body[0] in self.prototypes:
            return None  # a plain name's meaning
        return " ".join(body).replace("( ", "(").replace(" )", ")")

    def _typedef(self, cursor):
        under = cursor.underlying_typedef_type
        declaration = under.get_declaration()
        # Newer clangs call a typedef's name elaborated, too.
        if declaration.kind in (CursorKind.ENUM_DECL, *RECORDS) and declaration.is_definition():
            if declaration.kind == CursorKind.ENUM_DECL:
                return {"kind": "enum", **self._tag(declaration), "values": [
                    [value.spelling, value.enum_value] for value in declaration.get_children()
                    if value.kind == CursorKind.ENUM_CONSTANT_DECL]}
            if self._defines(cursor, declaration) and declaration.spelling not in self.tags:
                return self._record(declaration)
            if declaration.spelling not in self.tags:  # the first name of a record defined before
                return self._record(declaration)
        if under.kind == TypeKind.POINTER:
            pointee = under.get_pointee()
            record = pointee.get_declaration()
            if record.kind == CursorKind.STRUCT_DECL and pointee.kind == TypeKind.ELABORATED:
                return {"kind": "handle", **self._tag(record),
                        **({"const": True} if pointee.is_const_qualified() else {})}
            if pointee.kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO) or \
                    pointee.get_canonical().kind == TypeKind.FUNCTIONPROTO:
                return self._function(cursor, pointee)
        return {"kind": "alias", "type": self.spell(under)}

    @staticmethod
    def _defines(cursor, declaration):
        """Whether a typedef holds the record's own body, and is not a second name for it."""
        return cursor.extent.start.offset <= declaration.extent.start.offset \
            and declaration.extent.end.offset <= cursor.extent.end.offset

    @staticmethod
    def _tag(declaration):
        name = declaration.spelling
        anonymous = not name or "unnamed" in name or "anonymous" in name
        # clang names an untagged record after its typedef.
        tagged = not anonymous and any(
            token.spelling == name for token in list(declaration.get_tokens())[:2])
        return {"tag": name} if tagged else {}

    def _function(self, cursor, pointee):
        params = [[self.spell(child.type), child.spelling] for child in cursor.get_children()
                  if child.kind == CursorKind.PARM_DECL]
        return {"kind": "function", "result": self.spell(pointee.get_result()), "params": params}

    def _record(self, declaration):
        kind = "union" if declaration.kind == CursorKind.UNION_DECL else "struct"
        return {"kind": kind, **self._tag(declaration), "fields": self._fields(declaration),
                **self._alignment(declaration)}

    @staticmethod
    def _alignment(declaration):
        """A record aligned beyond what its fields need says so."""
        natural = max((field.type.get_align() for field in declaration.type.get_fields()),
                      default=1)
        align = declaration.type.get_align()
        return {"align": align} if align > natural else {}

    def _fields(self, declaration):
        fields, nested = [], None  # nested: a record whose field, if it has a name, follows
        for child in declaration.get_children():
            if child.kind not in (*RECORDS, CursorKind.FIELD_DECL):
                continue
            kind, dims = element(child.type)
            named = nested is not None and child.kind == CursorKind.FIELD_DECL and \
                kind.get_declaration() == nested
            if nested is not None and not named:
                fields.append(self._anonymous(nested))
            if child.kind in RECORDS:
                nested = child
                continue
            if child.is_bitfield():
                raise HeaderError(f"{where(child)}: bit fields are not supported")
            field = {"name": child.spelling}
            field.update(self._nested(nested) if named else {"type": self.spell(kind)})
            if dims:
                field["dims"] = dims
            fields.append(field)
            nested = None
        if nested is not None:
            fields.append(self._anonymous(nested))
        return fields

    def _anonymous(self, declaration):
        """A record in a record, whose members are the outer one's."""
        if self._tag(declaration):
            raise HeaderError(f"{where(declaration)}: {declaration.spelling} is declared in a "
                              "record without being its member")
        return {"name": "", **self._nested(declaration)}

    def _nested(self, declaration):
        kind = "union" if declaration.kind == CursorKind.UNION_DECL else "struct"
        return {kind: self._fields(declaration), **self._tag(declaration)}

    def spell(self, kind):
        """A type in C, with the system's own types (GLuint, IDirect3DDevice9) taken apart."""
        if kind.kind == TypeKind.POINTER:
            inner = self.spell(kind.get_pointee())
            const = " const" if kind.is_const_qualified() else ""
            if "(" in inner:
                return inner.replace("(", "(*" + const.strip(), 1)
            return inner + ("*" if inner.endswith("*") else " *") + const
        if kind.get_declaration().kind == CursorKind.TYPEDEF_DECL:
            file = kind.get_declaration().location.file
            if file and SHIM in Path(file.name).parents and Path(file.name).name not in (
                    "stddef.h", "stdint.h"):
                under = kind.get_declaration().underlying_typedef_type
                const = "const " if kind.is_const_qualified() else ""
                return const + self.spell(under)
        if kind.kind == TypeKind.FUNCTIONPROTO:
            params = ", ".join(self.spell(param) for param in kind.argument_types())
            return f"{self.spell(kind.get_result())} ()({params or 'void'})"
        if " at " in kind.spelling:  # clang's name for what has none
            raise HeaderError(f"{where(kind.get_declaration())}: a type without a name")
        return kind.spelling
