"""Turns of a comparison as Markdown tables."""

import dataclasses
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import re
import statistics

BEGIN, END = "<!-- written by `make bench` -->", "<!-- end -->"
PROCESSOR = "### "


@dataclasses.dataclass
class Row:
    """One sample length. Contestants by name: A or A-, B, C, C batched, D; bf16 stands for bfloat16."""

    length: int
    samples: int
    turns: list = dataclasses.field(default_factory=list)  # {name: Run}
    loaded: dict = dataclasses.field(default_factory=dict)  # MiB of the loaded, warm process
    peak: dict = dataclasses.field(default_factory=dict)  # MiB on top of that

    def median(self, name, field):
        values = [getattr(turn[name], field) for turn in self.turns if name in turn]
        return statistics.median(values) if values else None

    def ratio(self, name, other, field):
        """Median over the turns in which both took part."""
        values = [
            getattr(turn[name], field) / getattr(turn[other], field)
            for turn in self.turns if name in turn and other in turn
        ]
        return statistics.median(values) if values else None

    @property
    def eager(self):
        """A, or what stands for it."""
        return "A" if "A" in self.loaded else "A-"

    def phase(self, phase):
        return statistics.median(turn["D"].phases[phase] for turn in self.turns)

    def overhead(self):
        """Share of a request that is not the forward pass."""
        return statistics.median(
            1 - turn["D"].phases["forward"] / turn["D"].wall for turn in self.turns
        )


def read_config(folder):
    return json.loads((folder / "config.json").read_text())


def number(value, digits=2):
    return "" if value is None else f"{value:,.{digits}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def label(row):
    return f"{row.length:,}" if row.samples == 1 else f"{row.samples} × {row.length}"


def at_least(row, text):
    """A ratio to A- is a bound."""
    return text and ("≤ " + text if row.eager == "A-" else text)


def one_line(row):
    def against(name, other):
        return (f"{name}/{other} {number(row.ratio(name, other, 'wall'))} wall "
                f"{number(row.ratio(name, other, 'cpu'))} cpu")

    return (
        f"T {label(row)}: {against('D', 'C')}, {against('D', row.eager)}, "
        f"{against('D bf16', 'C bf16')}, {against('D bf16', 'A bf16')}; over loaded, MiB: "
        + ", ".join(f"{name} {value:,.0f}" for name, value in row.peak.items())
    )


def time_table(rows):
    head = ["tokens", "A (s)", "B (s)", "C (s)", "sinkd (s)",
            "sinkd / C", "by CPU time", "sinkd / A", "by CPU time"]

    def cells(row):
        eager = number(row.median(row.eager, "wall"))
        return [
            label(row), eager and ("≥ " + eager if row.eager == "A-" else eager),
            *(number(row.median(name, "wall")) for name in ("B", "C", "D")),
            *(number(row.ratio("D", "C", field)) for field in ("wall", "cpu")),
            *(at_least(row, number(row.ratio("D", row.eager, field))) for field in ("wall", "cpu")),
        ]

    return table(head, map(cells, rows))


def narrow_table(rows):
    head = ["tokens", "A (s)", "C (s)", "sinkd (s)", "sinkd / C", "by CPU time", "sinkd / A",
            "by CPU time"]

    def cells(row):
        return [
            label(row), *(number(row.median(f"{name} bf16", "wall")) for name in ("A", "C", "D")),
            *(number(row.ratio("D bf16", f"{other} bf16", field))
              for other in ("C", "A") for field in ("wall", "cpu")),
        ]

    return table(head, map(cells, rows))


def memory_table(rows, config):
    head = ["tokens", "A (MiB)", "B (MiB)", "C (MiB)", "sinkd (MiB)", "A / sinkd", "sinkd / C"]

    def cells(row):
        a = row.peak.get("A")
        if a is None:
            needed = row.length**2 * 4 * config["num_hidden_layers"] * config["num_attention_heads"]
            first, ratio = f"{needed / 2**20:,.0f} needed", ""
        else:
            first, ratio = number(a, 0), number(a / row.peak["D"], 0)
        return [
            label(row), first, *(number(row.peak.get(name), 0) for name in ("B", "C", "D")),
            ratio, number(row.peak["D"] / row.peak["C"]),
        ]

    return table(head, [cells(row) for row in rows if row.samples == 1])


def phase_table(rows):
    head = ["tokens", "encode (ms)", "queue (ms)", "forward (ms)", "analyse (ms)", "total (ms)",
            "outside forward"]
    return table(head, [
        [label(row), *(number(1e3 * row.phase(p), 1) for p in ("encode", "queue", "forward", "analyse")),
         number(1e3 * row.median("D", "wall"), 1), f"{100 * row.overhead():.1f}%"]
        for row in rows if row.samples == 1
    ])


def exponent(points):
    """Slope of a line through (log T, log value)."""
    points = [(math.log(t), math.log(value)) for t, value in points if value and value > 0]
    if len(points) < 2:
        return None
    return statistics.linear_regression(*zip(*points)).slope


def growth_table(rows):
    rows = [row for row in rows if row.samples == 1]
    names = ("A", "B", "C", "D")
    kinds = {
        "CPU time": lambda row, name: row.median(name, "cpu"),
        "memory": lambda row, name: row.peak.get(name),
    }
    return table(["growth exponent", "A", "B", "C", "sinkd"], [
        [kind, *(number(exponent([(row.length, of(row, name)) for row in rows])) for name in names)]
        for kind, of in kinds.items()
    ])


def short_samples(rows):
    lines = []
    for row in rows:
        if row.samples == 1:
            continue
        rates = {
            name: row.samples / row.median(name, "wall")
            for name in ("A", "C", "C batched", "C bf16", "D", "D bf16")
        }
        lines.append(
            f"{row.samples} samples of {row.length} tokens, in samples per second: "
            f"A one by one {rates['A']:.1f}, C one by one {rates['C']:.1f}, C in batches of 20 "
            f"{rates['C batched']:.1f}, sinkd {rates['D']:.1f}, or "
            f"{1 / row.ratio('D', 'A', 'wall'):.1f} times A and "
            f"{1 / row.ratio('D', 'C batched', 'wall'):.2f} times C in batches. sinkd in bfloat16 reaches "
            f"{rates['D bf16']:.1f}, C one by one in bfloat16 {rates['C bf16']:.1f}."
        )
    return "\n".join(lines)


def machine(threads):
    def line(file, key):
        lines = pathlib.Path(file).read_text().splitlines()
        return next((each.split(":")[1].strip() for each in lines if each.startswith(key)), "?")

    memory = int(line("/proc/meminfo", "MemTotal").split()[0]) / 2**20
    flags = line("/proc/cpuinfo", "flags").split()
    widths = [name for flag, name in
              (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_bf16", "AVX512-BF16"), ("amx_bf16", "AMX"))
              if flag in flags]
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("torch", "transformers")
    )
    name = line("/proc/cpuinfo", "model name").replace("(R)", "")
    return (
        f"{name} ({', '.join(widths)})",
        f"{datetime.date.today().isoformat()}; {os.cpu_count()} cores, {memory:.0f} GiB; "
        f"{threads} threads each; {versions}."
    )


def page(rows, own, config, model, threads):
    turns = ", ".join(f"{label(row)}: {len(row.turns)}" for row in rows)
    processor, facts = machine(threads)
    parts = [
        f"{PROCESSOR}{processor}", f"{model}. {facts} Turns: {turns}. In float32:",
        time_table(rows), "In bfloat16:", narrow_table(rows), short_samples(rows), "Peak memory beyond that of the loaded process:", memory_table(rows, config),
        growth_table(rows), "Where sinkd spends its time:", phase_table(rows),
        "CPU time of sinkd's forward pass with and without attention statistics:", own.strip(),
    ]
    return "\n\n".join(part for part in parts if part)


def replace(file, text, begin=BEGIN, end=END):
    """Puts `text` between two marks of a page."""
    before, _, rest = file.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{file} has no {begin} ... {end}")
    file.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def replace_processor(file, section):
    """Puts a section between the marks, in place of that of the same processor if there is one."""
    _, _, rest = file.read_text().partition(BEGIN)
    sections = re.split(f"^(?={PROCESSOR})", rest.partition(END)[0].strip(), flags=re.MULTILINE)
    heading = section.partition("\n")[0]
    others = [each.strip() for each in sections if each.strip() and each.partition("\n")[0] != heading]
    replace(file, "\n\n".join([*others, section]))
