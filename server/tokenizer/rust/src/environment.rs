//! The Jinja environment of apply_chat_template: minijinja, taught Python where the two differ.

use minijinja::value::{from_args, Kwargs, Rest, Tuple, Value, ValueKind, ValueOrKwargs};
use minijinja::{filters, AutoEscape, Environment, Error, ErrorKind, State};
use minijinja_contrib::pycompat;

use crate::date::Date;
use crate::format;
use crate::python::{self, Ends, Json};
use crate::template_source::GENERATION;
use crate::text_methods;

/// One unit pays for an instruction or 64 bytes.
const FUEL: u64 = 2_000_000;
const RECURSION: usize = 200;

/// An empty text marked safe. minijinja joins a safe and an unsafe operand of `~` through our
/// formatter, which bounds how much a list of lists may print; two unsafe ones it prints unbounded.
pub const BLANK: &str = "__blank";

/// The functions that stand for `%` and for what a loop goes over, see operators.
pub const REMAINDER: &str = "__remainder";
pub const EACH: &str = "__each";

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
    add_iterating_filters(&mut env);
    Ok(env)
}

/// minijinja takes None for an empty list, Python for a mistake. Its filters that make a generator do
/// not look at a value that is false.
fn add_iterating_filters(env: &mut Environment) {
    macro_rules! wrap {
        ($lazy:literal, $($name:literal: $filter:expr),* $(,)?) => {$(
            env.add_filter(concat!("__", $name), $filter);
            env.add_filter($name, |state: &mut State, args: Rest<ValueOrKwargs>| {
                let mut args = args.into_values();
                if let Some(value) = args.first_mut() {
                    if $lazy && !value.is_true() {
                        *value = Value::from(Vec::<Value>::new());
                    }
                    python::iterate(value)?;
                }
                state.apply_filter(concat!("__", $name), &args)
            });
        )*};
    }
    wrap!(
        true,
        "map": filters::map, "select": filters::select, "reject": filters::reject,
        "selectattr": filters::selectattr, "rejectattr": filters::rejectattr,
    );
    wrap!(
        false,
        "length": filters::length, "count": filters::length, "list": filters::list,
        "first": filters::first, "last": filters::last, "sort": filters::sort,
        "sum": filters::sum, "min": filters::min, "max": filters::max,
        "batch": filters::batch, "slice": filters::slice, "groupby": filters::groupby,
        "reverse": filters::reverse, "dictsort": filters::dictsort, "items": filters::items,
    );
    env.add_filter("__unique", filters::unique);
    env.add_filter("unique", |state: &mut State, args: Rest<ValueOrKwargs>| {
        let args = args.into_values();
        let (values, case_sensitive, kwargs): (&Value, Option<bool>, Kwargs) = from_args(&args)?;
        python::iterate(values)?;
        let Some(case_sensitive) = case_sensitive else {
            return state.apply_filter("__unique", &args);
        };
        kwargs.assert_all_used()?;
        let named = Kwargs::from_iter([("case_sensitive", Value::from(case_sensitive))]);
        state.apply_filter("__unique", &[values.clone(), named.into()])
    });
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
        python::replace(state, &text, &old, &new, count)
    });
    env.add_filter("join", join);
    env.add_filter("title", |state: &mut State, value: &Value| {
        python::text(state, value).map(|text| python::filter_title(&text))
    });
    env.add_filter("wordcount", |state: &mut State, value: &Value| {
        python::text(state, value).map(|text| python::word_count(&text))
    });
    env.add_filter("int", |value: &Value, args: Rest<ValueOrKwargs>| number(value, args, true));
    env.add_filter("float", |value: &Value, args: Rest<ValueOrKwargs>| number(value, args, false));
    env.add_filter("truncate", truncate);
    env.add_filter("center", |state: &mut State, value: &Value, width: Option<i64>| {
        let text = python::text(state, value)?;
        text_methods::call(state, &text, "center", &[Value::from(width.unwrap_or(80))])
            .map(Option::unwrap_or_default)
    });
    env.add_filter("format", |state: &mut State, args: Rest<ValueOrKwargs>| {
        let args = args.into_values();
        let (text, values) = args.split_first().ok_or(ErrorKind::MissingArgument)?;
        let named = values.last().filter(|last| last.is_kwargs());
        let values = match named {
            Some(named) if values.len() == 1 => named.clone(),
            Some(_) => return Err(Error::new(ErrorKind::InvalidOperation, "by place or by name")),
            None => Value::from(Tuple::from(values.to_vec())),
        };
        format::printf(state, &python::text(state, text)?, &values)
    });
    for name in ["escape", "e", "forceescape"] {
        env.add_filter(name, |state: &mut State, value: &Value| {
            let text = python::text(state, value)?;
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            Ok::<_, Error>(text.replace('\'', "&#39;").replace('"', "&#34;"))
        });
    }
}

fn join(state: &mut State, args: Rest<ValueOrKwargs>) -> Result<String, Error> {
    let args = args.into_values();
    let (values, separator, attribute, kwargs): (&Value, Option<&Value>, Option<&str>, Kwargs) =
        from_args(&args)?;
    let separator = match separator {
        Some(separator) => python::text(state, separator)?,
        None => kwargs.get::<Option<String>>("d")?.unwrap_or_default(),
    };
    let attribute = attribute.or(kwargs.get("attribute")?);
    kwargs.assert_all_used()?;
    let mut out = String::new();
    for (i, value) in python::iterate(values)?.enumerate() {
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

/// The int and float filters, whose default is what a failure gives.
fn number(value: &Value, args: Rest<ValueOrKwargs>, whole: bool) -> Result<Value, Error> {
    let args = args.into_values();
    let (default, base, kwargs): (Option<Value>, Option<u32>, Kwargs) = from_args(&args)?;
    let zero = if whole { Value::from(0) } else { Value::from(0.0) };
    let default = default.or(kwargs.get("default")?).unwrap_or(zero);
    let base = base.or(kwargs.get("base")?).unwrap_or(10);
    kwargs.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "a number of nothing"));
    }
    let text = value.as_str().map(|text| text.trim().replace('_', ""));
    let float = match &text {
        Some(text) => text.parse::<f64>().ok(),
        None if value.kind() == ValueKind::Bool => Some(f64::from(u8::from(value.is_true()))),
        None => f64::try_from(value.clone()).ok(),
    };
    if !whole {
        return Ok(float.map_or(default, Value::from));
    }
    let exact = match &text {
        Some(text) if (2..=36).contains(&base) => i128::from_str_radix(text, base).ok(),
        Some(_) => None,
        None if value.is_integer() => i128::try_from(value.clone()).ok(),
        None => None,
    };
    let cut = float.filter(|f| f.abs() < 1e38).map(|f| f.trunc() as i128);
    Ok(exact.or(cut).map_or(default, Value::from))
}

/// jinja2's truncate filter.
fn truncate(state: &mut State, args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    type Arguments<'a> = (&'a Value, Option<usize>, Option<bool>, Option<String>, Kwargs);
    let args = args.into_values();
    let (value, length, kill, end, kwargs): Arguments = from_args(&args)?;
    let length = length.or(kwargs.get("length")?).unwrap_or(255);
    let kill = kill.or(kwargs.get("killwords")?).unwrap_or(false);
    let end = end.or(kwargs.get("end")?).unwrap_or_else(|| "...".to_owned());
    let leeway = kwargs.get::<Option<usize>>("leeway")?.unwrap_or(5);
    kwargs.assert_all_used()?;
    let wrong = |what: &'static str| Error::new(ErrorKind::InvalidOperation, what);
    let count = python::iterate(value).ok().and_then(|_| value.len());
    let count = if value.is_undefined() { Some(0) } else { count };
    let count = count.ok_or_else(|| wrong("a value without a length"))?;
    let kept =
        length.checked_sub(end.chars().count()).ok_or_else(|| wrong("the end is too long"))?;
    if count <= length.saturating_add(leeway) {
        return Ok(value.clone());
    }
    let text = value.as_str().ok_or_else(|| wrong("no text"))?;
    state.consume_fuel(text.len() as u64 / 64)?;
    let cut: String = text.chars().take(kept).collect();
    let cut =
        if kill { cut.as_str() } else { cut.rsplit_once(' ').map_or(cut.as_str(), |(a, _)| a) };
    Ok(Value::from(format!("{cut}{end}")))
}

/// Python orders numbers, texts, lists and tuples, each among themselves.
fn order(a: &Value, b: &Value) -> Result<std::cmp::Ordering, Error> {
    let kind = |value: &Value| match value.kind() {
        ValueKind::Bool | ValueKind::Number => Some((ValueKind::Number, false)),
        ValueKind::String => Some((ValueKind::String, false)),
        ValueKind::Seq => Some((ValueKind::Seq, value.is_tuple())),
        _ => None,
    };
    match (kind(a), kind(b)) {
        (Some(left), Some(right)) if left == right => Ok(a.cmp(b)),
        _ => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("a {} and a {} have no order", a.kind(), b.kind()),
        )),
    }
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
    env.add_test("callable", |value: &Value| {
        matches!(value.kind(), ValueKind::Plain | ValueKind::Undefined)
    });
    for name in ["lower", "upper"] {
        env.add_test(name, move |state: &mut State, value: &Value| {
            let text =
                if value.is_undefined() { String::new() } else { python::text(state, value)? };
            let found = text_methods::call(state, &text, &format!("is{name}"), &[])?;
            Ok::<_, Error>(found.is_some_and(|found| found.is_true()))
        });
    }
    for (names, holds) in [
        (["lt", "lessthan", "<"], std::cmp::Ordering::is_lt as fn(std::cmp::Ordering) -> bool),
        (["le", "le", "<="], std::cmp::Ordering::is_le),
        (["gt", "greaterthan", ">"], std::cmp::Ordering::is_gt),
        (["ge", "ge", ">="], std::cmp::Ordering::is_ge),
    ] {
        for name in names {
            env.add_test(name, move |a: &Value, b: &Value| order(a, b).map(holds));
        }
    }
    let remains = |state: &State, value: &Value, divisor: &Value| {
        format::remainder(state, value, divisor).map(|rest| rest.is_true())
    };
    env.add_test("divisibleby", move |state: &mut State, value: &Value, by: &Value| {
        remains(state, value, by).map(|rest| !rest)
    });
    env.add_test("even", move |state: &mut State, value: &Value| {
        remains(state, value, &Value::from(2)).map(|rest| !rest)
    });
    env.add_test("odd", move |state: &mut State, value: &Value| {
        Ok::<_, Error>(format::remainder(state, value, &Value::from(2))? == Value::from(1))
    });
}

fn add_functions(env: &mut Environment) {
    env.add_function("raise_exception", |message: &Value| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "").with_source(Refusal(message.to_string())))
    });
    env.add_function(REMAINDER, |state: &mut State, a: &Value, b: &Value| {
        format::remainder(state, a, b)
    });
    env.add_function(EACH, |value: Value| python::iterate(&value).map(|_| value));
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
    if value.as_str().is_none() {
        return Err(Error::new(ErrorKind::InvalidOperation, "only a text can be indented"));
    }
    let text = python::text(state, value)?;
    // Paid for before it grows: the indention may be repeated once a byte.
    let lines = 1 + text.len() as u64;
    state.consume_fuel(lines.saturating_mul(indention.len() as u64) / 64)?;
    Ok(Value::from(python::indent(&text, &indention, first, blank)))
}

fn call_method(
    state: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let found = if let Some(text) = value.as_str() {
        // A method may read the whole text without making any.
        state.consume_fuel(text.len() as u64 / 256)?;
        text_methods::call(state, text, method, args)?
    } else if value.kind() == ValueKind::Seq {
        text_methods::call_of_list(state, value, method, args)?
    } else {
        None
    };
    match found {
        Some(result) => Ok(result),
        None => pycompat::unknown_method_callback(state, value, method, args),
    }
}
