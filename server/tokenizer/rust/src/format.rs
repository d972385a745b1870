//! Python's `'%s' % value` and `'{}'.format(value)`. Numbers are formatted by minijinja; how long a
//! result may get is known before it is made.

use minijinja::formatting::{self, FormatStyle};
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

use crate::python::{self, MAX_OUTPUT_BYTES};

fn wrong(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
}

/// A field's format, as both styles have it.
#[derive(Default)]
struct Spec {
    fill: Option<char>,
    /// `<`, `>`, `^` or `=`.
    align: Option<char>,
    /// `+`, `-` or a blank.
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Spec {
    /// Pays for what the field takes before it is made.
    fn pay(&self, state: &State) -> Result<(), Error> {
        let size = self.width.saturating_add(self.precision.unwrap_or(0));
        if size > MAX_OUTPUT_BYTES {
            return Err(python::too_large("a field's width"));
        }
        state.consume_fuel(1 + size as u64 / 64)
    }

    fn text(&self, text: &str, align: char) -> String {
        let kept = self.precision.unwrap_or(usize::MAX);
        let text: String = text.chars().take(kept).collect();
        let missing = self.width.saturating_sub(text.chars().count());
        let left = match self.align.unwrap_or(align) {
            '<' => 0,
            '^' => missing / 2,
            _ => missing,
        };
        let fill = self.fill.unwrap_or(if self.zero && self.align.is_none() { '0' } else { ' ' });
        let fill = |count: usize| std::iter::repeat(fill).take(count);
        fill(left).chain(text.chars()).chain(fill(missing - left)).collect()
    }

    fn number(&self, value: &Value) -> Result<String, Error> {
        if self.kind == Some('%') {
            let hundredfold = Value::from(f64::try_from(value.clone())? * 100.0);
            let plain = Self { kind: Some('f'), width: 0, zero: false, ..*self };
            let text = plain.number(&hundredfold)? + "%";
            return Ok(Self { precision: None, ..*self }.text(&text, '>'));
        }
        if self.align == Some('=') {
            return Err(wrong("'=' in a format is not supported"));
        }
        let mut spec = String::from("{:");
        if let Some(align) = self.align {
            spec.extend(self.fill);
            spec.push(align);
        }
        spec.extend(self.sign);
        spec.push_str(if self.alternate { "#" } else { "" });
        spec.push_str(if self.zero && self.align.is_none() && self.width > 0 { "0" } else { "" });
        if self.width > 0 {
            spec.push_str(&self.width.to_string());
        }
        spec.extend(self.grouping);
        if let Some(precision) = self.precision {
            spec.push_str(&format!(".{precision}"));
        }
        spec.extend(self.kind);
        spec.push('}');
        formatting::format(FormatStyle::StrFormat, &spec, std::slice::from_ref(value))
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn next_if(&mut self, wanted: &str) -> Option<char> {
        let c = self.rest.chars().next().filter(|c| wanted.contains(*c))?;
        self.next();
        Some(c)
    }

    fn until(&mut self, end: &[char]) -> &'a str {
        let at = self.rest.find(end).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(at);
        self.rest = rest;
        text
    }

    fn number(&mut self) -> Result<Option<usize>, Error> {
        let at = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(at);
        self.rest = rest;
        if digits.is_empty() {
            return Ok(None);
        }
        digits.parse().map(Some).map_err(|_| python::too_large("a field's width"))
    }
}

/// The values of `'...' % values`.
struct Arguments<'a> {
    values: &'a Value,
    single: bool,
    next: usize,
}

impl Arguments<'_> {
    fn next(&mut self) -> Result<Value, Error> {
        let at = self.next;
        self.next += 1;
        let value = if self.single {
            (at == 0).then(|| self.values.clone())
        } else {
            self.values.get_item_by_index(at).ok().filter(|_| Some(at) < self.values.len())
        };
        value.ok_or_else(|| wrong("not enough arguments for format string"))
    }

    fn count(&mut self) -> Result<usize, Error> {
        let value = self.next()?;
        usize::try_from(value).map_err(|_| wrong("* wants a number"))
    }

    fn are_used(&self) -> bool {
        let mapping =
            matches!(self.values.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Undefined)
                && self.single;
        mapping || Some(self.next) >= if self.single { Some(1) } else { self.values.len() }
    }
}

/// `format % values`.
pub fn printf(state: &State, format: &str, values: &Value) -> Result<String, Error> {
    let mut arguments = Arguments { values, single: !values.is_tuple(), next: 0 };
    let mut reader = Reader { rest: format };
    let mut out = String::new();
    loop {
        out.push_str(reader.until(&['%']));
        if reader.next().is_none() {
            break;
        }
        if reader.next_if("%").is_some() {
            out.push('%');
            continue;
        }
        let key = match reader.next_if("(") {
            Some(_) => {
                let key = reader.until(&[')']);
                reader.next().ok_or_else(|| wrong("incomplete format key"))?;
                if values.kind() != ValueKind::Map {
                    return Err(wrong("format requires a mapping"));
                }
                Some(Value::from(key))
            }
            None => None,
        };
        let spec = printf_spec(&mut reader, &mut arguments)?;
        spec.pay(state)?;
        let value = match key {
            Some(key) => {
                arguments.next = arguments.next.max(1);
                let value = values.get_item(&key)?;
                Some(value).filter(|v| !v.is_undefined()).ok_or_else(|| wrong("no such key"))?
            }
            None => arguments.next()?,
        };
        out.push_str(&printf_field(state, spec, &value)?);
        python::check_size(&out, "a formatted text")?;
    }
    if !arguments.are_used() {
        return Err(wrong("not all arguments converted during string formatting"));
    }
    Ok(out)
}

fn printf_spec(reader: &mut Reader, arguments: &mut Arguments) -> Result<Spec, Error> {
    let mut spec = Spec::default();
    while let Some(flag) = reader.next_if("#0- +") {
        match flag {
            '#' => spec.alternate = true,
            '0' => spec.zero = true,
            '-' => spec.align = Some('<'),
            ' ' => spec.sign = spec.sign.or(Some(' ')),
            _ => spec.sign = Some('+'),
        }
    }
    spec.width = match reader.next_if("*") {
        Some(_) => arguments.count()?,
        None => reader.number()?.unwrap_or(0),
    };
    if reader.next_if(".").is_some() {
        spec.precision = Some(match reader.next_if("*") {
            Some(_) => arguments.count()?,
            None => reader.number()?.unwrap_or(0),
        });
    }
    while reader.next_if("hlL").is_some() {}
    spec.kind = reader.next();
    Ok(spec)
}

fn printf_field(state: &State, mut spec: Spec, value: &Value) -> Result<String, Error> {
    match spec.kind {
        Some('s' | 'r') => {
            let text = if spec.kind == Some('s') {
                python::text(state, value)?
            } else {
                python::repr_text(state, value)?
            };
            spec.zero = false;
            Ok(spec.text(&text, '>'))
        }
        Some('c') => {
            let text = match value.as_str() {
                Some(text) if text.chars().count() == 1 => text.to_owned(),
                Some(_) => return Err(wrong("%c requires int or char")),
                None => u32::try_from(value.clone())
                    .ok()
                    .and_then(char::from_u32)
                    .ok_or_else(|| wrong("%c requires int or char"))?
                    .to_string(),
            };
            Ok(Spec { precision: None, zero: false, ..spec }.text(&text, '>'))
        }
        Some('d' | 'i' | 'u') => {
            let whole = whole(value).ok_or_else(|| wrong("%d format: a number is required"))?;
            spec.kind = Some('d');
            printf_integer(spec, whole)
        }
        Some('x' | 'X' | 'o') if value.is_integer() || value.kind() == ValueKind::Bool => {
            let whole = whole(value).ok_or_else(|| wrong("the number is too large"))?;
            printf_integer(spec, whole)
        }
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G') if is_number(value) => {
            let number = whole(value).filter(|_| value.kind() == ValueKind::Bool);
            let number = match number {
                Some(number) => number as f64,
                None => f64::try_from(value.clone())?,
            };
            spec.number(&Value::from(number))
        }
        Some('x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G') => {
            Err(wrong("a number is required"))
        }
        Some(c) => Err(wrong(format!("unsupported format character '{c}'"))),
        None => Err(wrong("incomplete format")),
    }
}

/// The precision of an integer is its least number of digits.
fn printf_integer(mut spec: Spec, whole: i128) -> Result<String, Error> {
    let Some(digits) = spec.precision.take() else { return spec.number(&Value::from(whole)) };
    let plain = Spec { kind: spec.kind, alternate: spec.alternate, ..Spec::default() };
    let number = plain.number(&Value::from(whole.abs()))?;
    let sign = match (whole < 0, spec.sign) {
        (true, _) => "-".to_owned(),
        (false, Some(sign)) => sign.to_string(),
        (false, None) => String::new(),
    };
    let zeros = "0".repeat(digits.saturating_sub(number.len()));
    spec.zero = false;
    Ok(spec.text(&format!("{sign}{zeros}{number}"), '>'))
}

fn is_number(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
}

/// A number without its fraction.
fn whole(value: &Value) -> Option<i128> {
    match value.kind() {
        ValueKind::Bool => Some(i128::from(value.is_true())),
        ValueKind::Number if value.is_integer() => i128::try_from(value.clone()).ok(),
        ValueKind::Number => {
            let number = f64::try_from(value.clone()).ok()?.trunc();
            (number.abs() < 1e38).then_some(number as i128)
        }
        _ => None,
    }
}

/// `a % b`, of numbers or with a text to format on the left.
pub fn remainder(state: &State, a: &Value, b: &Value) -> Result<Value, Error> {
    if let Some(format) = a.as_str() {
        return printf(state, format, b).map(Value::from);
    }
    let exact = |value: &Value| {
        (value.kind() == ValueKind::Bool || value.is_integer()).then(|| whole(value))
    };
    if let (Some(Some(a)), Some(Some(b))) = (exact(a), exact(b)) {
        let result = a.checked_rem(b).ok_or_else(|| wrong("integer modulo by zero"))?;
        let result = if result != 0 && (result < 0) != (b < 0) { result + b } else { result };
        return Ok(Value::from(result));
    }
    if !is_number(a) || !is_number(b) {
        return Err(wrong(format!("unsupported operands for %: {} and {}", a.kind(), b.kind())));
    }
    let float = |value: &Value| match exact(value).flatten() {
        Some(whole) => Ok(whole as f64),
        None => f64::try_from(value.clone()),
    };
    let (a, b) = (float(a)?, float(b)?);
    if b == 0.0 {
        return Err(wrong("float modulo by zero"));
    }
    let result = a % b;
    Ok(Value::from(if result == 0.0 {
        0.0_f64.copysign(b)
    } else if (result < 0.0) != (b < 0.0) {
        result + b
    } else {
        result
    }))
}

/// `format.format(*positional, **named)`.
pub struct Fields<'a> {
    pub positional: &'a [Value],
    pub named: &'a Kwargs,
}

/// Which field comes next where none says its number.
enum Numbering {
    None,
    Automatic(usize),
    Manual,
}

impl Fields<'_> {
    pub fn format(&self, state: &State, format: &str) -> Result<String, Error> {
        self.replaced(state, format, &mut Numbering::None, 2)
    }

    /// `depth`: a field's format may hold fields, theirs may not.
    fn replaced(
        &self,
        state: &State,
        format: &str,
        numbers: &mut Numbering,
        depth: usize,
    ) -> Result<String, Error> {
        if depth == 0 {
            return Err(wrong("Max string recursion exceeded"));
        }
        let mut reader = Reader { rest: format };
        let mut out = String::new();
        loop {
            out.push_str(reader.until(&['{', '}']));
            python::check_size(&out, "a formatted text")?;
            match reader.next() {
                None => return Ok(out),
                Some('{') if reader.next_if("{").is_some() => out.push('{'),
                Some('}') if reader.next_if("}").is_some() => out.push('}'),
                Some('{') => {
                    let field = field(&mut reader)?;
                    out.push_str(&self.field(state, field, numbers, depth)?);
                }
                Some(_) => return Err(wrong("Single '}' encountered in format string")),
            }
        }
    }

    fn field(
        &self,
        state: &State,
        field: &str,
        numbers: &mut Numbering,
        depth: usize,
    ) -> Result<String, Error> {
        let end = end_of_name(field);
        let (name, rest) = field.split_at(end);
        // Before the fields of its format, which count on from it.
        let value = self.value(name, numbers)?;
        let mut reader = Reader { rest };
        let conversion = match reader.next_if("!") {
            Some(_) => Some(reader.next().ok_or_else(|| wrong("unmatched '{' in format spec"))?),
            None => None,
        };
        let spec = match reader.next() {
            None => String::new(),
            Some(':') if reader.rest.contains(['{', '}']) => {
                self.replaced(state, reader.rest, numbers, depth - 1)?
            }
            Some(':') => reader.rest.to_owned(),
            Some(_) => return Err(wrong("expected ':' after conversion specifier")),
        };
        let value = match conversion {
            None => value,
            Some('s') => Value::from(python::text(state, &value)?),
            Some('r') => Value::from(python::repr_text(state, &value)?),
            Some(c) => return Err(wrong(format!("Unknown conversion specifier {c}"))),
        };
        formatted(state, &value, &spec)
    }

    fn value(&self, name: &str, numbers: &mut Numbering) -> Result<Value, Error> {
        let mut reader = Reader { rest: name };
        let first = reader.until(&['.', '[']);
        let at = match (first, &*numbers) {
            ("", Numbering::None) => Some(0),
            ("", Numbering::Automatic(next)) => Some(*next),
            ("", Numbering::Manual) => return Err(wrong("cannot switch to automatic numbering")),
            (digits, _) => digits.parse::<usize>().ok(),
        };
        match (first, at, &*numbers) {
            ("", Some(at), _) => *numbers = Numbering::Automatic(at + 1),
            (_, Some(_), Numbering::Automatic(_)) => {
                return Err(wrong("cannot switch to manual numbering"))
            }
            (_, Some(_), _) => *numbers = Numbering::Manual,
            _ => {}
        }
        let mut value = match at {
            Some(at) => self.positional.get(at).cloned(),
            None => self.named.peek::<Value>(first).ok(),
        }
        .ok_or_else(|| wrong(format!("no argument for the field {first:?}")))?;
        while let Some(sign) = reader.next() {
            value = if sign == '.' {
                value.get_attr(reader.until(&['.', '[']))?
            } else {
                let key = reader.until(&[']']);
                reader.next();
                let index = key.parse::<usize>().map(Value::from);
                value.get_item(&index.unwrap_or_else(|_| Value::from(key)))?
            };
            if value.is_undefined() {
                return Err(wrong("a field names what is not there"));
            }
        }
        Ok(value)
    }
}

fn formatted(state: &State, value: &Value, format: &str) -> Result<String, Error> {
    if format.is_empty() {
        return python::text(state, value);
    }
    let spec = format_spec(format)?;
    spec.pay(state)?;
    match (value.as_str(), value.kind()) {
        (Some(text), _) if matches!(spec.kind, None | Some('s')) => {
            if spec.sign.is_some() || spec.grouping.is_some() || spec.align == Some('=') {
                return Err(wrong("the format is not one of a text"));
            }
            Ok(spec.text(text, '<'))
        }
        (None, ValueKind::Number) => spec.number(value),
        (None, ValueKind::Bool) => spec.number(&Value::from(u8::from(value.is_true()))),
        (_, kind) => Err(wrong(format!("a {kind} cannot be formatted as {format:?}"))),
    }
}

/// What stands before the bracket that closes a field.
fn field<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Error> {
    let whole = reader.rest;
    let mut depth = 1_usize;
    while let Some(c) = reader.next() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(&whole[..whole.len() - reader.rest.len() - 1]);
        }
    }
    Err(wrong("expected '}' before end of string"))
}

/// A `:` or `!` between brackets belongs to the name.
fn end_of_name(field: &str) -> usize {
    let mut inside = false;
    for (at, c) in field.char_indices() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            ':' | '!' if !inside => return at,
            _ => {}
        }
    }
    field.len()
}

fn format_spec(format: &str) -> Result<Spec, Error> {
    let mut spec = Spec::default();
    let mut reader = Reader { rest: format };
    let mut chars = format.chars();
    let (first, second) = (chars.next(), chars.next());
    if second.is_some_and(|c| "<>^=".contains(c)) {
        (spec.fill, spec.align) = (first, second);
        reader.next();
        reader.next();
    } else {
        spec.align = reader.next_if("<>^=");
    }
    spec.sign = reader.next_if("+- ");
    spec.alternate = reader.next_if("#").is_some();
    spec.zero = reader.next_if("0").is_some();
    spec.width = reader.number()?.unwrap_or(0);
    spec.grouping = reader.next_if(",_");
    if reader.next_if(".").is_some() {
        spec.precision =
            Some(reader.number()?.ok_or_else(|| wrong("Format specifier missing precision"))?);
    }
    spec.kind = reader.next();
    if !reader.rest.is_empty() {
        return Err(wrong("Invalid format specifier"));
    }
    Ok(spec)
}
