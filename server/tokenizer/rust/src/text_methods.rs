//! The methods of Python's str that need no bytes, and those of list that change nothing.

use std::sync::LazyLock;

use minijinja::value::{from_args, Kwargs, Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};
use regex::Regex;

use crate::format::Fields;
use crate::python::{self, Ends};

fn wrong(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
}

fn list<'a>(parts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::from(parts.into_iter().map(Value::from).collect::<Vec<_>>())
}

/// None for what is no method of a text.
pub fn call(
    state: &mut State,
    text: &str,
    method: &str,
    args: &[Value],
) -> Result<Option<Value>, Error> {
    let none = |result: Value| from_args::<()>(args).map(|()| Some(result));
    let flag = |result: bool| none(Value::from(result));
    if let Some(result) = question(text, method) {
        return flag(result);
    }
    let made = |result: String| none(Value::from(result));
    match method {
        "upper" => made(text.to_uppercase()),
        "lower" => made(text.to_lowercase()),
        "capitalize" => made(python::capitalize(text)),
        "title" => made(python::title(text)),
        "swapcase" => made(python::swap_case(text)),
        "casefold" => made(python::fold_case(text)),
        "strip" => strip(text, args, Ends { left: true, right: true }).map(Some),
        "lstrip" => strip(text, args, Ends { left: true, right: false }).map(Some),
        "rstrip" => strip(text, args, Ends { left: false, right: true }).map(Some),
        "split" | "rsplit" => split(text, method == "split", args).map(Some),
        "splitlines" => {
            let (keep, kwargs): (Option<bool>, Kwargs) = from_args(args)?;
            let keep = keep.or(kwargs.get("keepends")?).unwrap_or(false);
            kwargs.assert_all_used()?;
            Ok(Some(list(python::split_lines(text, keep))))
        }
        "partition" | "rpartition" => partition(text, method == "partition", args).map(Some),
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Ok(Some(Value::from(text.strip_prefix(prefix).unwrap_or(text))))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Ok(Some(Value::from(text.strip_suffix(suffix).unwrap_or(text))))
        }
        "startswith" | "endswith" => affix(text, method == "startswith", args).map(Some),
        "find" | "rfind" | "index" | "rindex" => find(text, method, args).map(Some),
        "count" => count(text, args).map(Some),
        "replace" => replace(state, text, args).map(Some),
        "join" => join(state, text, args).map(Some),
        "center" | "ljust" | "rjust" => pad(state, text, method, args).map(Some),
        "zfill" => zero_fill(state, text, args).map(Some),
        "expandtabs" => expand_tabs(state, text, args).map(Some),
        "format" => {
            let (positional, named) = match args.split_last() {
                Some((last, rest)) if last.is_kwargs() => (rest, Kwargs::try_from(last.clone())?),
                _ => (args, Kwargs::from_iter::<[(&str, Value); 0]>([])),
            };
            let fields = Fields { positional, named: &named };
            fields.format(state, text).map(|text| Some(Value::from(text)))
        }
        _ => Ok(None),
    }
}

/// `isalpha` and the like.
fn question(text: &str, method: &str) -> Option<bool> {
    macro_rules! all_are {
        ($class:literal) => {{
            static CLASS: LazyLock<Regex> =
                LazyLock::new(|| Regex::new(concat!("^[", $class, "]+$")).expect("a constant"));
            CLASS.is_match(text)
        }};
    }
    let cased = |c: &char| c.is_lowercase() || c.is_uppercase();
    Some(match method {
        "isalpha" => all_are!(r"\p{L}"),
        "isdecimal" => all_are!(r"\p{Nd}"),
        "isdigit" => all_are!(
            r"\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792"
        ),
        "isnumeric" => all_are!(r"\p{N}"),
        "isalnum" => all_are!(r"\p{L}\p{N}"),
        "isidentifier" => {
            static NAME: LazyLock<Regex> = LazyLock::new(|| {
                Regex::new(r"^[\p{XID_Start}_]\p{XID_Continue}*$").expect("a constant")
            });
            NAME.is_match(text)
        }
        "isascii" => text.is_ascii(),
        "isprintable" => text.chars().all(python::is_printable),
        "isspace" => !text.is_empty() && text.chars().all(python::is_space),
        "islower" => text.chars().any(|c| cased(&c)) && !text.chars().any(|c| c.is_uppercase()),
        "isupper" => text.chars().any(|c| cased(&c)) && !text.chars().any(|c| c.is_lowercase()),
        "istitle" => python::is_title(text),
        _ => return None,
    })
}

fn strip(text: &str, args: &[Value], ends: Ends) -> Result<Value, Error> {
    let (chars,): (Option<&str>,) = from_args(args)?;
    Ok(Value::from(python::strip(text, chars, ends)))
}

fn split(text: &str, from_left: bool, args: &[Value]) -> Result<Value, Error> {
    let (separator, limit, kwargs): (Option<&str>, Option<i64>, Kwargs) = from_args(args)?;
    let named: Option<String> = kwargs.get("sep")?;
    let separator = separator.or(named.as_deref());
    let limit = limit.or(kwargs.get("maxsplit")?).unwrap_or(-1);
    kwargs.assert_all_used()?;
    if separator == Some("") {
        return Err(wrong("empty separator"));
    }
    let split = if from_left { python::split } else { python::rsplit };
    Ok(list(split(text, separator, limit)))
}

fn partition(text: &str, from_left: bool, args: &[Value]) -> Result<Value, Error> {
    let (separator,): (&str,) = from_args(args)?;
    if separator.is_empty() {
        return Err(wrong("empty separator"));
    }
    let at = if from_left { text.find(separator) } else { text.rfind(separator) };
    let parts = match at {
        Some(at) => [&text[..at], separator, &text[at + separator.len()..]],
        None if from_left => [text, "", ""],
        None => ["", "", text],
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from))))
}

/// `text[start:end]` and how many characters stand before it; None where `start` is past the end.
fn part(text: &str, start: Option<i64>, end: Option<i64>) -> Option<(&str, usize)> {
    let count = text.chars().count();
    let index = |at: i64| {
        let at = if at < 0 { at.saturating_add(count as i64).max(0) } else { at };
        usize::try_from(at).unwrap_or(usize::MAX)
    };
    let start = index(start.unwrap_or(0));
    let end = index(end.unwrap_or(i64::MAX)).min(count);
    if start > end {
        return None;
    }
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    Some((&text[byte(start)..byte(end)], start))
}

fn affix(text: &str, at_start: bool, args: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end): (&Value, Option<i64>, Option<i64>) = from_args(args)?;
    let part = part(text, start, end).map(|(part, _)| part);
    let has = |affix: &Value| {
        let affix = affix
            .as_str()
            .ok_or_else(|| wrong("startswith and endswith take a text or a tuple of texts"))?;
        Ok(part.is_some_and(|p| if at_start { p.starts_with(affix) } else { p.ends_with(affix) }))
    };
    if !wanted.is_tuple() {
        return has(wanted).map(Value::from);
    }
    for each in wanted.try_iter()? {
        if has(&each)? {
            return Ok(Value::from(true));
        }
    }
    Ok(Value::from(false))
}

fn find(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end): (&str, Option<i64>, Option<i64>) = from_args(args)?;
    let found = part(text, start, end).and_then(|(part, before)| {
        let at = if method.starts_with('r') { part.rfind(wanted) } else { part.find(wanted) };
        at.map(|at| before + part[..at].chars().count())
    });
    match found {
        Some(at) => Ok(Value::from(at)),
        None if method.ends_with("find") => Ok(Value::from(-1)),
        None => Err(wrong("substring not found")),
    }
}

fn count(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end): (&str, Option<i64>, Option<i64>) = from_args(args)?;
    let part = part(text, start, end);
    Ok(Value::from(part.map_or(0, |(part, _)| part.matches(wanted).count())))
}

fn replace(state: &State, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (old, new, count): (&str, &str, Option<i64>) = from_args(args)?;
    python::replace(state, text, old, new, count).map(Value::from)
}

fn join(state: &State, separator: &str, args: &[Value]) -> Result<Value, Error> {
    let (values,): (&Value,) = from_args(args)?;
    let mut out = String::new();
    for (i, value) in python::iterate(values)?.enumerate() {
        let text = value.as_str().ok_or_else(|| {
            wrong(format!("sequence item {i}: expected a text, {} found", value.kind()))
        })?;
        state.consume_fuel(1 + (text.len() + separator.len()) as u64 / 64)?;
        if i > 0 {
            out.push_str(separator);
        }
        out.push_str(text);
    }
    Ok(Value::from(out))
}

/// Blanks, or what `fill` says, that bring a text to `width`.
fn fill(state: &State, text: &str, width: i64, fill: char) -> Result<(usize, String), Error> {
    let width = usize::try_from(width).unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    if missing > python::MAX_OUTPUT_BYTES / 4 {
        return Err(python::too_large("a width"));
    }
    state.consume_fuel(missing as u64 / 16)?;
    Ok((width, std::iter::repeat(fill).take(missing).collect()))
}

fn pad(state: &State, text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (width, with): (i64, Option<&str>) = from_args(args)?;
    let mut chars = with.unwrap_or(" ").chars();
    let (Some(with), None) = (chars.next(), chars.next()) else {
        return Err(wrong("The fill character must be exactly one character long"));
    };
    let (width, filling) = fill(state, text, width, with)?;
    let missing = filling.chars().count();
    let left = match method {
        "ljust" => 0,
        "rjust" => missing,
        // Where one is left over, CPython puts it on the left of an odd width.
        _ => missing / 2 + (missing & width & 1),
    };
    let left = filling.char_indices().nth(left).map_or(filling.len(), |(byte, _)| byte);
    let (left, right) = filling.split_at(left);
    Ok(Value::from(format!("{left}{text}{right}")))
}

fn zero_fill(state: &State, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (width,): (i64,) = from_args(args)?;
    let (_, zeros) = fill(state, text, width, '0')?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = &text[..text.len() - digits.len()];
    Ok(Value::from(format!("{sign}{zeros}{digits}")))
}

fn expand_tabs(state: &State, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (size, kwargs): (Option<i64>, Kwargs) = from_args(args)?;
    let size = size.or(kwargs.get("tabsize")?).unwrap_or(8);
    kwargs.assert_all_used()?;
    let size = usize::try_from(size).unwrap_or(0);
    let mut out = String::new();
    let mut column = 0;
    for c in text.chars() {
        if c == '\t' {
            let blanks = if size == 0 { 0 } else { size - column % size };
            state.consume_fuel(blanks as u64 / 64)?;
            python::check_size(&out, "a text with its tabs expanded")?;
            out.extend(std::iter::repeat(' ').take(blanks.min(python::MAX_OUTPUT_BYTES)));
            column += blanks;
        } else {
            column = if matches!(c, '\n' | '\r') { 0 } else { column + 1 };
            out.push(c);
        }
    }
    Ok(Value::from(out))
}

/// None for what is no method of a list or a tuple.
pub fn call_of_list(
    state: &State,
    values: &Value,
    method: &str,
    args: &[Value],
) -> Result<Option<Value>, Error> {
    match method {
        "count" | "index" => {
            let (wanted,): (&Value,) = from_args(args)?;
            let mut found = 0_usize;
            for (i, value) in values.try_iter()?.enumerate() {
                state.consume_fuel(1)?;
                if value == *wanted {
                    if method == "index" {
                        return Ok(Some(Value::from(i)));
                    }
                    found += 1;
                }
            }
            if method == "index" {
                return Err(wrong("the value is not in the list"));
            }
            Ok(Some(Value::from(found)))
        }
        "copy" if values.kind() == ValueKind::Seq && !values.is_tuple() => {
            let (): () = from_args(args)?;
            Ok(Some(Value::from(values.try_iter()?.collect::<Vec<_>>())))
        }
        _ => Ok(None),
    }
}
