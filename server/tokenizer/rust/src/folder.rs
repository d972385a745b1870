//! Reads a checkpoint folder's tokenizer files, and refuses by name the forms that are not fast
//! tokenizers. The two main files may also be given as texts, without a folder.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{Error, Result};

pub const TOKENIZER: &str = "tokenizer.json";
pub const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub const SPECIAL_TOKENS_MAP: &str = "special_tokens_map.json";
pub const ADDED_TOKENS: &str = "added_tokens.json";
pub const CHAT_TEMPLATE: &str = "chat_template.jinja";
pub const EXTRA_TEMPLATES: &str = "additional_chat_templates";
const MODEL_CONFIG: &str = "config.json";

/// The largest tokenizer of the known families is 33 MB.
const MAX_FILE_BYTES: u64 = 512 << 20;
const CONVERT: &str = "convert it once with \
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder), which writes tokenizer.json";

pub struct Folder {
    source: Source,
    /// tokenizer_config.json, empty when there is none.
    pub config: Map<String, Value>,
    /// config.json, empty when there is none or when it is not an object.
    pub model_config: Map<String, Value>,
}

enum Source {
    Disk(PathBuf),
    Texts(HashMap<&'static str, String>),
}

/// Where the vocabulary comes from.
pub enum Vocabulary {
    TokenizerJson(Vec<u8>),
    /// vocab.json and merges.txt.
    BytePairFiles {
        vocab: String,
        merges: String,
    },
}

impl Folder {
    pub fn open(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(Error::folder(
                "TOKENIZER_MISSING",
                &name,
                "the model folder does not exist",
            ));
        }
        Self::read_configs(Source::Disk(path.to_owned()))
    }

    /// A folder of these two files alone.
    pub fn from_texts(tokenizer: &str, config: &str) -> Result<Self> {
        let files = [(TOKENIZER, tokenizer), (TOKENIZER_CONFIG, config)];
        Self::read_configs(Source::Texts(
            files.into_iter().map(|(name, text)| (name, text.to_owned())).collect(),
        ))
    }

    fn read_configs(source: Source) -> Result<Self> {
        let mut folder = Self { source, config: Map::new(), model_config: Map::new() };
        folder.config = folder.read_object(TOKENIZER_CONFIG)?.unwrap_or_default();
        // A broken config.json is the engine's to report; here it only helps to find the class.
        folder.model_config = folder.read_object(MODEL_CONFIG).ok().flatten().unwrap_or_default();
        Ok(folder)
    }

    /// The file's bytes; None when it does not exist.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = match &self.source {
            Source::Disk(path) => path.join(name),
            Source::Texts(files) => return Ok(files.get(name).map(|t| t.clone().into_bytes())),
        };
        match fs::metadata(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(unreadable(name, e)),
            Ok(m) if !m.is_file() => return Err(unreadable(name, "it is not a regular file")),
            Ok(m) if m.len() > MAX_FILE_BYTES => {
                return Err(unreadable(name, format!("it holds {} bytes", m.len())))
            }
            Ok(_) => {}
        }
        let bytes = fs::read(&path).map_err(|e| unreadable(name, e))?;
        if bytes.starts_with(b"version https://git-lfs") {
            return Err(unreadable(name, "it is a Git LFS pointer, not the file itself")
                .fix("run `git lfs pull` in the folder"));
        }
        Ok(Some(bytes))
    }

    pub fn read_text(&self, name: &str) -> Result<Option<String>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let text = String::from_utf8(bytes)
            .map_err(|e| unreadable(name, format!("not UTF-8: {}", e.utf8_error())))?;
        Ok(Some(text))
    }

    pub fn read_object(&self, name: &str) -> Result<Option<Map<String, Value>>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(object)) => Ok(Some(object)),
            Ok(_) => Err(unreadable(name, "the top level is not a JSON object")),
            Err(e) => Err(not_json(name, &bytes, &e)),
        }
    }

    /// The `.jinja` files of additional_chat_templates as (name, file), sorted.
    pub fn extra_templates(&self) -> Vec<(String, String)> {
        let Source::Disk(path) = &self.source else { return Vec::new() };
        let Ok(entries) = fs::read_dir(path.join(EXTRA_TEMPLATES)) else { return Vec::new() };
        let mut found: Vec<_> = entries
            .flatten()
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let name = file.strip_suffix(".jinja")?.to_owned();
                Some((name, format!("{EXTRA_TEMPLATES}/{file}")))
            })
            .collect();
        found.sort();
        found
    }

    pub fn vocabulary(&self) -> Result<Vocabulary> {
        if let Some(bytes) = self.read(TOKENIZER)? {
            return Ok(Vocabulary::TokenizerJson(bytes));
        }
        let (vocab, merges) = (self.read_text("vocab.json")?, self.read_text("merges.txt")?);
        if let (Some(vocab), Some(merges)) = (vocab, merges) {
            return Ok(Vocabulary::BytePairFiles { vocab, merges });
        }
        Err(self.refusal())
    }

    fn refusal(&self) -> Error {
        let refuse = |file: &str, kind: &str| {
            Error::folder(
                "TOKENIZER_UNSUPPORTED",
                file,
                format!("the folder has no tokenizer.json, only {file} ({kind})"),
            )
            .fix(CONVERT)
        };
        if let Some(kind) = self.sniff_model("tokenizer.model") {
            return refuse("tokenizer.model", kind);
        }
        for name in &self.file_names() {
            if name == "tekken.json" {
                return refuse(name, "a Mistral tekken vocabulary");
            }
            if name.ends_with(".tiktoken") {
                return refuse(name, "a tiktoken vocabulary");
            }
            if name.ends_with(".gguf") {
                return refuse(name, "a GGUF checkpoint");
            }
        }
        Error::folder("TOKENIZER_MISSING", TOKENIZER, "the folder has no tokenizer.json")
            .fix("copy the tokenizer's files into the folder, or send token ids")
    }

    fn file_names(&self) -> Vec<String> {
        let Source::Disk(path) = &self.source else { return Vec::new() };
        let mut names: Vec<String> = fs::read_dir(path)
            .map(|d| d.flatten().filter_map(|e| e.file_name().into_string().ok()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }

    fn sniff_model(&self, name: &str) -> Option<&'static str> {
        let bytes = self.read(name).ok()??;
        let first_line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let is_tiktoken = first_line.len() < 1024
            && std::str::from_utf8(first_line).is_ok_and(|line| {
                line.split_once(' ').is_some_and(|(_, rank)| rank.trim().parse::<u32>().is_ok())
            });
        Some(match () {
            _ if bytes.starts_with(b"GGUF") => "a GGUF file under a wrong name",
            _ if is_tiktoken => "a tiktoken vocabulary",
            _ if bytes.first() == Some(&0x0a) => "a SentencePiece model",
            _ => "of an unknown format",
        })
    }
}

/// `e` says line and column; NaN and Infinity, which Python writes, are named.
pub fn not_json(file: &str, bytes: &[u8], e: &serde_json::Error) -> Error {
    let line = bytes.split(|&b| b == b'\n').nth(e.line().saturating_sub(1)).unwrap_or_default();
    let at = e.column().saturating_sub(1).min(line.len());
    let is_word = |b: &u8| b.is_ascii_alphabetic() || *b == b'-';
    let begin = at - line[..at].iter().rev().take(9).take_while(|b| is_word(b)).count();
    let word = &line[begin..];
    let names = ["NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"];
    let hint = if names.iter().any(|name| word.starts_with(name.as_bytes())) {
        "; JSON has no NaN or Infinity"
    } else {
        ""
    };
    unreadable(file, format!("not valid JSON: {e}{hint}"))
}

pub fn unreadable(file: &str, why: impl std::fmt::Display) -> Error {
    Error::folder("TOKENIZER_UNREADABLE", file, format!("{file} cannot be used: {why}"))
        .fix(format!("replace {file} by the file that was published with the model"))
}
