//! One folder's tokenizer and chat template.

use std::path::Path;

use tokenizers::{DecoderWrapper, Model, OffsetType, Tokenizer};

use crate::backend;
use crate::class::Class;
use crate::error::{Error, Result};
use crate::folder::{unreadable, Folder, TOKENIZER};
use crate::splitting::TextSplitter;
use crate::template::{Message, Template};
use crate::template_source::TemplateSource;

pub struct TextTokenizer {
    tokenizer: Tokenizer,
    splitter: TextSplitter,
    clean_up_spaces: bool,
    /// The error is kept for whoever asks for a rendering; text is encoded without a template.
    template: Result<Option<Template>>,
}

impl TextTokenizer {
    pub fn load(path: &Path) -> Result<Self> {
        Self::build(Folder::open(path)?)
    }

    /// From the text of tokenizer.json and of tokenizer_config.json.
    pub fn from_texts(tokenizer: &str, config: &str) -> Result<Self> {
        Self::build(Folder::from_texts(tokenizer, config)?)
    }

    fn build(folder: Folder) -> Result<Self> {
        let (tokenizer, specials) = backend::build(&folder, Class::of(&folder))?;
        let clean_up = folder.config.get("clean_up_tokenization_spaces");
        let template = TemplateSource::find(&folder).and_then(|source| {
            source.map(|s| Template::compile(&s, specials.template_variables())).transpose()
        });
        Ok(Self {
            splitter: TextSplitter::of(&tokenizer)?,
            tokenizer,
            clean_up_spaces: clean_up.and_then(serde_json::Value::as_bool).unwrap_or(false),
            template,
        })
    }

    pub fn encode(&self, text: &str, add_special_tokens: bool) -> Result<tokenizers::Encoding> {
        self.encode_in_steps(text, add_special_tokens).map_err(|e| {
            Error::input("TEXT_NOT_ENCODABLE", "text", format!("the text cannot be encoded: {e}"))
                .fix(
                    "send another text, or restore the tokenizer that was published with the model",
                )
        })
    }

    /// Tokenizer::encode for one text, but for the limit on its expressions.
    fn encode_in_steps(
        &self,
        text: &str,
        add_special_tokens: bool,
    ) -> tokenizers::Result<tokenizers::Encoding> {
        let mut pieces = self.splitter.split(&self.tokenizer, text)?;
        pieces.tokenize(|piece| self.tokenizer.get_model().tokenize(piece.get()))?;
        let encoding = pieces.into_encoding(None, 0, OffsetType::Byte)?;
        self.tokenizer.post_process(encoding, None, add_special_tokens)
    }

    pub fn decode(&self, ids: &[i32], skip_special_tokens: bool) -> Result<String> {
        let known = |i: usize, id: i32| {
            u32::try_from(id)
                .ok()
                .filter(|id| self.tokenizer.id_to_token(*id).is_some())
                .ok_or_else(|| {
                    Error::input(
                        "TOKEN_ID_OUT_OF_RANGE",
                        &format!("ids[{i}]"),
                        "the token id is not in the vocabulary",
                    )
                    .value(id)
                    .fix("use ids of this model's tokenizer")
                })
        };
        let ids =
            ids.iter().enumerate().map(|(i, id)| known(i, *id)).collect::<Result<Vec<_>>>()?;
        let text = self
            .tokenizer
            .decode(&ids, skip_special_tokens)
            .map_err(|e| unreadable(TOKENIZER, e))?;
        Ok(if self.clean_up_spaces { clean_up(&text) } else { text })
    }

    /// What a person reads: blanks as blanks, incomplete characters as U+FFFD.
    pub fn token_text(&self, id: i32) -> String {
        let Ok(id) = u32::try_from(id) else { return String::new() };
        let Some(token) = self.tokenizer.id_to_token(id) else { return String::new() };
        if self.tokenizer.get_added_vocabulary().simple_id_to_token(id).is_some() {
            return token;
        }
        let (byte_level, blank) = match self.tokenizer.get_decoder() {
            Some(decoder) => (holds_byte_level(decoder), true),
            None => (false, false),
        };
        if byte_level {
            return self.tokenizer.decode(&[id], false).unwrap_or(token);
        }
        let byte = token.strip_prefix("<0x").and_then(|t| t.strip_suffix('>'));
        if let Some(byte) = byte.and_then(|b| u8::from_str_radix(b, 16).ok()) {
            return String::from_utf8_lossy(&[byte]).into_owned();
        }
        if blank {
            token.replace('▁', " ")
        } else {
            token
        }
    }

    pub fn vocabulary_size(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    pub fn has_template(&self) -> bool {
        !matches!(self.template, Ok(None))
    }

    pub fn render(&self, messages: &[Message], add_prompt: bool, date: &str) -> Result<String> {
        match &self.template {
            Ok(Some(template)) => template.render(messages, add_prompt, date),
            Ok(None) => Err(Error::folder(
                "TEMPLATE_MISSING",
                crate::folder::CHAT_TEMPLATE,
                "the checkpoint has no chat template",
            )
            .fix("send plain text, or prompt and response with raw set")),
            Err(error) => Err(error.clone()),
        }
    }
}

fn holds_byte_level(decoder: &DecoderWrapper) -> bool {
    match decoder {
        DecoderWrapper::ByteLevel(_) => true,
        DecoderWrapper::Sequence(sequence) => sequence.get_decoders().iter().any(holds_byte_level),
        _ => false,
    }
}

/// transformers' clean_up_tokenization, in its order.
fn clean_up(text: &str) -> String {
    const RULES: [(&str, &str); 10] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    RULES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
