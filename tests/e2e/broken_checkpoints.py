"""Checkpoint folders that must be refused, each with why."""

import dataclasses
import json
import os
import struct

from tests.e2e import model_root, safetensors_edit
from tests.e2e.model_root import edit_json, replace

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
SHARD = "model-00002-of-00008.safetensors"
TENSOR = "model.layers.3.mlp.down_proj.weight"
EMBEDDING = "model.embed_tokens.weight"


@dataclasses.dataclass(frozen=True)
class Broken:
    name: str
    change: object  # what is done to the folder
    reason: str
    mentions: tuple  # what the message must name
    sharded: bool = False  # made from the tiny sharded checkpoint, not the planted one


def config(**changes):
    return lambda folder: edit_json(folder / "config.json", **changes)


def config_text(text):
    return lambda folder: replace(folder / "config.json", text)


def poke(content):
    return lambda folder: safetensors_edit.poke(folder / WEIGHTS, TENSOR, content)


def header(edit):
    """`edit(header)` changes the dict, or returns the raw text to write instead."""

    def change(folder):
        parsed, data = safetensors_edit.take_apart(folder / WEIGHTS)
        text = edit(parsed)
        safetensors_edit.put_together(folder / WEIGHTS, text or parsed, data)

    return change


def entry(**changes):
    return header(lambda parsed: parsed[TENSOR].update(changes))


def announced(length):
    def change(folder):
        safetensors_edit.put_together(
            folder / WEIGHTS, *safetensors_edit.take_apart(folder / WEIGHTS), length
        )

    return change


def named_twice(parsed):
    text = json.dumps(parsed)
    return text[:-1] + f', "{TENSOR}": {json.dumps(parsed[TENSOR])}}}'


def overlapping(parsed):
    begin, end = parsed[TENSOR]["data_offsets"]
    parsed[TENSOR]["data_offsets"] = [begin - 4, end - 4]


def shard_named(name):
    def change(folder):
        index = json.loads((folder / INDEX).read_text())
        index["weight_map"][EMBEDDING] = name
        replace(folder / INDEX, json.dumps(index))

    return change


def truncated(name, keep):
    """`keep` maps the size of the file to the bytes that are left."""

    def change(folder):
        content = (folder / name).read_bytes()
        replace(folder / name, content[: keep(len(content))])

    return change


def only(*files):
    """The folder holds config.json and these."""

    def change(folder):
        for file in folder.iterdir():
            if file.name != "config.json":
                file.unlink()
        for name in files:
            (folder / name).write_bytes(b"{}")

    return change


def empty(folder):
    for file in folder.iterdir():
        file.unlink()


def config_is_folder(folder):
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()


def weights_are_folder(folder):
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).mkdir()


def pipe(name):
    """A reader that opened it would wait for good."""

    def change(folder):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return change


def without_tensor(folder):
    safetensors_edit.keep(folder / WEIGHTS, lambda name: name != TENSOR)


def links_to(name, path):
    def change(folder):
        (folder / name).unlink()
        (folder / name).symlink_to(path)

    return change


def renamed(tensor, name):
    def change(folder):
        safetensors_edit.keep(folder / WEIGHTS, lambda _: True,
                              lambda each: name if each == tensor else each)

    return change


def adapter_without_config(folder):
    only("adapter_config.json", "adapter_model.safetensors")(folder)
    (folder / "config.json").unlink()


LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:c0ffee\nsize 1000\n"
REMOTE_CODE = {"AutoModelForCausalLM": "modeling_internlm2.InternLM2ForCausalLM"}
NAN, INFINITY = struct.pack("<f", float("nan")), struct.pack("<f", float("-inf"))
WEIGHT = f"{WEIGHTS}:{TENSOR}"
IN_FILE = f"{WEIGHTS}: tensor {TENSOR}"

BROKEN = (
    # What the weights hold.
    Broken("nan-weights", poke(NAN), "BAD_WEIGHTS", (WEIGHT, "NaN")),
    Broken("infinite-weights", poke(INFINITY), "BAD_WEIGHTS", (WEIGHT, "infinite")),
    Broken("missing-tensor", without_tensor, "BAD_WEIGHTS", (TENSOR, "missing")),
    Broken("wrong-shape", entry(shape=[24, 64]), "BAD_WEIGHTS", (WEIGHT, "[24, 64]", "[64, 24]")),
    Broken("integer-weights", entry(dtype="I32"), "BAD_WEIGHTS", (WEIGHT, "I32")),
    Broken("more-blocks-than-config", config(num_hidden_layers=29, layer_types=None), "BAD_WEIGHTS",
           ("block 29", "29 blocks")),
    Broken("fewer-blocks-than-config", config(num_hidden_layers=31, layer_types=None),
           "BAD_WEIGHTS", ("model.layers.30.", "missing")),
    Broken("other-vocabulary", config(vocab_size=1027), "BAD_WEIGHTS", (EMBEDDING, "1027")),
    # How they are written.
    Broken("one-byte-dtype", entry(dtype="I8"), "BAD_SAFETENSORS", (IN_FILE, "dtype")),
    Broken("unknown-dtype", entry(dtype="F99"), "BAD_SAFETENSORS", (IN_FILE, "F99")),
    Broken("size-overflows", entry(shape=[2**62, 2**62]), "BAD_SAFETENSORS", (IN_FILE, "overflow")),
    Broken("negative-shape", entry(shape=[-64, 24]), "BAD_SAFETENSORS", (IN_FILE, "-64")),
    Broken("backward-offsets", entry(data_offsets=[6144, 0]), "BAD_SAFETENSORS", (IN_FILE, "6144")),
    Broken("overlapping-offsets", header(overlapping), "BAD_SAFETENSORS", ("overlap",)),
    Broken("named-twice", header(named_twice), "BAD_SAFETENSORS", (IN_FILE, "twice")),
    Broken("header-not-json", header(lambda _: "{not json"), "BAD_SAFETENSORS", (WEIGHTS, "JSON")),
    Broken("header-nested-deep", header(lambda _: "[" * 100000), "BAD_SAFETENSORS",
           (WEIGHTS, "not a JSON object")),
    Broken("header-huge", announced(2**63), "BAD_SAFETENSORS", (WEIGHTS, str(2**63))),
    Broken("header-past-end", announced(50_000_000), "BAD_SAFETENSORS", (WEIGHTS, "50000000")),
    Broken("cut-in-data", truncated(WEIGHTS, lambda size: size - 1000), "BAD_SAFETENSORS",
           (WEIGHTS, "truncated")),
    Broken("cut-in-length", truncated(WEIGHTS, lambda _: 5), "BAD_SAFETENSORS",
           (WEIGHTS, "5 bytes")),
    Broken("empty-weights", truncated(WEIGHTS, lambda _: 0), "BAD_SAFETENSORS",
           (WEIGHTS, "0 bytes")),
    Broken("weights-are-folder", weights_are_folder, "BAD_SAFETENSORS", (WEIGHTS, "regular file")),
    Broken("weights-are-pipe", pipe(WEIGHTS), "BAD_SAFETENSORS", (WEIGHTS, "regular file")),
    # How they are split.
    Broken("missing-shard", lambda folder: (folder / SHARD).unlink(), "MISSING_SHARD",
           (SHARD, INDEX), sharded=True),
    Broken("cut-shard", truncated(SHARD, lambda size: size // 2), "BAD_SAFETENSORS",
           (SHARD, "truncated"), sharded=True),
    Broken("shard-outside", shard_named("../" + SHARD), "BAD_INDEX", (INDEX, "../" + SHARD),
           sharded=True),
    Broken("shard-absolute", shard_named("/etc/passwd"), "BAD_INDEX", (INDEX, "/etc/passwd"),
           sharded=True),
    Broken("shard-is-parent", shard_named(".."), "BAD_INDEX", (INDEX, ".."), sharded=True),
    Broken("index-not-json", lambda folder: replace(folder / INDEX, "weight_map"), "BAD_INDEX",
           (INDEX, "JSON"), sharded=True),
    Broken("index-without-map", lambda folder: replace(folder / INDEX, "{}"), "BAD_INDEX",
           (INDEX, "weight_map"), sharded=True),
    Broken("index-is-pipe", pipe(INDEX), "BAD_INDEX", (INDEX,), sharded=True),
    # Links and pointers to what is not there.
    Broken("weights-link-nowhere", links_to(WEIGHTS, "../../blobs/c0ffee"), "MISSING_FILE",
           (WEIGHTS, "../../blobs/c0ffee")),
    Broken("shard-links-nowhere", links_to(SHARD, "../../blobs/c0ffee"), "MISSING_FILE",
           (SHARD, "../../blobs/c0ffee"), sharded=True),
    Broken("weights-are-lfs-pointer", lambda folder: replace(folder / WEIGHTS, LFS_POINTER),
           "MISSING_FILE", (WEIGHTS, "git lfs pull")),
    # What stands in their place.
    Broken("pickle-only", only("pytorch_model.bin"), "PICKLED_WEIGHTS",
           ("pytorch_model.bin", "save_pretrained")),
    Broken("adapter-only", only("adapter_config.json"), "ADAPTER_ONLY", ("merge_and_unload",)),
    Broken("adapter-without-config", adapter_without_config, "ADAPTER_ONLY",
           ("merge_and_unload",)),
    Broken("weights-of-another-name", only("consolidated.safetensors"), "UNNAMED_WEIGHTS",
           ("consolidated.safetensors", WEIGHTS)),
    Broken("gguf-cut-short", only("model.gguf"), "BAD_GGUF", ("model.gguf", "truncated")),
    Broken("gguf-twice", only("a.gguf", "b.gguf"), "GGUF_FILES", ("a.gguf, b.gguf", "leave one")),
    Broken("no-weights", only(), "NO_WEIGHTS", (WEIGHTS, INDEX)),
    Broken("empty-folder", empty, "BAD_CONFIG", ("config.json",)),
    # What the config says.
    Broken("config-missing", lambda folder: (folder / "config.json").unlink(), "BAD_CONFIG",
           ("config.json",)),
    Broken("config-empty", config_text(""), "BAD_CONFIG", ("config.json", "JSON")),
    Broken("config-not-json", config_text('{"model_type": qwen2}'), "BAD_CONFIG",
           ("config.json", "JSON")),
    Broken("config-not-object", config_text("[1]"), "BAD_CONFIG", ("config.json", "object")),
    Broken("config-nested-deep", config_text("[" * 200000), "BAD_CONFIG",
           ("config.json", "nested")),
    Broken("config-is-folder", config_is_folder, "BAD_CONFIG", ("config.json",)),
    Broken("config-is-pipe", pipe("config.json"), "BAD_CONFIG", ("config.json",)),
    Broken("config-without-end", links_to("config.json", "/dev/zero"), "BAD_CONFIG", ("config.json",)),
    Broken("config-links-to-itself", links_to("config.json", "config.json"), "MISSING_FILE",
           ("config.json",)),
    Broken("config-without-type", config(model_type=None), "BAD_CONFIG", ("model_type", "sinkctl families")),
    Broken("config-without-hidden", config(hidden_size=None), "BAD_CONFIG",
           ("hidden_size", "missing")),
    Broken("config-without-blocks", config(num_hidden_layers=None), "BAD_CONFIG",
           ("num_hidden_layers", "missing")),
    Broken("unknown-type", config(model_type="rwkv"), "BAD_CONFIG",
           ("model_type", "rwkv", "sinkctl families")),
    Broken("code-of-its-own", config(model_type="internlm2", auto_map=REMOTE_CODE), "BAD_CONFIG",
           ("internlm2", "never runs", "sinkctl families")),
    Broken("negative-hidden", config(hidden_size=-64), "BAD_CONFIG", ("hidden_size", "-64")),
    Broken("huge-hidden", config(hidden_size=2**63), "BAD_CONFIG", ("hidden_size", str(2**63))),
    Broken("huge-vocabulary", config(vocab_size=2**40), "BAD_CONFIG", ("vocab_size", str(2**40))),
    Broken("huge-in-all-ways", config(hidden_size=2**20, vocab_size=2**24), "BAD_WEIGHTS",
           (EMBEDDING, "[1028, 64]", "[16777216, 1048576]")),
    Broken("huge-depth", config(num_hidden_layers=10**9), "BAD_CONFIG",
           ("num_hidden_layers", str(10**9))),
    Broken("negative-epsilon", config(rms_norm_eps=-1.0), "BAD_CONFIG", ("rms_norm_eps", "-1")),
    Broken("no-positions", config(max_position_embeddings=0), "BAD_CONFIG",
           ("max_position_embeddings", "0")),
    Broken("rotation-stands-still", config(rope_theta=0), "BAD_CONFIG", ("rope_theta", "0")),
    Broken("text-as-size", config(hidden_size="64"), "BAD_CONFIG", ("hidden_size", "64")),
    Broken("broken-size", config(hidden_size=64.5), "BAD_CONFIG", ("hidden_size", "64.5")),
    Broken("heads-not-dividing", config(num_attention_heads=5, num_key_value_heads=5), "BAD_CONFIG",
           ("num_attention_heads", "5")),
    Broken("groups-not-dividing", config(num_key_value_heads=3), "BAD_CONFIG",
           ("num_key_value_heads", "3")),
    Broken("odd-head", config(head_dim=15), "BAD_CONFIG", ("head_dim", "15")),
    Broken("unknown-activation", config(hidden_act="mish"), "BAD_CONFIG",
           ("hidden_act", "mish", "silu")),
    Broken("unknown-rope", config(rope_scaling={"rope_type": "spiral", "factor": 2.0}),
           "BAD_CONFIG", ("rope_type", "spiral", "yarn")),
    Broken("rope-without-factor", config(rope_scaling={"rope_type": "yarn"}), "BAD_CONFIG",
           ("rope_scaling.factor",)),
    Broken("quantized", config(quantization_config={"quant_method": "gptq", "bits": 4}),
           "QUANTIZED_WEIGHTS", ("quantization_config", "gptq", "none is stored so")),
    Broken("quantized-silently", renamed(TENSOR, TENSOR.replace("weight", "qweight")),
           "QUANTIZED_WEIGHTS", ("down_proj.qweight", "gptq", "it was made from")),
    Broken("classifier", config(architectures=["Qwen2ForSequenceClassification"]), "BAD_CONFIG",
           ("architectures", "Qwen2ForSequenceClassification")),
)


def build(root):
    """Writes all of them into the ModelRoot, under their names."""
    for case in BROKEN:
        source = model_root.tiny() if case.sharded else model_root.planted()
        root.variation(case.name, source, case.change)
