//! A precompiled map of characters begins with its length. The tokenizers library reserves what that
//! claims before it reads on, which a file of a few bytes can make gigabytes.

use serde::Deserialize;
use serde_json::Value;

use crate::error::Result;
use crate::folder::{not_json, unreadable, TOKENIZER};
use crate::growth::{self, ModelOutline};

#[derive(Deserialize)]
struct Outline {
    normalizer: Option<Value>,
    model: Option<ModelOutline>,
}

/// Fails where a map in `tokenizer_json` claims more than it holds, or its model makes too much of a
/// text.
pub fn check(tokenizer_json: &[u8]) -> Result<()> {
    let outline: Outline = serde_json::from_slice(tokenizer_json)
        .map_err(|e| not_json(TOKENIZER, tokenizer_json, &e))?;
    growth::check_model(&outline.model.unwrap_or_default())?;
    match outline.normalizer {
        Some(normalizer) if claims_too_much(&normalizer) => Err(unreadable(
            TOKENIZER,
            "a precompiled_charsmap is shorter than its first four bytes say",
        )),
        _ => Ok(()),
    }
}

fn claims_too_much(state: &Value) -> bool {
    match state {
        Value::Object(object) => object.iter().any(|(key, value)| match value {
            Value::String(text) if key == "precompiled_charsmap" => {
                claimed(text).is_some_and(|bytes| bytes > text.len() / 4 * 3)
            }
            _ => claims_too_much(value),
        }),
        Value::Array(values) => values.iter().any(claims_too_much),
        _ => false,
    }
}

fn claimed(map: &str) -> Option<usize> {
    let beginning = base64::decode(map.get(..8)?).ok()?;
    let length = beginning.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}
