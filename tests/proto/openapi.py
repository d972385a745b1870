"""docs/openapi.yaml: its schemas are those that the protocol's messages have as JSON.

    python -m tests.proto.openapi             whether the file has them
    python -m tests.proto.openapi --write     writes them

What stands above the line BEGIN is written by hand; it names the messages that are wanted.
"""

import pathlib
import re
import sys
import tempfile

import google.rpc
import grpc_tools
import yaml
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "openapi.yaml"
BEGIN = "  # From here on written by tests/proto/openapi.py --write.\n"
REFERENCE = "#/components/schemas/"

Field = descriptor_pb2.FieldDescriptorProto
INTEGERS_32 = {Field.TYPE_INT32, Field.TYPE_UINT32, Field.TYPE_SINT32, Field.TYPE_FIXED32,
               Field.TYPE_SFIXED32}
INTEGERS_64 = {Field.TYPE_INT64, Field.TYPE_UINT64, Field.TYPE_SINT64, Field.TYPE_FIXED64,
               Field.TYPE_SFIXED64}
REALS = {Field.TYPE_DOUBLE, Field.TYPE_FLOAT}
# What https://protobuf.dev/programming-guides/json says of the types that have a JSON of their own.
WELL_KNOWN = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.Any": {
        "type": "object", "required": ["@type"], "properties": {"@type": {"type": "string"}}},
}
INTEGER_64 = {"type": "string", "format": "int64", "pattern": "^-?[0-9]{1,20}$"}
REAL = {"oneOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}


def descriptors():
    """All files of the protocol, with their comments."""
    proto = ROOT / "proto"
    includes = [proto, pathlib.Path(list(google.rpc.__path__)[0]).parents[1],
                pathlib.Path(grpc_tools.__file__).parent / "_proto"]
    files = [str(file) for file in sorted(proto.glob("sinks/v1/*.proto"))]
    with tempfile.NamedTemporaryFile() as out:
        code = protoc.main(
            ["protoc", *(f"-I{each}" for each in includes), "--include_source_info",
             "--include_imports", f"--descriptor_set_out={out.name}", *files])
        if code != 0:
            raise RuntimeError(f"protoc ended with {code}")
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes()).file


class Dumper(yaml.SafeDumper):
    """Writes out what comes twice."""

    def ignore_aliases(self, data):
        return True


class Types:
    """Messages and enums by full name, and comments by full name of what they are about."""

    def __init__(self, files):
        self.messages, self.enums, self.comments = {}, {}, {}
        for file in files:
            said = {tuple(each.path): " ".join(each.leading_comments.split())
                    for each in file.source_code_info.location}
            for index, message in enumerate(file.message_type):
                self.add_message(file.package, message, (4, index), said)
            for index, enum in enumerate(file.enum_type):
                self.add_enum(file.package, enum, (5, index), said)

    def add_message(self, scope, message, path, said):
        name = f"{scope}.{message.name}"
        self.messages[name] = message
        self.comments[name] = said.get(path, "")
        for index, field in enumerate(message.field):
            self.comments[f"{name}.{field.name}"] = said.get((*path, 2, index), "")
        for index, nested in enumerate(message.nested_type):
            self.add_message(name, nested, (*path, 3, index), said)
        for index, enum in enumerate(message.enum_type):
            self.add_enum(name, enum, (*path, 4, index), said)

    def add_enum(self, scope, enum, path, said):
        self.enums[f"{scope}.{enum.name}"] = enum
        self.comments[f"{scope}.{enum.name}"] = said.get(path, "")

    def single(self, field):
        """The schema of one value of a field."""
        if field.type in INTEGERS_32:
            return {"type": "integer", "format": "int32"}
        if field.type in INTEGERS_64:
            return dict(INTEGER_64)
        if field.type in REALS:
            return dict(REAL)
        if field.type == Field.TYPE_BOOL:
            return {"type": "boolean"}
        if field.type == Field.TYPE_STRING:
            return {"type": "string"}
        if field.type == Field.TYPE_BYTES:
            return {"type": "string", "contentEncoding": "base64"}
        name = field.type_name.removeprefix(".")
        return dict(WELL_KNOWN[name]) if name in WELL_KNOWN else {"$ref": REFERENCE + name}

    def field(self, field):
        if field.label != Field.LABEL_REPEATED:
            return self.single(field)
        entry = self.messages.get(field.type_name.removeprefix("."))
        if entry is not None and entry.options.map_entry:
            return {"type": "object", "additionalProperties": self.single(entry.field[1])}
        return {"type": "array", "items": self.single(field)}

    def message(self, name):
        properties = {}
        for field in self.messages[name].field:
            schema = self.field(field)
            if comment := self.comments[f"{name}.{field.name}"]:
                schema["description"] = comment
            properties[field.json_name] = schema
        schema = {"type": "object", "description": self.comments[name], "properties": properties,
                  "additionalProperties": False}
        return {key: value for key, value in schema.items() if value != ""}

    def enum(self, name):
        schema = {"type": "string", "description": self.comments[name],
                  "enum": [value.name for value in self.enums[name].value]}
        return {key: value for key, value in schema.items() if value != ""}


def references(value):
    if isinstance(value, dict):
        if "$ref" in value and value["$ref"].startswith(REFERENCE):
            yield value["$ref"].removeprefix(REFERENCE)
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def schemas(wanted):
    """Those that are wanted, and those that they need, by name."""
    types, done, waiting = Types(descriptors()), {}, list(wanted)
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done[name] = types.message(name) if name in types.messages else types.enum(name)
        waiting += references(done[name])
    return {name: done[name] for name in sorted(done)}


def by_hand(text):
    return text[:text.index(BEGIN)] if BEGIN in text else text


def complete(text):
    head = by_hand(text)
    wanted = sorted(set(re.findall(re.escape(REFERENCE) + r"([A-Za-z0-9_.]+)", head)))
    body = yaml.dump({"schemas": schemas(wanted)}, Dumper=Dumper, sort_keys=False, width=100)
    return head + BEGIN + "".join(f"  {line}\n" for line in body.splitlines())


def main():
    text = FILE.read_text()
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(complete(text))
    elif text != complete(text):
        sys.exit("docs/openapi.yaml has other schemas than proto/: "
                 "run `python -m tests.proto.openapi --write`")


if __name__ == "__main__":
    main()
