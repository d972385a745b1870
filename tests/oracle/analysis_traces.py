"""Expected records and summaries from an implementation of the definitions of its own, in numpy.

usage: analysis_traces.py OUT_DIR    writes OUT_DIR/traces.json

Attention weights are multiples of 2^-12, so that their float32 column sums in the trace are exact
and everything expected can be computed from the full matrices, as the definitions read.
"""

import json
import math
import pathlib
import sys
from collections import Counter

import numpy as np
from scipy import stats

from tests.oracle import head_measures

DEFAULT_SCORES = {"exclude_self": False, "divisor": "from_position", "curves": False}


# ---- inputs ---------------------------------------------------------------------------------

def make_states(rng, layers, tokens, sinks, channels=24):
    """States with a primary sink of a window and later positions that join its direction."""
    states = rng.normal(size=(layers, tokens, channels)) * (1 + rng.random((layers, 1, 1)))
    direction = rng.normal(size=channels)
    direction /= np.linalg.norm(direction)
    start = int(rng.integers(1, layers))
    end = int(rng.integers(start + 1, layers + 1))
    p0 = int(rng.integers(0, min(tokens, 3)))
    states[start:end, p0] += 300 * direction
    for _ in range(sinks if tokens > p0 + 1 else 0):
        t = int(rng.integers(p0 + 1, tokens))
        first = int(rng.integers(start, end))
        last = int(rng.integers(first + 1, end + 1))
        strength = 10.0**rng.uniform(1, 2.5) * rng.choice([-1, 1])
        states[first:last, t] += strength * direction
        if rng.random() < 0.3 and last - first > 2:
            states[(first + last) // 2, t] = rng.normal(size=channels)
    return states


def make_attention(rng, layers, heads, tokens):
    logits = rng.normal(size=(layers, heads, tokens, tokens)) * 2
    logits[..., 0] += rng.normal(size=(layers, heads, 1)) * 3
    logits = np.where(np.tril(np.ones((tokens, tokens), bool)), logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.round(weights * 4096) / 4096


def make_trace(states, attention, learned, mlp, prefix, ids):
    layers, tokens, _ = states.shape
    norm = np.linalg.norm(states, axis=-1)
    n = min(3, tokens)
    dots = np.einsum("ltc,lnc->lnt", states, states[:, :n])
    lengths = norm[:, None, :] * norm[:, :n, None]
    cosine = np.where(lengths > 0, dots / np.where(lengths > 0, lengths, 1), 0)
    p = min(prefix, tokens)
    return {"layers": layers, "positions": tokens, "heads": attention.shape[1], "candidates": n,
            "prefix": p, "state_norm": norm.astype(np.float32),
            "candidate_cosine": cosine.astype(np.float32), "mlp_norm": mlp.astype(np.float32),
            "attention_sum": attention.sum(2).astype(np.float32),
            "attention_self": np.einsum("lhkk->lhk", attention).astype(np.float32),
            "prefix_attention_sum": attention[:, :, :p, :p].sum(2).astype(np.float32),
            "learned_sink_mass": learned.mean(2).astype(np.float32),
            **head_arrays(attention, ids)}


def head_arrays(attention, ids):
    """What heads are made of beside column sums. Entropies and largest weights go into records as they are."""
    layers, heads, tokens, _ = attention.shape
    rng = np.random.default_rng(layers * tokens)
    patterns = head_measures.patterns_of(ids)
    arrays = {"row_entropy": rng.random((layers, heads)) ** 4, "row_maximum": rng.random((layers, heads)),
              "previous_attention": (attention * patterns["previous_token"]).sum((2, 3)),
              "duplicate_attention": (attention * patterns["duplicate_token"]).sum((2, 3)),
              "value_norm": rng.gamma(2, 3, (layers, heads, tokens))}
    return {name: values.astype(np.float32) for name, values in arrays.items()}


# ---- one record -----------------------------------------------------------------------------

def primary_and_window(norm, chat):
    candidates = min(3 if chat else 2, norm.shape[1])
    means = norm[:, :candidates].astype(np.float64).mean(0)
    p0 = int(np.flatnonzero(means >= means.max() * (1 - 1e-6))[0])
    d = np.diff(norm[:, p0].astype(np.float64))
    start = int(np.argmax(d)) + 1
    end = len(norm) if start == len(norm) - 1 else start + int(np.argmin(d[start:])) + 1
    return p0, start, end


def kind_of(rule, l_start, lifetime, start, end, layers):
    if rule == "published":
        if lifetime >= layers - 15:
            return "primary"
        return "secondary" if 4 < lifetime < layers - 15 else "noise"
    length = end - start
    if l_start <= start + 1 and lifetime * 3 >= length * 2:
        return "primary"
    return "noise" if lifetime <= 4 and lifetime * 6 <= length else "secondary"


def alpha_of(attention, scores):
    """[L, H, T] by the definition; NaN where undefined."""
    tokens = attention.shape[-1]
    self_weight = np.einsum("lhkk->lhk", attention)
    total = attention.sum(2) - (self_weight if scores["exclude_self"] else 0)
    k = np.arange(tokens)
    divisor = tokens - k - (1 if scores["exclude_self"] else 0)
    if scores["divisor"] == "all":
        divisor = np.full(tokens, tokens)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = total / divisor
    if scores["exclude_self"]:
        alpha[..., -1] = np.nan
    return alpha


def add_scores(sink, alpha, curves):
    layers = alpha.shape[0]
    t = sink["position"]
    blocks = [l + 1 for l in sink["layers"] if l + 1 < layers]
    defined = blocks and not np.isnan(alpha[0, 0, t])
    sink["score"] = float(alpha[blocks, :, t].mean()) if defined else None
    sink["score_maximum"] = float(alpha[blocks, :, t].mean(1).max()) if defined else None
    curve = curves and not np.isnan(alpha[0, 0, t])
    sink["score_curve"] = alpha[:, :, t].mean(1).tolist() if curve else []


def describe(trace, position, layers, margin, kind):
    first = layers[0]
    return {"position": position, "layers": layers, "l_start": first, "lifetime": len(layers),
            "contiguous": layers == list(range(first, layers[-1] + 1)), "margin": margin,
            "kind": kind, "mlp_norm": float(trace["mlp_norm"][first, position]),
            "state_norm": float(trace["state_norm"][first, position])}


def find_sinks(spec, trace, p0, start, end):
    d = spec["detection"]
    cosine = np.abs(trace["candidate_cosine"][:, p0].astype(np.float64))
    norm = trace["state_norm"].astype(np.float64)
    shows = cosine > d["cosine_threshold"]
    shows &= norm >= d["min_norm_ratio"] * np.median(norm, axis=1, keepdims=True)
    sinks = []
    for t in range(p0 + 1, trace["positions"]):
        layers = [l for l in range(start, end) if shows[l, t]]
        if layers:
            margin = float(np.abs(cosine[start:end, t] - d["cosine_threshold"]).min())
            kind = kind_of(d["kind_rule"], layers[0], len(layers), start, end, trace["layers"])
            sinks.append(describe(trace, t, layers, margin, kind))
    return sinks


def sink_rate(spec, attention):
    p = spec["sink_rate"]
    tokens = attention.shape[-1]
    if p["first_tokens"] > tokens:
        return {"left_out": True}
    cut = p["first_tokens"] or tokens
    alpha = alpha_of(attention[:, :, :cut, :cut], spec["scores"])[..., :p["positions"]]
    with np.errstate(invalid="ignore"):
        hits = (alpha > p["epsilon"]).sum((0, 1))
    return {"left_out": False, "hits": hits.tolist(), "cells": alpha.shape[0] * alpha.shape[1],
            "undefined": int(np.isnan(alpha[0, 0]).sum())}


def compensation(trace, alpha, p0, sinks):
    mean = np.nan_to_num(alpha.mean(1))
    secondary = [s["position"] for s in sinks if s["kind"] == "secondary"]
    rest = [k for k in range(trace["positions"]) if k != p0 and k not in secondary]
    curves = {"primary": mean[:, p0], "secondary": mean[:, secondary].sum(1),
              "rest": mean[:, rest].sum(1), "primary_norm": trace["state_norm"][:, p0]}
    return {k: v.astype(np.float32).tolist() for k, v in curves.items()}


def heads_of(trace, attention, facts, p0, sinks):
    """None where no query lies past the primary sink."""
    if p0 + 1 >= trace["positions"]:
        return None
    secondary = [s["position"] for s in sinks if s["kind"] == "secondary"]
    means = {"entropy": trace["row_entropy"], "max_weight": trace["row_maximum"],
             **head_measures.scores_of(attention, facts["token_ids"]),
             **head_measures.attended(attention, trace["value_norm"].astype(np.float64), p0, secondary)}
    if trace["learned_sink_mass"].size:
        means["learned_sink"] = trace["learned_sink_mass"]
    return {name: np.asarray(each, np.float32).ravel().tolist() for name, each in means.items()
            if each is not None}


def make_record(spec, trace, attention, learned, facts):
    p0, start, end = primary_and_window(trace["state_norm"], facts["chat_rendered"])
    threshold = spec["detection"]["cosine_threshold"]
    primary = describe(trace, p0, list(range(start, end)), abs(1 - threshold), "primary")
    sinks = find_sinks(spec, trace, p0, start, end)
    alpha = alpha_of(attention, spec["scores"])
    for sink in [primary, *sinks]:
        add_scores(sink, alpha, spec["scores"]["curves"])
        sink["token_id"] = facts["token_ids"][sink["position"]]
    undecided = facts["bfloat16"] and any(s["margin"] < 0.01 for s in sinks)
    return {"primary": primary, "window": [start, end], "sinks": sinks, "undecided": undecided,
            "sink_rate": sink_rate(spec, attention),
            "compensation": compensation(trace, alpha, p0, sinks),
            "heads": heads_of(trace, attention, facts, p0, sinks),
            "learned_sink_mass": learned.mean((1, 2)).astype(np.float32).tolist()}


# ---- a summary ------------------------------------------------------------------------------

def ratio_interval(sums, counts):
    """95% interval of sum / count from samples: a regression on a constant, cluster-robust (CR1)."""
    groups = len(sums)
    if groups < 2:
        return None
    mean = sum(sums) / sum(counts)
    meat = sum((s - mean * n)**2 for s, n in zip(sums, counts))
    error = math.sqrt(groups / (groups - 1) * meat) / sum(counts)
    half = stats.t.ppf(0.975, groups - 1) * error
    return [mean - half, mean + half]


def statistics(by_sample):
    """Of the scores of each sample."""
    scores = [s for sample in by_sample for s in sample]
    values = [s for s in scores if s is not None]
    sums = [math.fsum(s for s in sample if s is not None) for sample in by_sample]
    counts = [sum(s is not None for s in sample) for sample in by_sample]
    sums, counts = [s for s, n in zip(sums, counts) if n], [n for n in counts if n]
    return {"count": len(values), "undefined": len(scores) - len(values),
            "samples": len(counts), "mean_interval": ratio_interval(sums, counts),
            "mean": float(np.mean(values)) if values else 0,
            "deviation": float(np.std(values, ddof=1)) if len(values) > 1 else 0,
            "minimum": min(values, default=0), "maximum": max(values, default=0)}


def score_report(records):
    kinds = ("primary", "secondary", "noise")
    return {"primary_position": statistics([[r["primary"]["score"]] for r in records]),
            "by_kind": [statistics([[s["score"] for s in r["sinks"] if s["kind"] == kind]
                                    for r in records]) for kind in kinds]}


def rate_report(rates):
    counted = [r for r in rates if not r["left_out"]]
    hits, cells = Counter(), Counter()
    for r in counted:
        for k in range(len(r["hits"]) - r["undefined"]):
            hits[k] += r["hits"][k]
            cells[k] += r["cells"]
    n = len(cells)
    return {"samples": len(counted), "left_out": len(rates) - len(counted),
            "hits": [hits[k] for k in range(n)], "cells": [cells[k] for k in range(n)],
            "rates": [hits[k] / cells[k] for k in range(n)]}


def level_report(spec, samples):
    p = spec["levels"]
    counts, tokens, bins, with_secondary, positions = Counter(), Counter(), [0] * 10, 0, 0
    for s in samples:
        record, length = s["record"], s["trace"]["positions"]
        positions += length
        listed = record["sinks"] + ([record["primary"]] if p["include_primary_position"] else [])
        for sink in listed:
            counts[sink["l_start"], sink["lifetime"], sink["kind"]] += 1
        secondary = [x for x in record["sinks"] if x["kind"] == "secondary"]
        with_secondary += bool(secondary)
        for sink in secondary:
            tokens[sink["token_id"]] += 1
            bins[math.floor(10 * sink["position"] / length)] += 1
    by_level = {k[:2]: n for k, n in counts.items() if k[2] == "secondary"}
    total = sum(by_level.values())
    order = ("primary", "secondary", "noise")
    entropy = float(stats.entropy(list(by_level.values()))) if total else None
    top = sorted(tokens.items(), key=lambda item: (-item[1], item[0]))[:p["top_tokens"]]
    return {"counts": sorted(([*k, n] for k, n in counts.items()),
                             key=lambda c: (c[0], c[1], order.index(c[2]))),
            **{kind: sum(n for k, n in counts.items() if k[2] == kind) for kind in order},
            "positions": positions, "secondary_per_1000_tokens": 1000 * total / positions,
            "samples_with_secondary": with_secondary, "share": with_secondary / len(samples),
            "distinct_levels": sum(n / total >= p["min_share"] for n in by_level.values()),
            "entropy": entropy,
            "normalized_entropy": entropy / math.log(len(by_level)) if len(by_level) > 1 else None,
            "top_tokens": top, "position_bins": bins}


def chosen_sinks(spec, record):
    primary = spec["regression"]["include_primary"]
    kinds = ("primary", "secondary") if primary else ("secondary",)
    return [record["primary"]] * primary + [s for s in record["sinks"] if s["kind"] in kinds]


def slope_p_by_sample(spec, records):
    """Of score on ln norm: the sandwich of matrices with samples as clusters (CR1)."""
    samples = [[(math.log(s["mlp_norm"]), s["score"]) for s in chosen_sinks(spec, r)
                if s["score"] is not None] for r in records]
    samples = [np.array(points) for points in samples if points]
    groups = len(samples)
    if groups < 2:
        return None
    every = np.concatenate(samples)
    x = np.column_stack([np.ones(len(every)), every[:, 0]])
    bread = np.linalg.inv(x.T @ x)
    line = bread @ x.T @ every[:, 1]
    scores = [np.array([np.ones(len(s)), s[:, 0]]) @ (s[:, 1] - line[0] - line[1] * s[:, 0])
              for s in samples]
    n = len(every)
    meat = sum(np.outer(s, s) for s in scores) * groups / (groups - 1) * (n - 1) / (n - 2)
    t = line[1] / math.sqrt((bread @ meat @ bread)[1, 1])
    return float(2 * stats.t.sf(abs(t), groups - 1))


def regression_points(spec, records):
    chosen = [s for r in records for s in chosen_sinks(spec, r)]
    score = sorted((s["mlp_norm"], s["score"]) for s in chosen if s["score"] is not None)
    lifetime = sorted((s["mlp_norm"], float(s["lifetime"])) for s in chosen)
    headline = {}
    if len(score) > 2:
        fit = stats.linregress(np.log([p[0] for p in score]), [p[1] for p in score])
        headline = {"slope": fit.slope, "intercept": fit.intercept,
                    "p": slope_p_by_sample(spec, records)}
    return {"score_points": score, "lifetime_points": lifetime, "headline": headline,
            "without_score": len(chosen) - len(score)}


class MersenneTwister64:
    """Matsumoto and Nishimura's 64-bit generator, from its definition."""

    def __init__(self, seed):
        self.mask = (1 << 64) - 1
        self.state = [seed & self.mask]
        for i in range(1, 312):
            last = self.state[-1]
            self.state.append((6364136223846793005 * (last ^ (last >> 62)) + i) & self.mask)
        self.index = 312

    def __call__(self):
        if self.index == 312:
            for i in range(312):
                x = (self.state[i] & 0xFFFFFFFF80000000) | (self.state[(i + 1) % 312] & 0x7FFFFFFF)
                self.state[i] = (self.state[(i + 156) % 312] ^ (x >> 1)
                                 ^ (0xB5026F5AA96619E9 if x & 1 else 0))
            self.index = 0
        x = self.state[self.index]
        self.index += 1
        x ^= (x >> 29) & 0x5555555555555555
        x ^= (x << 17) & 0x71D67FFFEDA60000
        x ^= (x << 37) & 0xFFF7EEE000000000
        return (x ^ (x >> 43)) & self.mask


def draw(generator, n):
    """n indices below n, each exactly uniform."""
    indices = []
    while len(indices) < n:
        x = generator()
        if x >= (2**64 - n) % n:
            indices.append(x % n)
    return indices


def correlations(samples, chosen):
    x = np.concatenate([samples[i]["primary"][samples[i]["start"]:samples[i]["end"]] for i in chosen])
    y = np.concatenate([samples[i]["secondary"][samples[i]["start"]:samples[i]["end"]] for i in chosen])
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return stats.pearsonr(x, y), stats.spearmanr(x, y)


def interval(values):
    return np.percentile(values, [2.5, 97.5], axis=0).T.tolist() if len(values) else None


def compensation_report(spec, records):
    samples = []
    weakest, distance = Counter(), Counter()
    for r in records:
        start, end = r["window"]
        curves = {k: np.array(v) for k, v in r["compensation"].items()}
        samples.append(curves | {"start": start, "end": end})
        # Blocks that read a state of the window: block l reads layer l - 1.
        readers = curves["primary"][start + 1:end + 1]
        if len(readers) == 0:
            continue
        block = start + 1 + int(np.argmin(readers))
        weakest[block] += 1
        for s in r["sinks"]:
            if s["kind"] == "secondary":
                distance[s["l_start"] - block] += 1
    samples.sort(key=lambda s: [*(tuple(s[k]) for k in ("primary", "secondary", "rest",
                                                        "primary_norm")), s["start"], s["end"]])
    result = {"samples": len(samples), "weakest_block": sorted(weakest.items()),
              "start_minus_weakest": sorted(distance.items()),
              "means": {k: np.mean([s[k] for s in samples], axis=0).tolist()
                        for k in ("primary", "secondary", "rest", "primary_norm")}}
    whole = correlations(samples, range(len(samples)))
    if whole:
        result["pearson"], result["spearman"] = [[w.statistic, w.pvalue] for w in whole]
    generator = MersenneTwister64(spec["compensation"]["seed"])
    primary, secondary, found = [], [], []
    for _ in range(spec["compensation"]["bootstrap_samples"]):
        chosen = draw(generator, len(samples))
        primary.append(np.mean([samples[i]["primary"] for i in chosen], axis=0))
        secondary.append(np.mean([samples[i]["secondary"] for i in chosen], axis=0))
        drawn = correlations(samples, chosen)
        if drawn:
            found.append([drawn[0].statistic, drawn[1].statistic])
    result["primary_intervals"], result["secondary_intervals"] = interval(primary), interval(secondary)
    if found:
        result["pearson_interval"], result["spearman_interval"] = interval(found)
        for name, values in zip(("pearson", "spearman"), np.array(found).T):
            rarer = min((values >= 0).sum(), (values <= 0).sum())
            result[name][1] = float(min(1, 2 * (1 + rarer) / (1 + len(values))))
    return result


def learned_report(records):
    masses = [r["learned_sink_mass"] for r in records if r["learned_sink_mass"]]
    return {"samples": len(masses), "mass": np.mean(masses, axis=0).tolist()} if masses else None


def head_report(spec, records, heads):
    counted = [r["heads"] for r in records if r["heads"]]
    means = {name: np.mean([each[name] for each in counted if name in each], axis=0)
             for name in {name for each in counted for name in each}}
    with_secondary = sum("secondary" in each for each in counted)
    secondary = means.get("secondary_value", 0) * with_secondary / len(counted)
    share = means["primary_value"] / (means["primary_value"] + secondary + means["rest_value"])
    mass, most = spec["heads"]["dormant_mass"], spec["heads"]["dormant_value_share"]
    flags = {"dormant": (means["primary"] > mass) & (share < most), "collapsed": means["entropy"] < 0.03,
             "focused": means["max_weight"] > 0.9}
    return {"samples": len(counted), "left_out": len(records) - len(counted),
            "samples_with_secondary": with_secondary, "primary_value_share": share.tolist(),
            "means": {name: values.tolist() for name, values in means.items()},
            **{name: [divmod(int(at), heads) for at in np.flatnonzero(flag)] for name, flag in flags.items()}}


def summarize(spec, samples):
    records = [s["record"] for s in samples]
    return {"samples": len(samples), "positions": sum(s["trace"]["positions"] for s in samples),
            "undecided": sum(r["undecided"] for r in records), "scores": score_report(records),
            "sink_rate": rate_report([r["sink_rate"] for r in records]),
            "levels": level_report(spec, samples), "regression": regression_points(spec, records),
            "compensation": compensation_report(spec, records),
            "learned_sinks": learned_report(records),
            "heads": head_report(spec, records, samples[0]["trace"]["heads"])}


# ---- groups ---------------------------------------------------------------------------------

def spec_of(**changes):
    spec = {"detection": {"cosine_threshold": 0.9, "min_norm_ratio": 0, "kind_rule": "window"},
            "scores": dict(DEFAULT_SCORES), "score_message": True,
            "sink_rate": {"epsilon": 0.3, "positions": 64, "first_tokens": 0},
            "levels": {"min_share": 0.02, "top_tokens": 10, "include_primary_position": False},
            "regression": {"include_primary": False},
            "compensation": {"bootstrap_samples": 40, "seed": 0}, "learned_sinks": False,
            "heads": {"dormant_mass": 0.3, "dormant_value_share": 0.5}}
    for key, change in changes.items():
        spec[key] = spec[key] | change if isinstance(change, dict) else change
    return spec


def sample_of(rng, spec, layers, heads, tokens, sinks, tweak=None):
    states = make_states(rng, layers, tokens, sinks)
    attention = make_attention(rng, layers, heads, tokens)
    mlp = rng.gamma(3, 20, (layers, tokens))
    learned = rng.random((layers if spec["learned_sinks"] else 0, heads, tokens))
    ids = rng.integers(0, 12, tokens).tolist()
    trace = make_trace(states, attention, learned, mlp, spec["sink_rate"]["first_tokens"], ids)
    if tweak:
        tweak(trace)
    facts = {"token_ids": ids,
             "chat_rendered": bool(rng.random() < 0.5), "bfloat16": bool(rng.random() < 0.5)}
    record = make_record(spec, trace, attention, learned, facts)
    listed = {k: v.ravel().tolist() if isinstance(v, np.ndarray) else v for k, v in trace.items()}
    return {"trace": listed, "facts": facts, "record": record, "alpha": np.where(
        np.isnan(a := alpha_of(attention, spec["scores"])), None, a).ravel().tolist()}


def equal_norms(trace):
    trace["state_norm"][:] = 3


def equal_candidates(trace):
    trace["state_norm"][:, :3] = trace["state_norm"][:, :1]


def rises_last(trace):
    trace["state_norm"][:-1, :3] = 1
    trace["state_norm"][-1, :3] = 50


def main(out):
    rng = np.random.default_rng(11)
    groups = []
    for name, spec, layers, heads in [
            ("defaults", spec_of(), 12, 3),
            ("scores by default", spec_of(score_message=False), 9, 2),
            ("exclude self", spec_of(scores={"exclude_self": True, "curves": True}), 10, 2),
            ("divisor all", spec_of(scores={"divisor": "all", "curves": True}), 10, 2),
            ("exclude self, divisor all",
             spec_of(scores={"exclude_self": True, "divisor": "all"}), 8, 2),
            ("norm ratio", spec_of(detection={"min_norm_ratio": 1.5, "cosine_threshold": 0.7}), 12, 2),
            ("published rule", spec_of(detection={"kind_rule": "published"}), 24, 1),
            ("first tokens", spec_of(sink_rate={"first_tokens": 16, "epsilon": 0.1}), 6, 3),
            ("first tokens, exclude self", spec_of(scores={"exclude_self": True}, sink_rate={
                "first_tokens": 8, "epsilon": 0.05, "positions": 5}), 6, 3),
            ("few positions", spec_of(sink_rate={"positions": 3, "epsilon": 0}), 6, 2),
            ("primary too", spec_of(levels={"include_primary_position": True, "min_share": 0.2,
                                            "top_tokens": 3},
                                    regression={"include_primary": True},
                                    compensation={"seed": 7, "bootstrap_samples": 25}), 14, 2),
            ("two layers", spec_of(), 2, 1),
            ("learned sinks", spec_of(learned_sinks=True), 7, 4)]:
        lengths = [1, 2, 3, 5, *rng.integers(6, 48, 12)]
        samples = [sample_of(rng, spec, layers, heads, int(t), int(rng.integers(0, 9)))
                   for t in lengths]
        samples += [sample_of(rng, spec, layers, heads, 20, 3, tweak)
                    for tweak in (equal_norms, equal_candidates, rises_last)]
        groups.append({"name": name, "spec": spec, "layers": layers, "samples": samples,
                       "summary": summarize(spec, samples)})
    out.mkdir(parents=True, exist_ok=True)
    (out / "traces.json").write_text(json.dumps({"groups": groups}, allow_nan=False))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
