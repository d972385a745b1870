//! Python's semantics of text: what str methods, repr, str(float) and json.dumps do, where Rust's
//! or minijinja's differ.

use std::sync::LazyLock;

use minijinja::value::{Value, ValueIter, ValueKind};
use minijinja::{Error, ErrorKind, State};
use regex::Regex;

/// Deeper values are refused, as Python's recursion limit refuses them.
const MAX_DEPTH: usize = 200;
/// Rendered text past this is refused wherever it grows.
pub const MAX_OUTPUT_BYTES: usize = 16 << 20;

pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Which ends of a text are stripped.
#[derive(Clone, Copy)]
pub struct Ends {
    pub left: bool,
    pub right: bool,
}

pub fn strip<'a>(text: &'a str, chars: Option<&str>, ends: Ends) -> &'a str {
    let drop = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if ends.left { text.trim_start_matches(drop) } else { text };
    if ends.right {
        text.trim_end_matches(drop)
    } else {
        text
    }
}

/// str.split; `limit` < 0 is none.
pub fn split<'a>(text: &'a str, separator: Option<&str>, limit: i64) -> Vec<&'a str> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if let Some(separator) = separator {
        return text.splitn(limit.saturating_add(1), separator).collect();
    }
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = if parts.len() < limit { rest.find(is_space) } else { None };
        match end {
            Some(end) => {
                parts.push(&rest[..end]);
                rest = rest[end..].trim_start_matches(is_space);
            }
            None => {
                // The rest after the last allowed split keeps its trailing blanks.
                parts.push(rest);
                break;
            }
        }
    }
    parts
}

/// str.rsplit; `limit` < 0 is none.
pub fn rsplit<'a>(text: &'a str, separator: Option<&str>, limit: i64) -> Vec<&'a str> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts: Vec<&str> = Vec::new();
    if let Some(separator) = separator {
        parts = text.rsplitn(limit.saturating_add(1), separator).collect();
    } else {
        let mut rest = text.trim_end_matches(is_space);
        while !rest.is_empty() {
            let cut = if parts.len() < limit { rest.rfind(is_space) } else { None };
            let start =
                cut.map_or(0, |at| at + rest[at..].chars().next().map_or(0, char::len_utf8));
            parts.push(&rest[start..]);
            rest = match cut {
                Some(at) => rest[..at].trim_end_matches(is_space),
                None => "",
            };
        }
    }
    parts.reverse();
    parts
}

pub fn split_lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some(end) = rest.find(is_line_break) else {
            lines.push(rest);
            break;
        };
        let width = if rest[end..].starts_with("\r\n") {
            2
        } else {
            rest[end..].chars().next().map_or(0, char::len_utf8)
        };
        lines.push(&rest[..if keep_ends { end + width } else { end }]);
        rest = &rest[end + width..];
    }
    lines
}

/// A letter that begins a word: of one that stands for two, the first alone is a capital.
fn title_letter(c: char) -> String {
    match c {
        '\u{1c4}'..='\u{1c6}' => "\u{1c5}".to_owned(),
        '\u{1c7}'..='\u{1c9}' => "\u{1c8}".to_owned(),
        '\u{1ca}'..='\u{1cc}' => "\u{1cb}".to_owned(),
        '\u{1f1}'..='\u{1f3}' => "\u{1f2}".to_owned(),
        _ => {
            let mut upper = c.to_uppercase();
            let first = upper.next();
            first.into_iter().chain(upper.flat_map(char::to_lowercase)).collect()
        }
    }
}

fn is_cased(c: char) -> bool {
    c.is_lowercase()
        || c.is_uppercase()
        || matches!(c, '\u{1c5}' | '\u{1c8}' | '\u{1cb}' | '\u{1f2}')
}

/// str.title: every letter after a non-letter is a capital.
pub fn title(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if is_cased(c) && !inside {
            result.push_str(&title_letter(c));
        } else {
            result.extend(c.to_lowercase());
        }
        inside = is_cased(c);
    }
    result
}

/// str.istitle.
pub fn is_title(text: &str) -> bool {
    let mut inside = false;
    let mut found = false;
    for c in text.chars() {
        if is_cased(c) && c.is_lowercase() != inside {
            return false;
        }
        inside = is_cased(c);
        found |= inside;
    }
    found
}

/// str.capitalize.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(title_letter).unwrap_or_default() + &chars.as_str().to_lowercase()
}

/// str.swapcase.
pub fn swap_case(text: &str) -> String {
    let swap = |c: char| -> String {
        if c.is_uppercase() {
            c.to_lowercase().collect()
        } else if c.is_lowercase() {
            c.to_uppercase().collect()
        } else {
            c.into()
        }
    };
    text.chars().map(swap).collect()
}

/// str.casefold. The capital of a letter without a dot has one, in all but Turkic.
pub fn fold_case(text: &str) -> String {
    let fold = |c: char| match c {
        'ı' => vec![c],
        _ => c.to_uppercase().flat_map(char::to_lowercase).collect(),
    };
    text.chars().flat_map(fold).collect()
}

/// str.replace; `count` < 0 is all.
pub fn replace(
    state: &State,
    text: &str,
    old: &str,
    new: &str,
    count: Option<i64>,
) -> Result<String, Error> {
    let count = count.and_then(|c| usize::try_from(c).ok()).unwrap_or(usize::MAX);
    let matches = (text.len() / old.len().max(1) + 1).min(count) as u64;
    state.consume_fuel(matches.saturating_mul(new.len() as u64) / 64)?;
    Ok(text.replacen(old, new, count))
}

/// The items of what Python iterates over: None, numbers and truth values have none.
pub fn iterate(value: &Value) -> Result<ValueIter, Error> {
    if value.is_none() {
        return Err(Error::new(ErrorKind::InvalidOperation, "None is not iterable"));
    }
    value.try_iter()
}

/// jinja2's title filter: a word begins after a blank, a hyphen or a bracket.
pub fn filter_title(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins {
            result.extend(c.to_uppercase());
        } else {
            result.extend(c.to_lowercase());
        }
        begins = is_space(c) || "-({[<".contains(c);
    }
    result
}

/// jinja2's wordcount filter.
pub fn word_count(text: &str) -> usize {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\p{L}\p{N}_]+").expect("a constant pattern"));
    WORD.find_iter(text).count()
}

/// jinja2's indent filter.
pub fn indent(text: &str, indention: &str, first: bool, blank: bool) -> String {
    let whole = format!("{text}\n");
    let lines = split_lines(&whole, false);
    let mut result = String::with_capacity(text.len() + lines.len() * indention.len());
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            result.push('\n');
        }
        if (i == 0 && first) || (i > 0 && (blank || !line.is_empty())) {
            result.push_str(indention);
        }
        result.push_str(line);
    }
    result
}

/// repr(float): the shortest digits, with an exponent below 1e-4 and from 1e16 on.
pub fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = value.to_string();
    if plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

fn is_float(value: &Value) -> bool {
    value.kind() == ValueKind::Number && !value.is_integer()
}

pub fn too_large(what: &str) -> Error {
    Error::new(ErrorKind::OutOfFuel, format!("{what} is too large or too deeply nested"))
}

/// Refuses a text that has grown past the limit.
pub fn check_size(text: &str, what: &str) -> Result<(), Error> {
    if text.len() > MAX_OUTPUT_BYTES {
        return Err(too_large(what));
    }
    Ok(())
}

fn account(state: &State, out: &str, depth: usize, what: &str) -> Result<(), Error> {
    if depth > MAX_DEPTH || out.len() > MAX_OUTPUT_BYTES {
        return Err(too_large(what));
    }
    state.consume_fuel(1)
}

/// str(value).
pub fn text(state: &State, value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Number if is_float(value) => Ok(float(f64::try_from(value.clone())?)),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => repr_text(state, value),
        _ => Ok(value.to_string()),
    }
}

/// repr(value).
pub fn repr_text(state: &State, value: &Value) -> Result<String, Error> {
    let mut out = String::new();
    repr(state, value, &mut out, 0)?;
    Ok(out)
}

fn repr(state: &State, value: &Value, out: &mut String, depth: usize) -> Result<(), Error> {
    account(state, out, depth, "a printed value")?;
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::Number if is_float(value) => out.push_str(&float(f64::try_from(value.clone())?)),
        ValueKind::Map => {
            out.push('{');
            for (i, key) in value.try_iter()?.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                repr(state, &key, out, depth + 1)?;
                out.push_str(": ");
                repr(state, &value.get_item(&key)?, out, depth + 1)?;
            }
            out.push('}');
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let tuple = value.is_tuple();
            out.push(if tuple { '(' } else { '[' });
            let mut count = 0;
            for item in value.try_iter()? {
                if count > 0 {
                    out.push_str(", ");
                }
                repr(state, &item, out, depth + 1)?;
                count += 1;
            }
            if tuple && count == 1 {
                out.push(',');
            }
            out.push(if tuple { ')' } else { ']' });
        }
        ValueKind::String => repr_string(value.as_str().unwrap_or_default(), out),
        _ => out.push_str(&format!("{value:?}")),
    }
    Ok(())
}

/// str.isprintable.
pub fn is_printable(c: char) -> bool {
    static UNPRINTABLE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[\p{C}\p{Z}]").expect("a constant pattern"));
    matches!(c, ' '..='~') || !UNPRINTABLE.is_match(c.encode_utf8(&mut [0; 4]))
}

/// repr(str): what is not printable is escaped.
fn repr_string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if !is_printable(c) => match c as u32 {
                point @ ..=0xff => out.push_str(&format!("\\x{point:02x}")),
                point @ ..=0xffff => out.push_str(&format!("\\u{point:04x}")),
                point => out.push_str(&format!("\\U{point:08x}")),
            },
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// json.dumps(value, ensure_ascii=..., indent=..., separators=..., sort_keys=...).
pub struct Json {
    pub ensure_ascii: bool,
    pub indent: Option<String>,
    pub item_separator: String,
    pub key_separator: String,
    pub sort_keys: bool,
}

impl Json {
    pub fn dump(&self, state: &State, value: &Value) -> Result<String, Error> {
        let mut out = String::new();
        self.write(state, value, &mut out, 0)?;
        Ok(out)
    }

    fn write(
        &self,
        state: &State,
        value: &Value,
        out: &mut String,
        depth: usize,
    ) -> Result<(), Error> {
        account(state, out, depth, "a value for tojson")?;
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number if is_float(value) => {
                out.push_str(&match float(f64::try_from(value.clone())?).as_str() {
                    "nan" => "NaN".to_owned(),
                    "inf" => "Infinity".to_owned(),
                    "-inf" => "-Infinity".to_owned(),
                    finite => finite.to_owned(),
                });
            }
            ValueKind::Number => out.push_str(&value.to_string()),
            ValueKind::String => self.write_string(value.as_str().unwrap_or_default(), out),
            ValueKind::Map => self.write_map(state, value, out, depth)?,
            ValueKind::Seq | ValueKind::Iterable => {
                let items: Vec<Value> = value.try_iter()?.collect();
                self.write_block(out, depth, ['[', ']'], &items, |json, item, out| {
                    json.write(state, item, out, depth + 1)
                })?;
            }
            kind => {
                return Err(Error::new(
                    ErrorKind::BadSerialization,
                    format!("an object of type {kind} is not JSON serializable"),
                ));
            }
        }
        Ok(())
    }

    fn write_map(
        &self,
        state: &State,
        value: &Value,
        out: &mut String,
        depth: usize,
    ) -> Result<(), Error> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sort_keys {
            keys.sort();
        }
        self.write_block(out, depth, ['{', '}'], &keys, |json, key, out| {
            match key.kind() {
                ValueKind::String => json.write_string(key.as_str().unwrap_or_default(), out),
                ValueKind::Number | ValueKind::Bool | ValueKind::None => {
                    out.push('"');
                    json.write(state, key, out, depth + 1)?;
                    out.push('"');
                }
                kind => {
                    return Err(Error::new(
                        ErrorKind::BadSerialization,
                        format!("a key of type {kind} is not JSON serializable"),
                    ));
                }
            }
            out.push_str(&json.key_separator);
            json.write(state, &value.get_item(key)?, out, depth + 1)
        })
    }

    fn write_block(
        &self,
        out: &mut String,
        depth: usize,
        brackets: [char; 2],
        items: &[Value],
        mut write: impl FnMut(&Self, &Value, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let break_line = |out: &mut String, depth: usize| {
            if let (Some(indent), false) = (&self.indent, items.is_empty()) {
                out.push('\n');
                out.push_str(&indent.repeat(depth));
            }
        };
        out.push(brackets[0]);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(&self.item_separator);
            }
            break_line(out, depth + 1);
            write(self, item, out)?;
        }
        break_line(out, depth);
        out.push(brackets[1]);
        Ok(())
    }

    fn write_string(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
                c if self.ensure_ascii && c > '~' => {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}
