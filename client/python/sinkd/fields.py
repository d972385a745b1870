"""Keyword arguments as fields of the protocol's messages, which are the only list of them."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp


def fill(message: Message, values: Mapping[str, Any], name: str) -> None:
    """Sets fields by name; `name` is what errors call the message."""
    fields = message.DESCRIPTOR.fields_by_name
    for key, value in values.items():
        if key not in fields:
            raise unknown(name, key, fields)
        set_field(message, fields[key], value, f"{name}: {key}")


def fill_first(messages: Iterable[Message], values: Mapping[str, Any], name: str) -> None:
    """Sets each field in the first of `messages` that has it."""
    every = list(messages)
    for key, value in values.items():
        owner = next((each for each in every if key in each.DESCRIPTOR.fields_by_name), None)
        if owner is None:
            raise unknown(name, key, [field for each in every for field in each.DESCRIPTOR.fields_by_name])
        set_field(owner, owner.DESCRIPTOR.fields_by_name[key], value, f"{name}: {key}")


# Descriptors are of the library's Python half in its type stubs and of its C half when it runs: Any.


def set_field(message: Message, field: Any, value: Any, path: str) -> None:
    """None leaves the field absent. A message is given as one, as a mapping of its fields, or as
    True, which sets it with every field absent."""
    if value is None:
        return
    current = getattr(message, field.name)
    try:
        if _is_map(field):
            current.update(value)
        elif field.is_repeated:
            current.extend(_element(field, each, path) for each in value)
        elif field.message_type is not None:
            _set_message(message, field, value, path)
        else:
            setattr(message, field.name, _element(field, value, path))
    except (AttributeError, TypeError) as error:
        if str(error).startswith(path):
            raise
        raise TypeError(f"{path} takes {_kind(field)}, not {value!r}") from error
    except ValueError as error:
        if str(error).startswith(path):
            raise
        raise ValueError(f"{path} takes {_kind(field)}, not {value!r}: {error}") from error


def word(enum: Any, number: int) -> str:
    """An enum's value as sinkctl writes it: "secondary", "linear-log", and sites as "mlp_out"."""
    value = enum.values_by_number.get(number)
    if value is None or number == 0:
        return "unknown"
    text: str = value.name[len(_prefix(enum)) :].lower()
    return text if enum.name == "Site" else text.replace("_", "-")


def unknown(name: str, key: str, known: Iterable[str]) -> TypeError:
    choices = sorted(set(known))
    near = difflib.get_close_matches(key, choices, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(choices)}"
    return TypeError(f"{name}: {key!r} is no parameter; {hint}")


def _set_message(message: Message, field: Any, value: Any, path: str) -> None:
    target = getattr(message, field.name)
    if isinstance(target, Timestamp) and isinstance(value, datetime.datetime):
        target.FromDatetime(value)
    elif isinstance(value, Message):
        target.CopyFrom(value)
    elif isinstance(value, Mapping):
        target.SetInParent()
        fill(target, value, path)
    elif value is True:
        target.SetInParent()
    elif value is not False:
        raise TypeError(f"{path} takes {_kind(field)}, not {value!r}")


def _element(field: Any, value: Any, path: str) -> Any:
    if field.enum_type is None or not isinstance(value, str):
        return value
    words = {word(field.enum_type, each.number): each.number for each in field.enum_type.values if each.number}
    given = value.lower().removeprefix(_prefix(field.enum_type).lower())
    for each in (given, given.replace("_", "-"), given.replace("-", "_")):
        if each in words:
            return words[each]
    near = difflib.get_close_matches(given, words, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(words)}"
    raise ValueError(f"{path} cannot be {value!r}; {hint}")


def _prefix(enum: Any) -> str:
    """What the names of its values begin with: that of the one without meaning, which is first."""
    first: str = enum.values[0].name
    return first.removesuffix("UNSPECIFIED")


def _is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _kind(field: Any) -> str:
    if _is_map(field):
        return "a mapping"
    if field.message_type is not None:
        one = f"a {field.message_type.name}, a mapping of its fields, or True"
    elif field.enum_type is not None:
        one = "one of " + ", ".join(word(field.enum_type, each.number) for each in field.enum_type.values[1:])
    else:
        one = {
            FieldDescriptor.CPPTYPE_STRING: "text",
            FieldDescriptor.CPPTYPE_BOOL: "True or False",
            FieldDescriptor.CPPTYPE_DOUBLE: "a number",
            FieldDescriptor.CPPTYPE_FLOAT: "a number",
        }.get(field.cpp_type, "an integer")
    return f"a list, each of it {one}" if field.is_repeated else one
