//! A chat template's text before it is parsed: where it comes from, the limits that keep the parser
//! from harm, and the `{% generation %}` block in terms that the parser knows.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::folder::{unreadable, Folder, CHAT_TEMPLATE, TOKENIZER_CONFIG};
use crate::operators::{self, end_of_quoted};

/// The parser recurses along a chain of operators and the compiler is quadratic in `~`.
const MAX_BYTES: usize = 128 << 10;
const MAX_TILDES: usize = 2_000;
const MAX_PLUSES: usize = 4_000;
/// The time to compile a chain of any operator is quadratic in its length.
const MAX_OPERATORS: usize = 8_000;

/// The function that stands for a generation block.
pub const GENERATION: &str = "__generation_block";

pub struct TemplateSource {
    /// The file it was read from.
    pub file: String,
    pub text: String,
}

impl TemplateSource {
    /// The folder's default template; Ok(None) when it has no template at all.
    pub fn find(folder: &Folder) -> Result<Option<Self>> {
        let mut named: Vec<(String, Self)> = Vec::new();
        if let Some(text) = folder.read_text(CHAT_TEMPLATE)? {
            let file = CHAT_TEMPLATE.to_owned();
            named.push(("default".to_owned(), Self { file, text }));
        }
        for (name, file) in folder.extra_templates() {
            if let Some(text) = folder.read_text(&file)? {
                named.push((name, Self { file, text }));
            }
        }
        if named.is_empty() {
            named = from_config(folder)?;
        }
        if named.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
        match named.into_iter().rfind(|(name, _)| name == "default") {
            Some((_, source)) => Ok(Some(source)),
            None => Err(Error::folder(
                "TEMPLATE_MISSING",
                TOKENIZER_CONFIG,
                format!("none of the chat templates is named default: {}", names.join(", ")),
            )
            .fix("name one of them default")),
        }
    }

    /// Refuses what would harm the parser.
    pub fn check_limits(&self) -> Result<()> {
        let count = |c: u8| self.text.bytes().filter(|b| *b == c).count();
        let found = [
            ("bytes", self.text.len(), MAX_BYTES),
            ("'~' characters", count(b'~'), MAX_TILDES),
            ("'+' characters", count(b'+'), MAX_PLUSES),
            ("operators", self.operators(), MAX_OPERATORS),
        ];
        for (what, value, limit) in found {
            if value > limit {
                return Err(Error::folder(
                    "TEMPLATE_TOO_LARGE",
                    &self.file,
                    format!(
                        "the chat template in {} holds {value} {what}, the limit is {limit}",
                        self.file
                    ),
                )
                .fix("use the chat template that was published with the model"));
            }
        }
        Ok(())
    }

    /// At least as many as the expressions hold, wherever they stand.
    fn operators(&self) -> usize {
        let text = ["{%-", "{%", "-%}", "%}", "{{-", "-}}"]
            .iter()
            .fold(self.text.clone(), |text, mark| text.replace(mark, " "));
        let signs = text.bytes().filter(|b| b"-*/%<>=!|.[(".contains(b)).count();
        let words = ["and", "or", "not", "in", "is", "if"];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        signs + text.split(|c| !is_word(c)).filter(|word| words.contains(word)).count()
    }

    /// The text with line feeds for all line ends, as jinja2's lexer reads it, and with
    /// `{% generation %}` as a call block, which renders its body.
    pub fn prepared(&self) -> String {
        let text = self.text.replace("\r\n", "\n").replace('\r', "\n");
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut raw = false;
        while let Some(at) = rest
            .match_indices('{')
            .map(|(at, _)| at)
            .find(|at| matches!(rest.as_bytes().get(at + 1), Some(b'%' | b'#' | b'{')))
        {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let comment = rest.starts_with("{#");
            if raw && !rest.starts_with("{%") {
                out.push_str(&rest[..2]);
                rest = &rest[2..];
                continue;
            }
            let Some(end) = end_of_tag(rest) else { break };
            let tag = &rest[..end];
            let statement = Statement::parse(tag);
            match statement.as_ref().map(|s| s.body) {
                Some("raw") => raw = true,
                Some("endraw") => raw = false,
                _ => {}
            }
            match statement.and_then(|s| if raw { None } else { s.rewritten() }) {
                Some(text) => out.push_str(&text),
                None if comment || raw => out.push_str(tag),
                None => out.push_str(&operators::rewritten(tag)),
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }
}

/// Where the tag that `text` begins with ends; its quoted texts may hold any bracket.
fn end_of_tag(text: &str) -> Option<usize> {
    let close = match text.as_bytes()[1] {
        b'#' => return text.find("#}").map(|at| at + 2),
        b'%' => b'%',
        _ => b'}',
    };
    let mut depth = 0usize;
    let mut at = 2;
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match bytes[at] {
            b'\'' | b'"' => at = end_of_quoted(bytes, at),
            b if b == close && bytes[at + 1] == b'}' && depth == 0 => return Some(at + 2),
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// `{%- body -%}`
struct Statement<'a> {
    open: &'a str,
    body: &'a str,
    close: &'a str,
}

impl<'a> Statement<'a> {
    fn parse(tag: &'a str) -> Option<Self> {
        let inner = tag.strip_prefix("{%")?.strip_suffix("%}")?;
        let body = inner.strip_prefix(['-', '+']).unwrap_or(inner);
        let open = &inner[..inner.len() - body.len()];
        let body = body.strip_suffix(['-', '+']).unwrap_or(body);
        let close = &inner[open.len() + body.len()..];
        Some(Self { open, body: body.trim(), close })
    }

    fn rewritten(&self) -> Option<String> {
        let body = match self.body {
            "generation" => format!("call {GENERATION}()"),
            "endgeneration" => "endcall".to_owned(),
            _ => return None,
        };
        Some(format!("{{%{} {body} {}%}}", self.open, self.close))
    }
}

fn from_config(folder: &Folder) -> Result<Vec<(String, TemplateSource)>> {
    let source =
        |text: &str| TemplateSource { file: TOKENIZER_CONFIG.to_owned(), text: text.to_owned() };
    let broken = || {
        unreadable(
            TOKENIZER_CONFIG,
            "chat_template is neither a text nor a list of named templates",
        )
    };
    match folder.config.get("chat_template") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![("default".to_owned(), source(text))]),
        Some(Value::Array(list)) => list
            .iter()
            .map(|entry| {
                let name = entry.get("name").and_then(Value::as_str).ok_or_else(broken)?;
                let text = entry.get("template").and_then(Value::as_str).ok_or_else(broken)?;
                Ok((name.to_owned(), source(text)))
            })
            .collect(),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(name, text)| Ok((name.clone(), source(text.as_str().ok_or_else(broken)?))))
            .collect(),
        Some(_) => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::TemplateSource;

    fn rewritten(text: &str) -> String {
        TemplateSource { file: String::new(), text: text.to_owned() }.prepared()
    }

    #[test]
    fn keeps_blank_control_of_generation_tags() {
        assert_eq!(
            rewritten("a{%- generation -%}b{% endgeneration %}"),
            "a{%- call __generation_block() -%}b{% endcall %}"
        );
    }

    #[test]
    fn leaves_other_tags_and_comments_alone() {
        for text in
            ["{# {% generation %} #}", "{% if generation %}{% endif %}", "{% open", "{{ x }}"]
        {
            assert_eq!(rewritten(text), text);
        }
    }
}
