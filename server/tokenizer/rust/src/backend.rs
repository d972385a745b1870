//! Builds the tokenizers::Tokenizer of a folder with everything that transformers changes in it.

use serde_json::{json, Map, Value};
use tokenizers::{
    DecoderWrapper, ModelWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper,
    Tokenizer,
};

use crate::charsmap;
use crate::class::Class;
use crate::error::{Error, Result};
use crate::folder::{unreadable, Folder, Vocabulary, TOKENIZER, TOKENIZER_CONFIG};
use crate::growth;
use crate::special_tokens::SpecialTokens;

const QWEN2_SPLIT: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

pub fn build(folder: &Folder, class: Class) -> Result<(Tokenizer, SpecialTokens)> {
    let mut from_files = false;
    let mut tokenizer = match folder.vocabulary()? {
        Vocabulary::TokenizerJson(bytes) => {
            charsmap::check(&bytes)?;
            Tokenizer::from_bytes(bytes).map_err(|e| unreadable(TOKENIZER, e))?
        }
        Vocabulary::BytePairFiles { vocab, merges } => {
            from_files = true;
            byte_pair(folder, class, &vocab, &merges)?
        }
    };
    let specials = SpecialTokens::read(folder, class, &tokenizer)?;
    specials.add_to(&mut tokenizer);
    if flag(folder, "split_special_tokens") == Some(true) {
        tokenizer.set_encode_special_tokens(true);
    }
    set_prefix_space(&mut tokenizer, folder, class)?;
    let rebuilt = class.rebuilt_post_processor();
    // Converted from a slow GPT-2 tokenizer, the class does read add_bos_token.
    let rebuilt = rebuilt.or((from_files && class == Class::Gpt2).then_some(false));
    match rebuilt {
        Some(add_bos) => replace_post_processor(&mut tokenizer, folder, class, &specials, add_bos)?,
        None => keep_whole_offsets(&mut tokenizer)?,
    }
    growth::check(&tokenizer)?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(Error::internal)?;
    Ok((tokenizer, specials))
}

fn flag(folder: &Folder, name: &str) -> Option<bool> {
    folder.config.get(name).and_then(Value::as_bool)
}

fn byte_pair(folder: &Folder, class: Class, vocab: &str, merges: &str) -> Result<Tokenizer> {
    if !matches!(class, Class::Gpt2 | Class::Qwen2) {
        return Err(Error::folder(
            "TOKENIZER_UNSUPPORTED",
            "vocab.json",
            "the folder has no tokenizer.json, and its vocab.json belongs to a tokenizer class \
             other than GPT2Tokenizer and Qwen2Tokenizer",
        )
        .fix(
            "convert it once with AutoTokenizer.from_pretrained(folder).save_pretrained(folder)",
        ));
    }
    let vocab: Value = serde_json::from_str(vocab).map_err(|e| unreadable("vocab.json", e))?;
    let model = json!({"type": "BPE", "vocab": vocab, "merges": merge_lines(class, merges)});
    let model: ModelWrapper = serde_json::from_value(model)
        .map_err(|e| unreadable("vocab.json", format!("with merges.txt: {e}")))?;
    let mut tokenizer = Tokenizer::new(model);
    let byte_level = |use_regex: bool| {
        json!({"type": "ByteLevel", "trim_offsets": true, "use_regex": use_regex,
               "add_prefix_space": flag(folder, "add_prefix_space").unwrap_or(false)})
    };
    let pre_tokenizer = if class == Class::Qwen2 {
        tokenizer.with_normalizer(Some(part::<NormalizerWrapper>(json!({"type": "NFC"}))?));
        json!({"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": QWEN2_SPLIT}, "behavior": "Isolated",
             "invert": false},
            byte_level(false)]})
    } else {
        byte_level(true)
    };
    tokenizer.with_pre_tokenizer(Some(part::<PreTokenizerWrapper>(pre_tokenizer)?));
    tokenizer.with_decoder(Some(part::<DecoderWrapper>(byte_level(true))?));
    Ok(tokenizer)
}

/// GPT-2's reader drops the first line and what follows the last line feed, Qwen2's the version.
fn merge_lines(class: Class, merges: &str) -> Vec<&str> {
    if class == Class::Gpt2 {
        let lines: Vec<&str> = merges.split('\n').collect();
        return lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default().to_vec();
    }
    let versioned = merges.starts_with("#version:");
    merges.lines().skip(usize::from(versioned)).filter(|line| !line.is_empty()).collect()
}

/// tokenizer_config.json's add_prefix_space wins over a top-level ByteLevel pre-tokenizer; absent
/// it is false, null leaves the file's.
fn set_prefix_space(tokenizer: &mut Tokenizer, folder: &Folder, class: Class) -> Result<()> {
    if matches!(class, Class::Llama) {
        return Ok(());
    }
    let wanted = match folder.config.get("add_prefix_space") {
        None => false,
        Some(value) => match value.as_bool() {
            Some(wanted) => wanted,
            None => return Ok(()),
        },
    };
    let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() else { return Ok(()) };
    let mut state = serde_json::to_value(pre_tokenizer).map_err(Error::internal)?;
    if let Some(Value::Bool(current)) = state.get_mut("add_prefix_space") {
        *current = wanted;
    }
    if class == Class::Cohere && wanted {
        set_everywhere(&mut state, "add_prefix_space", true);
    }
    tokenizer.with_pre_tokenizer(Some(part::<PreTokenizerWrapper>(state)?));
    Ok(())
}

fn replace_post_processor(
    tokenizer: &mut Tokenizer,
    folder: &Folder,
    class: Class,
    specials: &SpecialTokens,
    default_bos: bool,
) -> Result<()> {
    let mut single = Vec::new();
    let mut tokens = Map::new();
    let mut add = |name: &str, switch: &str, default: bool, single: &mut Vec<Value>| {
        let wanted = match folder.config.get(switch) {
            None => default,
            Some(value) => value.as_bool().unwrap_or(false),
        };
        if !wanted {
            return Ok(());
        }
        let Some(content) = specials.get(name) else {
            return Err(unreadable(
                TOKENIZER_CONFIG,
                format!("{switch} is true and there is no {name}"),
            ));
        };
        let id = tokenizer
            .token_to_id(content)
            .or_else(|| tokenizer.token_to_id(specials.get("unk_token")?));
        let Some(id) = id else {
            return Err(unreadable(
                TOKENIZER_CONFIG,
                format!("the {name} {content:?} is not in the vocabulary"),
            ));
        };
        single.push(json!({"SpecialToken": {"id": content, "type_id": 0}}));
        tokens.insert(content.to_owned(), json!({"id": content, "ids": [id], "tokens": [content]}));
        Ok(())
    };
    add("bos_token", "add_bos_token", default_bos, &mut single)?;
    single.push(json!({"Sequence": {"id": "A", "type_id": 0}}));
    if class.rebuilt_post_processor().is_some() {
        add("eos_token", "add_eos_token", false, &mut single)?;
    }
    let mut pair = single.clone();
    pair.push(json!({"Sequence": {"id": "B", "type_id": 1}}));
    let template = json!({"type": "TemplateProcessing", "single": single, "pair": pair,
                          "special_tokens": tokens});
    tokenizer.with_post_processor(Some(part::<PostProcessorWrapper>(template)?));
    Ok(())
}

/// Without this a byte-level post-processor cuts blanks off the offsets, and a token that holds the
/// blank at the end of a prompt would look as if it began after it. The ids stay as they are.
fn keep_whole_offsets(tokenizer: &mut Tokenizer) -> Result<()> {
    let Some(post_processor) = tokenizer.get_post_processor() else { return Ok(()) };
    let mut state = serde_json::to_value(post_processor).map_err(Error::internal)?;
    set_everywhere(&mut state, "trim_offsets", false);
    tokenizer.with_post_processor(Some(part::<PostProcessorWrapper>(state)?));
    Ok(())
}

fn set_everywhere(state: &mut Value, key: &str, wanted: bool) {
    match state {
        Value::Object(object) => {
            for (name, value) in object {
                match value {
                    Value::Bool(current) if name == key => *current = wanted,
                    _ => set_everywhere(value, key, wanted),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|v| set_everywhere(v, key, wanted)),
        _ => {}
    }
}

fn part<T: serde::de::DeserializeOwned>(state: Value) -> Result<T> {
    serde_json::from_value(state).map_err(Error::internal)
}
