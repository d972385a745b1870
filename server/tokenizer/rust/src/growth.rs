//! How much longer the parts of a tokenizer may make a text. A chain of forty doublings fits into a
//! small file; what may come of a text is bounded by a multiple of its length, before any is encoded.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::Tokenizer;

use crate::error::{Error, Result};
use crate::folder::{unreadable, TOKENIZER};

/// Published ones stay below 50: a precompiled map or NFKC, then a mark for each blank.
const MAX_GROWTH: f64 = 256.0;
/// What is added once to a text counts as growth of a text of this many bytes.
const SHORT_TEXT: f64 = 1024.0;
/// Affixes and the unknown token stand in each token's text.
const MAX_AFFIX_BYTES: usize = 256;
/// The time for a word is quadratic in it.
const MAX_WORD_CHARS: u64 = 4096;

pub fn check(tokenizer: &Tokenizer) -> Result<()> {
    let parts = [
        ("the text", "normalizer", state(tokenizer.get_normalizer())?),
        ("the text", "pre_tokenizer", state(tokenizer.get_pre_tokenizer())?),
        ("the tokens", "post_processor", state(tokenizer.get_post_processor())?),
        ("a decoded text", "decoder", state(tokenizer.get_decoder())?),
    ];
    let mut growth = 1.0;
    for (what, name, state) in parts {
        let own = growth_of(&state);
        growth = if name == "decoder" { own } else { growth * own };
        if growth > MAX_GROWTH {
            return Err(unreadable(
                TOKENIZER,
                format!(
                    "up to its {name} it may make {what} {growth:.3e} times as long, the limit is \
                     {MAX_GROWTH}"
                ),
            ));
        }
    }
    Ok(())
}

fn state<T: serde::Serialize>(part: Option<&T>) -> Result<Value> {
    serde_json::to_value(part).map_err(Error::internal)
}

/// Of a model, as far as it bounds what comes of a text; everything else in it is skipped.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ModelOutline {
    unk_token: Value,
    continuing_subword_prefix: Value,
    end_of_word_suffix: Value,
    max_input_chars_per_word: Value,
}

pub fn check_model(model: &ModelOutline) -> Result<()> {
    let affixes = [&model.unk_token, &model.continuing_subword_prefix, &model.end_of_word_suffix];
    let longest = affixes.iter().filter_map(|a| a.as_str()).map(str::len).max().unwrap_or(0);
    if longest > MAX_AFFIX_BYTES {
        return Err(unreadable(
            TOKENIZER,
            format!(
                "an affix or the unknown token has {longest} bytes, the limit is {MAX_AFFIX_BYTES}"
            ),
        ));
    }
    let word = model.max_input_chars_per_word.as_u64().unwrap_or(0);
    if word > MAX_WORD_CHARS {
        return Err(unreadable(
            TOKENIZER,
            format!("max_input_chars_per_word is {word}, the limit is {MAX_WORD_CHARS}"),
        ));
    }
    Ok(())
}

/// An upper bound of bytes, or of tokens, out for each one in.
fn growth_of(state: &Value) -> f64 {
    let length = |name: &str| state[name].as_str().map_or(0, str::len) as f64;
    let added = |bytes: f64| 1.0 + bytes / SHORT_TEXT;
    match state["type"].as_str().unwrap_or_default() {
        "Sequence" => ["normalizers", "pretokenizers", "processors", "decoders"]
            .iter()
            .filter_map(|name| state[*name].as_array())
            .flatten()
            .map(growth_of)
            .product(),
        "Replace" => match state["pattern"]["String"].as_str() {
            Some(pattern) if !pattern.is_empty() => {
                (length("content") / pattern.len() as f64).max(1.0)
            }
            // A pattern may match a byte, or nothing between any two.
            _ => 1.0 + length("content"),
        },
        "Prepend" => added(length("prepend")),
        "NFC" | "NFD" => 4.0,
        "NFKC" | "NFKD" => 12.0,
        "Lowercase" | "BertNormalizer" | "ByteLevel" => 2.0,
        "Metaspace" => 4.0,
        "Precompiled" => longest_replacement(&charsmap(state)),
        "TemplateProcessing" => template(state),
        _ => 1.0,
    }
}

fn charsmap(state: &Value) -> Vec<u8> {
    base64::decode(state["precompiled_charsmap"].as_str().unwrap_or_default()).unwrap_or_default()
}

/// In a precompiled map the length of a trie and the trie, then replacements, each behind a zero. What
/// is replaced by more than a few bytes is a character of three.
fn longest_replacement(map: &[u8]) -> f64 {
    let Some(length) = map.first_chunk::<4>() else { return 1.0 };
    let texts = map.get(4 + u32::from_le_bytes(*length) as usize..).unwrap_or_default();
    let longest = texts.split(|byte| *byte == 0).map(<[u8]>::len).max().unwrap_or(0);
    (longest as f64 / 3.0).max(1.0)
}

fn template(state: &Value) -> f64 {
    let pieces = state["single"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = pieces.iter().filter(|piece| !piece["Sequence"].is_null()).count();
    let ids = |piece: &Value| {
        let name = piece["SpecialToken"]["id"].as_str()?;
        Some(state["special_tokens"][name]["ids"].as_array()?.len())
    };
    let tokens: usize = pieces.iter().filter_map(ids).sum();
    texts as f64 + tokens as f64 / SHORT_TEXT
}
