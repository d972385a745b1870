"""What callers have, as samples of the protocol: texts, pairs, chats, token ids, tables of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sinks.v1.analysis_pb2 import Sample

from sinkd.fields import unknown

# The keys of a sample as a mapping, a line of sinkctl's JSONL or a row of a table, by their input.
INPUTS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "prompt": ("prompt", "response", "raw"),
    "messages": ("messages", "add_generation_prompt"),
    "token_ids": ("token_ids", "chat_rendered"),
}
KEYS = ("id", *(key for keys in INPUTS.values() for key in keys))
PAIR = 2
MAX_ID_BYTES = 256
SHOWN = 60  # characters of a value in an error
# The largest sample that fits the 4 MiB a server takes per message.
MAX_SAMPLE_BYTES = (4 << 20) - 1024


class Samples:
    """Samples as often as they can be read: an iterator once, all else anew each time.

    `columns` names the columns of a table that stand for keys, {"text": "question"}; columns that
    stand for none are left out.
    """

    def __init__(self, source: Any, columns: Mapping[str, str] | None = None) -> None:
        self._columns = dict(columns or {})
        for key in self._columns:
            if key not in KEYS:
                raise unknown("columns", key, KEYS)
        self._source = source
        self.is_async = isinstance(source, AsyncIterable)
        self.is_single = not self.is_async and _is_one(source)
        once = isinstance(source, (Iterator, AsyncIterator))
        self.repeatable = self.is_single or not once
        if not self.is_single and not self.is_async and not isinstance(source, Iterable):
            raise TypeError(f"samples cannot be {_shown(source)}; {EXPECTED}")
        names = _column_names(source)
        self._from_table = names is not None or hasattr(source, "features") or bool(columns)
        self._input: str | None = None
        if names is not None:
            self._check_columns(names)

    def __iter__(self) -> Iterator[Sample]:
        if self.is_single:
            yield sample_of(self._source)
            return
        for row in _rows(self._source):
            yield sample_of(self._of_row(row) if self._from_table else row)

    async def __aiter__(self) -> AsyncIterator[Sample]:
        async for row in self._source:
            yield sample_of(self._of_row(row) if self._from_table else row)

    def _check_columns(self, names: Sequence[str]) -> None:
        missing = [name for name in self._columns.values() if name not in names]
        found = [key for key in INPUTS if self._columns.get(key, key) in names]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}; there are {', '.join(names)}")
        if len(found) != 1:
            have = "none" if not found else "more than one"
            raise ValueError(
                f"of the columns {', '.join(INPUTS)} the table has {have}: {', '.join(names)}; "
                "name the one to take, columns={'text': 'its name'}"
            )
        self._input = found[0]

    def _of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if self._input is None:
            self._check_columns(list(row))
        wanted = ("id", *INPUTS[self._input or "text"])
        values = {key: row.get(self._columns.get(key, key)) for key in wanted}
        return {key: value for key, value in values.items() if not _is_absent(value)}


EXPECTED = (
    "give a text, a pair (prompt, response), a chat as a list of {'role', 'content'}, token ids as a list of "
    "integers, a mapping with one of text, prompt, messages and token_ids, or an iterable of these"
)


def sample_of(value: Any) -> Sample:
    """One sample; ValueError or TypeError says what it lacks."""
    if isinstance(value, Sample):
        sample = value
    elif isinstance(value, str):
        sample = Sample(text={"text": _text(value)})
    elif isinstance(value, Mapping):
        sample = _of_mapping(value)
    elif isinstance(value, tuple) and len(value) == PAIR and all(isinstance(each, str) for each in value):
        sample = _of_mapping({"prompt": value[0], "response": value[1]})
    elif _is_chat(value):
        sample = _of_mapping({"messages": value})
    elif (ids := _ids(value)) is not None:
        sample = _of_mapping({"token_ids": ids})
    else:
        raise TypeError(f"a sample cannot be {_shown(value)}; {EXPECTED}")
    return _checked(sample)


def content_id(sample: Sample) -> str:
    """The name that sinkctl too gives a sample without one: equal samples get equal names."""
    nameless = Sample()
    nameless.CopyFrom(sample)
    nameless.ClearField("sample_id")
    return "content-" + hashlib.sha256(nameless.SerializeToString()).hexdigest()[:32]


def input_digest(sample: Sample) -> bytes:
    """As runs.proto defines it."""
    name = sample.WhichOneof("input")
    if name is None:
        return b""
    number = Sample.DESCRIPTOR.fields_by_name[name].number
    return hashlib.sha256(bytes([number]) + getattr(sample, name).SerializeToString()).digest()


def _of_mapping(values: Mapping[str, Any]) -> Sample:
    for key in values:
        if key not in KEYS:
            raise unknown("sample", key, KEYS)
    inputs = [key for key in INPUTS if key in values]
    if len(inputs) != 1:
        what = "no input" if not inputs else f"{len(inputs)} inputs"
        raise ValueError(f"a sample with the keys {', '.join(values)} has {what}; give one of {', '.join(INPUTS)}")
    (kind,) = inputs
    for key in values:
        if key not in ("id", *INPUTS[kind]):
            raise ValueError(f"sample: {key!r} does not go with {kind!r}")
    given = {key: _text(value) if isinstance(value, str) else value for key, value in values.items()}
    identity = given.pop("id", None)
    if kind == "text":
        sample = Sample(text={"text": given["text"]})
    elif kind == "prompt":
        sample = Sample(prompt_response=given)
    elif kind == "messages":
        turns = [_turn(each) for each in given["messages"]]
        sample = Sample(chat={**given, "messages": turns})
    else:
        rest = {key: value for key, value in given.items() if key != "token_ids"}
        sample = Sample(token_ids={"ids": _ids(given["token_ids"]), **rest})
    if identity is not None:
        sample.sample_id = str(identity)
    return sample


def _turn(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or {"role", "content"} - set(value):
        raise ValueError(f"a turn of a chat is {{'role': ..., 'content': ...}}, not {_shown(value)}")
    return {"role": _text(value["role"]), "content": _text(value["content"])}


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text {_shown(value)} holds half a surrogate pair at {error.start}, which UTF-8 cannot; "
            "text.encode('utf-8', 'replace').decode() puts a question mark there"
        ) from error
    return value


def _checked(sample: Sample) -> Sample:
    if len(sample.sample_id.encode()) > MAX_ID_BYTES:
        size = len(sample.sample_id.encode())
        raise ValueError(f"the id {_shown(sample.sample_id)} has {size} bytes; at most {MAX_ID_BYTES} are allowed")
    if sample.ByteSize() > MAX_SAMPLE_BYTES:
        raise ValueError(
            f"sample {_shown(sample.sample_id)} has {sample.ByteSize()} bytes; a message to the server holds "
            f"at most {MAX_SAMPLE_BYTES}"
        )
    return sample


def _is_one(value: Any) -> bool:
    """One sample rather than several; a list of texts is several, a tuple of two a pair."""
    if isinstance(value, (str, Mapping, Sample)) and _column_names(value) is None:
        return True
    pair = isinstance(value, tuple) and len(value) == PAIR and all(isinstance(each, str) for each in value)
    return pair or _is_chat(value) or (_column_names(value) is None and _ids(value) is not None)


def _is_chat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, Mapping) and "role" in e for e in value)


def _ids(value: Any) -> list[int] | None:
    """Token ids of a list, an array or a tensor; None for all else."""
    if not isinstance(value, (list, tuple)) and hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or not value:
        return None
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in value):
        return None
    return list(value)


def _column_names(source: Any) -> list[str] | None:
    """Of a DataFrame, or a split of Hugging Face datasets; None for all else."""
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        return [str(each) for each in source.columns]
    names = getattr(source, "column_names", None)
    if isinstance(names, list) and hasattr(source, "features"):
        return [str(each) for each in names]
    if isinstance(names, Mapping):
        raise TypeError(f"a dataset has splits, {', '.join(names)}; give one of them, dataset[{next(iter(names))!r}]")
    return None


def _rows(source: Any) -> Iterable[Any]:
    if hasattr(source, "columns") and hasattr(source, "itertuples"):
        names = [str(each) for each in source.columns]
        return (dict(zip(names, row, strict=True)) for row in source.itertuples(index=False, name=None))
    rows: Iterable[Any] = source
    return rows


def _is_absent(value: Any) -> bool:
    """None, or what pandas has for it."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({type(value).__name__})"
