//! The Jinja environment of apply_chat_template: minijinja, taught Python where the two differ.

use minijinja::value::{from_args, Kwargs, Rest, Tuple, Value, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State};
use minijinja_contrib::pycompat;

use crate::date::Date;
use crate::python::{self, Ends, Json};
use crate::template_source::GENERATION;

/// One unit pays for an instruction or 64 bytes.
const FUEL: u64 = 2_000_000;
const RECURSION: usize = 200;

/// An empty text marked safe. minijinja joins a safe and an unsafe operand of `~` through our
/// formatter, which bounds how much a list of lists may print; two unsafe ones it prints unbounded.
pub const BLANK: &str = "__blank";

/// The pinned date is passed as a template variable under this name.
pub const DATE: &str = "__date";

pub fn create() -> Result<Environment<'static>, Error> {
    let mut env = Environment::new();
    let syntax =
        minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    env.set_syntax(syntax);
    // Nothing is escaped: our formatter writes text as it is. But see BLANK.
    env.set_auto_escape_callback(|_| AutoEscape::Custom("text".into()));
    env.set_fuel(Some(FUEL));
    env.set_recursion_limit(RECURSION);
    env.set_unknown_method_callback(call_method);
    env.set_formatter(|out, state, value| {
        if value.is_undefined() {
            return Ok(());
        }
        match value.as_str() {
            Some(text) => out.write_str(text)?,
            None => out.write_str(&python::text(state, value)?)?,
        }
        Ok(())
    });
    minijinja_contrib::add_to_environment(&mut env);
    env.add_global(BLANK, Value::from_safe_string(String::new()));
    add_filters(&mut env);
    add_text_filters(&mut env);
    add_tests(&mut env);
    add_functions(&mut env);
    Ok(env)
}

fn add_filters(env: &mut Environment) {
    env.add_filter("tojson", to_json);
    env.add_filter("indent", indent);
    env.add_filter("trim", |state: &mut State, value: &Value, chars: Option<&str>| {
        let text = python::text(state, value)?;
        let both = Ends { left: true, right: true };
        Ok::<_, Error>(Value::from(python::strip(&text, chars, both)))
    });
    env.add_filter("pprint", |state: &mut State, value: &Value| python::repr_text(state, value));
    env.add_filter("string", |state: &mut State, value: &Value| {
        if value.is_undefined() {
            return Ok(Value::from(""));
        }
        python::text(state, value).map(Value::from)
    });
}

/// The filters that turn any value into text, with a bound on what a list of lists turns into.
fn add_text_filters(env: &mut Environment) {
    env.add_filter("upper", |state: &mut State, value: &Value| {
        python::text(state, value).map(|text| text.to_uppercase())
    });
    env.add_filter("lower", |state: &mut State, value: &Value| {
        python::text(state, value).map(|text| text.to_lowercase())
    });
    env.add_filter("capitalize", |state: &mut State, value: &Value| {
        python::text(state, value).map(|text| python::capitalize(&text))
    });
    env.add_filter("replace", |state: &mut State, args: Rest<Value>| {
        let (value, old, new, count): (&Value, &Value, &Value, Option<i64>) = from_args(&args)?;
        let [text, old, new] = [value, old, new].map(|v| python::text(state, v));
        let (text, old, new) = (text?, old?, new?);
        let count = count.and_then(|c| usize::try_from(c).ok()).unwrap_or(usize::MAX);
        let matches = (text.len() / old.len().max(1) + 1).min(count) as u64;
        state.consume_fuel(matches.saturating_mul(new.len() as u64) / 64)?;
        Ok::<_, Error>(text.replacen(&old, &new, count))
    });
    env.add_filter("join", join);
    for name in ["escape", "e"] {
        env.add_filter(name, |state: &mut State, value: &Value| {
            let text = python::text(state, value)?;
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            Ok::<_, Error>(text.replace('\'', "&#39;").replace('"', "&#34;"))
        });
    }
}

fn join(state: &mut State, args: Rest<Value>) -> Result<String, Error> {
    let (values, separator, attribute, kwargs): (&Value, Option<&Value>, Option<&str>, Kwargs) =
        from_args(&args)?;
    let separator = match separator {
        Some(separator) => python::text(state, separator)?,
        None => kwargs.get::<Option<String>>("d")?.unwrap_or_default(),
    };
    let attribute = attribute.or(kwargs.get("attribute")?);
    kwargs.assert_all_used()?;
    let mut out = String::new();
    for (i, value) in values.try_iter()?.enumerate() {
        let value = match attribute {
            Some(attribute) => value.get_attr(attribute)?,
            None => value,
        };
        let text = if value.is_undefined() { String::new() } else { python::text(state, &value)? };
        state.consume_fuel(1 + (text.len() + separator.len()) as u64 / 64)?;
        if i > 0 {
            out.push_str(&separator);
        }
        out.push_str(&text);
    }
    Ok(out)
}

fn add_tests(env: &mut Environment) {
    env.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    // Whatever has a length and takes an index: strings and mappings too.
    env.add_test("sequence", |value: &Value| match value.kind() {
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map => true,
        ValueKind::Iterable => value.len().is_some(),
        _ => false,
    });
    env.add_test("number", |value: &Value| {
        matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
    });
    env.add_test("callable", |value: &Value| value.kind() == ValueKind::Plain);
}

fn add_functions(env: &mut Environment) {
    env.add_function("raise_exception", |message: &Value| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "").with_source(Refusal(message.to_string())))
    });
    env.add_function("strftime_now", |state: &mut State, format: &str| {
        let date = state.lookup(DATE).and_then(|date| Date::parse(date.as_str()?));
        date.map(|date| date.format(format))
            .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "the date is not set"))
    });
    env.add_function(GENERATION, |state: &mut State, kwargs: Kwargs| {
        let caller: Value = kwargs.get("caller")?;
        caller.call(state, &[])
    });
}

/// What a template says through raise_exception.
#[derive(Debug)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

fn to_json(state: &mut State, args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let args = args.into_values();
    let (value, kwargs): (&Value, Kwargs) = match from_args(&args) {
        Ok(parsed) => parsed,
        // tojson(ensure_ascii, indent) by position.
        Err(_) => {
            let (value, ascii, indent): (&Value, Option<bool>, Option<Value>) = from_args(&args)?;
            return dump(state, value, ascii, indent, None, None);
        }
    };
    let ascii = kwargs.get("ensure_ascii")?;
    let indent = kwargs.get("indent")?;
    let separators = kwargs.get("separators")?;
    let sort_keys = kwargs.get("sort_keys")?;
    kwargs.assert_all_used()?;
    dump(state, value, ascii, indent, separators, sort_keys)
}

fn dump(
    state: &State,
    value: &Value,
    ensure_ascii: Option<bool>,
    indent: Option<Value>,
    separators: Option<Value>,
    sort_keys: Option<bool>,
) -> Result<Value, Error> {
    let indent = match indent.filter(|i| !i.is_none()) {
        Some(text) if text.as_str().is_some() => Some(text.to_string()),
        Some(width) => {
            Some(" ".repeat(usize::try_from(i64::try_from(width)?.clamp(0, 64)).unwrap_or(0)))
        }
        None => None,
    };
    let mut json = Json {
        ensure_ascii: ensure_ascii.unwrap_or(false),
        item_separator: if indent.is_some() { "," } else { ", " }.to_owned(),
        key_separator: ": ".to_owned(),
        indent,
        sort_keys: sort_keys.unwrap_or(false),
    };
    if let Some(pair) = separators.filter(|s| !s.is_none()) {
        json.item_separator = pair.get_item_by_index(0)?.to_string();
        json.key_separator = pair.get_item_by_index(1)?.to_string();
    }
    json.dump(state, value).map(Value::from)
}

fn indent(state: &mut State, args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let args = args.into_values();
    let (value, width, first, blank, kwargs): (
        &Value,
        Option<Value>,
        Option<bool>,
        Option<bool>,
        Kwargs,
    ) = from_args(&args)?;
    let width = width.or(kwargs.get("width")?);
    let first = first.or(kwargs.get("first")?).unwrap_or(false);
    let blank = blank.or(kwargs.get("blank")?).unwrap_or(false);
    kwargs.assert_all_used()?;
    let indention = match width {
        None => " ".repeat(4),
        Some(text) if text.as_str().is_some() => text.to_string(),
        Some(width) => {
            " ".repeat(usize::try_from(i64::try_from(width)?.clamp(0, 1024)).unwrap_or(0))
        }
    };
    let text = python::text(state, value)?;
    // Paid for before it grows: the indention may be repeated once a byte.
    let lines = 1 + text.len() as u64;
    state.consume_fuel(lines.saturating_mul(indention.len() as u64) / 64)?;
    Ok(Value::from(python::indent(&text, &indention, first, blank)))
}

fn list<'a>(parts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::from(parts.into_iter().map(Value::from).collect::<Vec<_>>())
}

fn call_method(
    state: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        // A method may read the whole text without making any.
        state.consume_fuel(text.len() as u64 / 256)?;
        if method == "join" {
            let (values,): (Value,) = from_args(args)?;
            return join(state, Rest(vec![values, value.clone()])).map(Value::from);
        }
        if let Some(result) = string_method(text, method, args)? {
            return Ok(result);
        }
    }
    pycompat::unknown_method_callback(state, value, method, args)
}

/// None for a method that is not redefined here.
fn string_method(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    let strip = |ends: Ends| -> Result<Value, Error> {
        let (chars,): (Option<&str>,) = from_args(args)?;
        Ok(Value::from(python::strip(text, chars, ends)))
    };
    let separator_and_limit = || -> Result<(Option<String>, i64), Error> {
        let (separator, limit, kwargs): (Option<String>, Option<i64>, Kwargs) = from_args(args)?;
        let separator = separator.or(kwargs.peek("sep").ok());
        if separator.as_deref() == Some("") {
            return Err(Error::new(ErrorKind::InvalidOperation, "empty separator"));
        }
        Ok((separator, limit.or(kwargs.peek("maxsplit").ok()).unwrap_or(-1)))
    };
    let around = |at: Option<usize>, separator: &str, whole_first: bool| {
        let parts = match at {
            Some(at) => [&text[..at], separator, &text[at + separator.len()..]],
            None if whole_first => [text, "", ""],
            None => ["", "", text],
        };
        Value::from(Tuple::from(parts.map(Value::from)))
    };
    let result = match method {
        "strip" => strip(Ends { left: true, right: true })?,
        "lstrip" => strip(Ends { left: true, right: false })?,
        "rstrip" => strip(Ends { left: false, right: true })?,
        "split" => {
            let (separator, limit) = separator_and_limit()?;
            list(python::split(text, separator.as_deref(), limit))
        }
        "rsplit" => {
            let (separator, limit) = separator_and_limit()?;
            list(python::rsplit(text, separator.as_deref(), limit))
        }
        "splitlines" => {
            let (keep, kwargs): (Option<bool>, Kwargs) = from_args(args)?;
            let keep = keep.or(kwargs.peek("keepends").ok()).unwrap_or(false);
            list(python::split_lines(text, keep))
        }
        "partition" => {
            let (separator,): (&str,) = from_args(args)?;
            around(text.find(separator), separator, true)
        }
        "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            around(text.rfind(separator), separator, false)
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "title" => Value::from(python::title(text)),
        _ => return Ok(None),
    };
    Ok(Some(result))
}
