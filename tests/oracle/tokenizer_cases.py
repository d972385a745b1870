"""What transformers' tokenizers and chat templates give, as folders and JSON files.

    python -m tests.oracle.tokenizer_cases OUT [--model FOLDER]

writes OUT/tokenizers/NAME and OUT/templates/NAME (folders to load), OUT/strings.json, OUT/NAME.json
for each tokenizer and OUT/templates.json. A model folder is compared as one more tokenizer.
"""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import sys

from tests.oracle import stamp, tokenizer_folders
from tests.oracle.tokenizer_strings import strings
from tests.oracle.tokenizer_templates import CONVERSATIONS, TEMPLATES

HERE = pathlib.Path(__file__).resolve().parent
DATE = datetime.datetime(2024, 7, 26)
# Prompt and response whose join falls on words, blanks, inside words, emoji and combining marks.
JOINS = [
    ("Hello", " world, again."), ("Hello ", "world, again."), ("Hel", "lo world"), ("What? ", " Two blanks."),
    ("", "only a response"), ("only a prompt", ""), ("line\n", "\nline"), ("e", "\u0301 accent"),
    ("\U0001f469", "\u200d\U0001f467"), ("text <|im_", "end|> more"), ("naïve ca", "fé"), ("東京", "都"),
    ("1234", "5678"), ("a", "b"), ("<s>", "</s>"), ("tabs\t", "\tmore"), ("It", "'s so"), ("\u00e9\u00e9", "\u00e9"),
]


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def whole_offsets(tokenizer):
    """Offsets with their blanks: a byte-level post-processor cuts them off, and changes no id."""
    backend = json.loads(tokenizer.backend_tokenizer.to_str())

    def visit(node):
        if isinstance(node, dict):
            for key in node:
                if key == "trim_offsets":
                    node[key] = False
                visit(node[key])
        elif isinstance(node, list):
            for each in node:
                visit(each)

    visit(backend["post_processor"])
    from tokenizers import Tokenizer

    result = Tokenizer.from_str(json.dumps(backend))
    result.no_truncation()
    result.no_padding()
    result.encode_special_tokens = tokenizer.backend_tokenizer.encode_special_tokens
    return result


def byte_offsets(text, encoding):
    starts = [0]
    for character in text:
        starts.append(starts[-1] + len(character.encode()))
    return [[starts[begin], starts[end]] for begin, end in encoding.offsets]


def join_case(backend, prompt, response):
    text = prompt + response
    encoding = backend.encode(text, add_special_tokens=True)
    response_start = len(encoding.ids)
    spans = False
    for i, ((begin, end), added) in enumerate(zip(encoding.offsets, encoding.special_tokens_mask)):
        added = added and (begin, end) == (0, 0)
        if response and not added and begin >= len(prompt):
            response_start = min(response_start, i)
        spans |= begin < len(prompt) < end
    return {"prompt": prompt, "response": response, "ids": encoding.ids,
            "prompt_tokens": response_start, "spans": spans}


def tokenizer_cases(folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    backend = whole_offsets(tokenizer)
    cases = []
    for text in strings():
        with_special = tokenizer(text)["input_ids"]
        without = backend.encode(text, add_special_tokens=False)
        if without.ids != tokenizer(text, add_special_tokens=False)["input_ids"]:
            raise AssertionError(f"offsets changed the ids of {text!r}")
        cases.append({
            "special": with_special, "plain": without.ids, "offsets": byte_offsets(text, without),
            "decoded": tokenizer.decode(with_special),
            "skipped": tokenizer.decode(with_special, skip_special_tokens=True)})
    return {"size": len(tokenizer), "cases": cases,
            "joins": [join_case(backend, prompt, response) for prompt, response in JOINS]}


class PinnedDateTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return DATE


def template_folder(root, name, template, index):
    """In turn: chat_template.jinja, a text in tokenizer_config.json, a list of named templates."""
    folder = root / name
    folder.mkdir(parents=True)
    from tokenizers import Tokenizer, models

    Tokenizer(models.BPE(vocab={"a": 0}, merges=[])).save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
        "pad_token": "<pad>", "additional_special_tokens": ["<x>", "<y>"]}
    if index % 3 == 0:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8", newline="")
    elif index % 3 == 1:
        config["chat_template"] = template
    else:
        config["chat_template"] = [
            {"name": "tool_use", "template": "not this one"}, {"name": "default", "template": template}]
    write_json(folder / "tokenizer_config.json", config)
    return folder


def template_cases(root):
    import jinja2
    from transformers import AutoTokenizer
    from transformers.utils import chat_template_utils

    chat_template_utils.datetime = PinnedDateTime
    result = []
    for index, (name, template) in enumerate(TEMPLATES.items()):
        tokenizer = AutoTokenizer.from_pretrained(template_folder(root, name, template, index))
        for conversation in CONVERSATIONS:
            messages = [{"role": role, "content": content} for role, content in conversation]
            for add_generation_prompt in (False, True):
                case = {"template": name, "messages": messages, "add_generation_prompt": add_generation_prompt}
                try:
                    case["text"] = tokenizer.apply_chat_template(
                        messages, tokenize=False, add_generation_prompt=add_generation_prompt)
                except jinja2.exceptions.TemplateError as error:
                    case["refusal"] = str(error)
                result.append(case)
    return {"date": DATE.strftime("%Y-%m-%d"), "cases": result}


def model_templates(folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    return [
        {"messages": messages, "text": tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True)}
        for messages in ([{"role": role, "content": content} for role, content in conversation]
                         for conversation in CONVERSATIONS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    arguments = parser.parse_args()
    out, model = arguments.out, arguments.model
    if model and not (model / "tokenizer.json").exists():
        print(f"{model} holds no tokenizer.json and is left out", file=sys.stderr)
        model = None
    scripts = sorted(HERE.glob("tokenizer_*.py"))
    done = stamp.Stamp(out, scripts, str(model))
    if done.is_current():
        return
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    shutil.rmtree(out, ignore_errors=True)
    names = tokenizer_folders.write_all(str(out / "tokenizers"))
    folders = {name: out / "tokenizers" / name for name in names}
    if model:
        folders["model"] = model
    write_json(out / "strings.json", strings())
    for name, folder in folders.items():
        case = tokenizer_cases(str(folder))
        case["folder"] = str(folder)
        if name == "model":
            case["templates"] = model_templates(str(folder))
        write_json(out / f"{name}.json", case)
    write_json(out / "templates.json", template_cases(out / "templates"))
    write_json(out / "names.json", list(folders))
    done.write()


if __name__ == "__main__":
    main()
