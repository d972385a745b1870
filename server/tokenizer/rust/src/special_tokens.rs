//! The added and special tokens of a folder, as transformers' from_pretrained collects them from
//! tokenizer_config.json or, without an added_tokens_decoder in it, from the legacy files.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};
use tokenizers::{AddedToken, Tokenizer};

use crate::class::Class;
use crate::error::Result;
use crate::folder::{unreadable, Folder, ADDED_TOKENS, SPECIAL_TOKENS_MAP, TOKENIZER_CONFIG};

/// In the order in which transformers adds the missing ones.
const NAMES: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];
const ADDITIONAL: &str = "additional_special_tokens";

/// An added token whose `normalized`, when absent, follows `special`.
#[derive(Clone, Debug)]
struct Attributes {
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: Option<bool>,
    special: bool,
}

impl Attributes {
    fn plain(content: &str, special: bool) -> Self {
        Self {
            content: content.to_owned(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: None,
            special,
        }
    }

    fn from_json(object: &Map<String, Value>) -> Option<Self> {
        let flag = |name: &str| object.get(name).and_then(Value::as_bool);
        Some(Self {
            content: object.get("content")?.as_str()?.to_owned(),
            single_word: flag("single_word").unwrap_or(false),
            lstrip: flag("lstrip").unwrap_or(false),
            rstrip: flag("rstrip").unwrap_or(false),
            normalized: flag("normalized"),
            special: flag("special").unwrap_or(false),
        })
    }

    fn from_token(token: &AddedToken) -> Self {
        Self {
            content: token.content.clone(),
            single_word: token.single_word,
            lstrip: token.lstrip,
            rstrip: token.rstrip,
            normalized: Some(token.normalized),
            special: token.special,
        }
    }

    fn token(&self) -> AddedToken {
        AddedToken::from(self.content.clone(), self.special)
            .single_word(self.single_word)
            .lstrip(self.lstrip)
            .rstrip(self.rstrip)
            .normalized(self.normalized.unwrap_or(!self.special))
    }
}

/// A special token is written as a string or with attributes, and transformers treats the two
/// differently: a string equals an added token of that content, attributes have to be equal.
#[derive(Clone, Debug)]
enum Special {
    Text(String),
    Token(Attributes),
}

impl Special {
    fn from_json(value: &Value, legacy: bool) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Object(object) => Attributes::from_json(object).map(|mut attributes| {
                attributes.special |= legacy;
                Self::Token(attributes)
            }),
            _ => None,
        }
    }

    fn content(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Token(attributes) => &attributes.content,
        }
    }
}

/// The named special tokens of a tokenizer, and the tokens to add to it.
pub struct SpecialTokens {
    named: Vec<(String, Special)>,
    additional: Vec<Special>,
    /// By id, from tokenizer_config.json or the legacy files.
    listed: BTreeMap<u32, Attributes>,
    /// Those of `listed` whose attributes win over a named token's own.
    winning: Vec<Attributes>,
}

impl SpecialTokens {
    pub fn read(folder: &Folder, class: Class, tokenizer: &Tokenizer) -> Result<Self> {
        let mut found = Self {
            named: Vec::new(),
            additional: Vec::new(),
            listed: BTreeMap::new(),
            winning: Vec::new(),
        };
        let mut values = folder.config.clone();
        let listed = values.get("added_tokens_decoder").is_some_and(Value::is_object);
        let mut legacy_keys = HashSet::new();
        if listed {
            found.read_listed(&values)?;
        } else {
            legacy_keys = found.read_legacy(folder, &mut values, tokenizer)?;
        }
        found.read_named(&values, class, &legacy_keys, tokenizer)?;
        found.read_additional(&values, class, legacy_keys.contains(ADDITIONAL))?;
        Ok(found)
    }

    /// The content of one named token, e.g. "bos_token".
    pub fn get(&self, name: &str) -> Option<&str> {
        self.named.iter().find(|(n, _)| n == name).map(|(_, special)| special.content())
    }

    /// What apply_chat_template passes as template variables.
    pub fn template_variables(&self) -> Vec<(String, Vec<String>, bool)> {
        let mut variables: Vec<_> = self
            .named
            .iter()
            .filter(|(_, special)| !special.content().is_empty())
            .map(|(name, special)| (name.clone(), vec![special.content().to_owned()], false))
            .collect();
        if !self.additional.is_empty() {
            let contents = self.additional.iter().map(|s| s.content().to_owned()).collect();
            variables.push((ADDITIONAL.to_owned(), contents, true));
        }
        variables
    }

    /// Adds what tokenizer.json does not hold, as PreTrainedTokenizerFast.__init__ does.
    pub fn add_to(&self, tokenizer: &mut Tokenizer) {
        let present = tokenizer.get_added_tokens_decoder();
        let mut to_add: Vec<Special> = self
            .listed
            .values()
            .filter(|a| !present.values().any(|p| *p == a.token()))
            .map(|a| Special::Token(a.clone()))
            .collect();
        let mut contents: HashSet<String> = present.values().map(|t| t.content.clone()).collect();
        contents.extend(to_add.iter().map(|s| s.content().to_owned()));

        let specials = self.unique();
        for special in &specials {
            let known = match special {
                Special::Text(text) => contents.contains(text),
                Special::Token(attributes) => to_add.iter().any(
                    |other| matches!(other, Special::Token(o) if o.token() == attributes.token()),
                ),
            };
            if !known {
                to_add.push(special.clone());
            }
        }
        let names: HashSet<&str> = specials.iter().map(Special::content).collect();
        let tokens: Vec<AddedToken> = to_add
            .iter()
            .map(|special| match special {
                Special::Text(text) => {
                    Attributes::plain(text, names.contains(text.as_str())).token()
                }
                Special::Token(attributes) => {
                    let mut attributes = attributes.clone();
                    attributes.special |= names.contains(attributes.content.as_str());
                    attributes.token()
                }
            })
            .collect();
        if !tokens.is_empty() {
            tokenizer.add_tokens(&tokens);
        }
    }

    /// The named tokens in order, then the additional ones, the first of each content.
    fn unique(&self) -> Vec<Special> {
        let order = |name: &str| NAMES.iter().position(|n| *n == name);
        let mut named: Vec<_> = self.named.iter().filter(|(n, _)| order(n).is_some()).collect();
        named.sort_by_key(|(n, _)| order(n));
        let extra = self.named.iter().filter(|(n, _)| order(n).is_none());
        let mut seen = HashSet::new();
        named
            .into_iter()
            .map(|(_, special)| special)
            .chain(&self.additional)
            .chain(extra.map(|(_, special)| special))
            .filter(|special| !special.content().is_empty())
            .filter(|special| seen.insert(special.content().to_owned()))
            .cloned()
            .collect()
    }

    fn read_listed(&mut self, values: &Map<String, Value>) -> Result<()> {
        let listed = values["added_tokens_decoder"].as_object().into_iter().flatten();
        for (id, token) in listed {
            let attributes = token.as_object().and_then(Attributes::from_json);
            let (Ok(id), Some(attributes)) = (id.parse::<u32>(), attributes) else {
                return Err(unreadable(
                    TOKENIZER_CONFIG,
                    format!("added_tokens_decoder[\"{id}\"] is not an added token"),
                ));
            };
            self.winning.push(attributes.clone());
            self.listed.insert(id, attributes);
        }
        Ok(())
    }

    /// Returns the keys that special_tokens_map.json set.
    fn read_legacy(
        &mut self,
        folder: &Folder,
        values: &mut Map<String, Value>,
        tokenizer: &Tokenizer,
    ) -> Result<HashSet<String>> {
        let mut keys = HashSet::new();
        for (key, value) in folder.read_object(SPECIAL_TOKENS_MAP)?.unwrap_or_default() {
            let merged = match (&value, values.get(&key)) {
                (Value::Array(new), Some(Value::Array(old))) if key == ADDITIONAL => {
                    let more = new.iter().filter(|token| !old.contains(token));
                    Value::Array(old.iter().chain(more).cloned().collect())
                }
                _ => value,
            };
            values.insert(key.clone(), merged);
            keys.insert(key);
        }

        let mut specials = HashSet::new();
        for name in NAMES {
            if let Some(special) = values.get(name).and_then(|v| Special::from_json(v, true)) {
                specials.insert(special.content().to_owned());
            }
        }
        for value in values.get(ADDITIONAL).and_then(Value::as_array).into_iter().flatten() {
            specials.extend(Special::from_json(value, true).map(|s| s.content().to_owned()));
        }
        for (content, id) in folder.read_object(ADDED_TOKENS)?.unwrap_or_default() {
            let Some(id) = id.as_u64().and_then(|id| u32::try_from(id).ok()) else {
                return Err(unreadable(ADDED_TOKENS, format!("the id of {content:?} is no id")));
            };
            let mut attributes = Attributes::plain(&content, specials.contains(&content));
            attributes.normalized = Some(!attributes.special);
            self.listed.insert(id, attributes);
        }
        // Not the tokens of added_tokens.json: transformers means to keep those too, but files them
        // under a wrong key.
        for (id, token) in tokenizer.get_added_tokens_decoder() {
            self.winning.push(Attributes::from_token(&token));
            self.listed.insert(id, Attributes::from_token(&token));
        }
        Ok(keys)
    }

    fn read_named(
        &mut self,
        values: &Map<String, Value>,
        class: Class,
        legacy_keys: &HashSet<String>,
        tokenizer: &Tokenizer,
    ) -> Result<()> {
        let by_content: HashMap<&str, &Attributes> =
            self.winning.iter().map(|a| (a.content.as_str(), a)).collect();
        let defaults: HashMap<_, _> = class.default_tokens().iter().copied().collect();
        let mut named = Vec::new();
        for name in NAMES {
            let special = match values.get(name) {
                Some(Value::Null) => None,
                Some(value) => {
                    let legacy = legacy_keys.contains(name);
                    let special = Special::from_json(value, legacy).ok_or_else(|| {
                        unreadable(TOKENIZER_CONFIG, format!("{name} is not a token"))
                    })?;
                    Some(match by_content.get(special.content()) {
                        Some(attributes) => Special::Token((*attributes).clone()),
                        None => special,
                    })
                }
                None => defaults
                    .get(name)
                    .map(|text| Special::Text((*text).to_owned()))
                    .or_else(|| Self::padding_token(name, class, tokenizer).map(Special::Text)),
            };
            // Qwen2TokenizerFast wraps its strings.
            let special = special.map(|special| match special {
                Special::Text(text)
                    if class == Class::Qwen2
                        && matches!(
                            name,
                            "bos_token" | "eos_token" | "unk_token" | "pad_token"
                        ) =>
                {
                    Special::Token(Attributes {
                        normalized: Some(false),
                        ..Attributes::plain(&text, true)
                    })
                }
                other => other,
            });
            named.extend(special.map(|special| (name.to_owned(), special)));
        }
        if let Some(Value::Object(extra)) = values.get("extra_special_tokens") {
            named.extend(extra.iter().filter_map(|(name, value)| {
                Special::from_json(value, false).map(|special| (name.clone(), special))
            }));
        }
        self.named = named;
        Ok(())
    }

    fn padding_token(name: &str, class: Class, tokenizer: &Tokenizer) -> Option<String> {
        if name != "pad_token" || class.names_pad_token() {
            return None;
        }
        tokenizer.get_padding().map(|padding| padding.pad_token.clone())
    }

    fn read_additional(
        &mut self,
        values: &Map<String, Value>,
        class: Class,
        legacy: bool,
    ) -> Result<()> {
        let lists = [values.get(ADDITIONAL), values.get("extra_special_tokens")];
        for value in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let special = Special::from_json(value, legacy).ok_or_else(|| {
                unreadable(TOKENIZER_CONFIG, format!("{ADDITIONAL} holds something else: {value}"))
            })?;
            self.additional.push(special);
        }
        if class == Class::CodeLlama {
            let infill = [
                ("prefix_token", "▁<PRE>"),
                ("middle_token", "▁<MID>"),
                ("suffix_token", "▁<SUF>"),
                ("eot_token", "▁<EOT>"),
            ];
            for (name, default) in infill {
                match values.get(name) {
                    Some(Value::Null) => {}
                    Some(value) => self.additional.extend(Special::from_json(value, false)),
                    None => self.additional.push(Special::Text(default.to_owned())),
                }
            }
        }
        Ok(())
    }
}
