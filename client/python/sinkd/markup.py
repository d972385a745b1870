"""Records as HTML for notebooks. Whatever a text holds, it is shown and never run.

Texts are escaped, control characters and direction marks written out, and all of it stands in `pre` with
the classes that MathJax leaves alone, since notebooks set TeX in HTML.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable

from sinks.v1 import analysis_pb2 as analysis
from sinks.v1 import records_pb2 as records

from sinkd.fields import word

MOST_TOKENS = 4000  # shown of one sample
COLORS = {"primary": "rgba(230,150,0,.40)", "secondary": "rgba(30,140,255,.35)", "noise": "rgba(128,128,128,.25)"}
STYLE = "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;margin:.3em 0"
PRE = f'<pre class="mathjax_ignore tex2jax_ignore" style="{STYLE}">'


def record(message: records.SampleRecord, sample: analysis.Sample | None) -> str:
    """The sample's text with its sinks marked, where the record has a portrait; else the sinks alone."""
    name = message.sample_id or f"sample {message.sample_index}"
    head = f"<b>{_safe(name)}</b>  {message.positions} tokens, {len(message.sinks)} sinks past the primary one"
    sinks = {each.position: each for each in (message.primary, *message.sinks)}
    if message.HasField("portrait"):
        body = _marked(message.portrait.token_texts, sinks)
    else:
        plain = sample.text.text if sample is not None else ""
        listed = "\n".join(f"{_safe(each.token_text)}  {_what(each)}" for _, each in sorted(sinks.items()))
        body = (_safe(plain) + "\n" if plain else "") + listed
    return f"{PRE}{head}\n{body}</pre>"


def text(value: str) -> str:
    return f"{PRE}{_safe(value)}</pre>"


def _marked(tokens: Iterable[str], sinks: dict[int, records.Sink]) -> str:
    parts = []
    texts = list(tokens)
    for position, token in enumerate(texts[:MOST_TOKENS]):
        shown = _safe(token)
        if (sink := sinks.get(position)) is not None:
            color = COLORS.get(_kind(sink), COLORS["noise"])
            title = html.escape(_what(sink), quote=True)
            shown = f'<mark title="{title}" style="background:{color};color:inherit">{shown}</mark>'
        parts.append(shown)
    if len(texts) > MOST_TOKENS:
        parts.append(f"\n... and {len(texts) - MOST_TOKENS} more tokens")
    return "".join(parts)


def _what(sink: records.Sink) -> str:
    layers = f"layers {sink.layers[0]}-{sink.layers[-1]}" if sink.layers else "no layer"
    score = f", score {sink.score:.4f}" if sink.HasField("score") else ""
    return f"{_kind(sink)} sink at {sink.position}, {layers}{score}"


def _kind(sink: records.Sink) -> str:
    return word(records.SinkKind.DESCRIPTOR, sink.kind)


def _safe(value: str) -> str:
    """Escaped, with what cannot be seen written as its code point; line ends and tabs stay."""
    seen = "".join(each if _is_visible(each) else f"\\u{{{ord(each):x}}}" for each in value)
    return html.escape(seen, quote=True)


def _is_visible(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
