//! Operators of a template's tags in terms that minijinja treats as jinja2 does: `%` formats text as
//! well, `~` has a bound, and a loop over None fails.

use crate::environment::{BLANK, EACH, REMAINDER};

/// A tag, `{{ ... }}` or `{% ... %}`, with these operators replaced.
pub fn rewritten(tag: &str) -> String {
    let inner = &tag[2..tag.len() - 2];
    let body = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    let open = 2 + inner.len() - body.len();
    let body = body.strip_suffix(['-', '+']).unwrap_or(body);
    let tokens = tokens(body);
    let mut writer = Writer::new(tag.starts_with("{%"), &tokens);
    for token in &tokens {
        writer.write(token);
    }
    format!("{}{}{}", &tag[..open], writer.finish(), &tag[open + body.len()..])
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Blank,
    Name,
    /// A number or a quoted text.
    Literal,
    Sign,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

/// The last byte of the quoted text that begins at `at`.
pub fn end_of_quoted(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != bytes[at] {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    end
}

fn tokens(mut text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    while let Some(first) = text.chars().next() {
        let while_any = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
        let (kind, length) = match first {
            '\'' | '"' => {
                let end = end_of_quoted(text.as_bytes(), 0) + 1;
                (Kind::Literal, end.min(text.len()))
            }
            c if c.is_whitespace() => (Kind::Blank, while_any(char::is_whitespace)),
            c if c.is_ascii_digit() => (Kind::Literal, end_of_number(text)),
            c if c.is_alphanumeric() || c == '_' => {
                (Kind::Name, while_any(|c| c.is_alphanumeric() || c == '_'))
            }
            _ => {
                let two = ["**", "//", "==", "!=", "<=", ">="].iter().any(|s| text.starts_with(s));
                (Kind::Sign, if two { 2 } else { first.len_utf8() })
            }
        };
        found.push(Token { kind, text: &text[..length] });
        text = &text[length..];
    }
    found
}

/// `1.real` is no number with a fraction, `1e-3` one with an exponent.
fn end_of_number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        let exponent = matches!(bytes[..end].last(), Some(b'e' | b'E')) && !text.starts_with("0x");
        let part = byte.is_ascii_alphanumeric()
            || *byte == b'_'
            || (*byte == b'.' && digit(end + 1))
            || (matches!(byte, b'-' | b'+') && exponent && digit(end + 1));
        if !part {
            break;
        }
        end += 1;
    }
    end
}

/// What stands between two brackets, or in the whole tag.
#[derive(Default)]
struct Level {
    done: String,
    /// Operands of `*`, `/`, `//` and `%`, which bind alike, from the left.
    chain: String,
    /// The left operand of a `%` whose right one `chain` is.
    left: Option<String>,
}

impl Level {
    fn end_remainder(&mut self) {
        let Some(left) = self.left.take() else { return };
        let right = std::mem::take(&mut self.chain);
        let operand = left.trim_start();
        let before = &left[..left.len() - operand.len()];
        let after = &right[right.trim_end().len()..];
        self.chain =
            format!("{before}{REMAINDER}({}, {}){after}", operand.trim_end(), right.trim());
    }

    fn end_chain(&mut self) {
        self.end_remainder();
        self.done.push_str(&std::mem::take(&mut self.chain));
    }
}

/// Of `for ... in ITERABLE if ... recursive`: what comes next.
#[derive(PartialEq)]
enum Loop {
    In,
    End,
    Nothing,
}

struct Writer<'a> {
    outer: Vec<Level>,
    level: Level,
    /// The last two tokens that are no blanks.
    last: [Option<Token<'a>>; 2],
    of_loop: Loop,
}

impl<'a> Writer<'a> {
    fn new(statement: bool, tokens: &[Token<'a>]) -> Self {
        let first = tokens.iter().find(|t| t.kind != Kind::Blank);
        let is_loop = statement && first.is_some_and(|t| t.text == "for");
        Self {
            outer: Vec::new(),
            level: Level::default(),
            last: [None, None],
            of_loop: if is_loop { Loop::In } else { Loop::Nothing },
        }
    }

    fn write(&mut self, token: &Token<'a>) {
        match token.kind {
            Kind::Blank => {
                self.level.chain.push_str(token.text);
                return;
            }
            Kind::Name if self.is_keyword(token.text) => self.keyword(token.text),
            Kind::Name | Kind::Literal => self.level.chain.push_str(token.text),
            Kind::Sign => self.sign(token.text),
        }
        self.last = [self.last[1], Some(*token)];
    }

    /// Names of attributes and of tests may be those of operators.
    fn is_keyword(&self, name: &str) -> bool {
        let last = |at: usize| self.last[at].map_or("", |token| token.text);
        let of_test = last(1) == "is" || (last(0) == "is" && last(1) == "not");
        matches!(name, "and" | "or" | "not" | "in" | "if" | "else" | "elif" | "recursive")
            && last(1) != "."
            && !of_test
    }

    fn keyword(&mut self, name: &str) {
        self.level.end_chain();
        let top = self.outer.is_empty();
        if top && self.of_loop == Loop::End && matches!(name, "if" | "recursive") {
            self.end_iterable();
        }
        self.level.done.push_str(name);
        if top && self.of_loop == Loop::In && name == "in" {
            self.level.done.push_str(&format!(" {EACH}(("));
            self.of_loop = Loop::End;
        }
    }

    fn end_iterable(&mut self) {
        let kept = self.level.done.trim_end().len();
        self.level.done.insert_str(kept, "))");
        self.of_loop = Loop::Nothing;
    }

    fn sign(&mut self, sign: &str) {
        match sign {
            "(" | "[" | "{" => {
                self.level.chain.push_str(sign);
                self.outer.push(std::mem::take(&mut self.level));
            }
            ")" | "]" | "}" => {
                if let Some(outer) = self.outer.pop() {
                    let inner = std::mem::replace(&mut self.level, outer);
                    self.level.chain.push_str(&finished(inner));
                }
                self.level.chain.push_str(sign);
            }
            "%" => {
                self.level.end_remainder();
                self.level.left = Some(std::mem::take(&mut self.level.chain));
            }
            "*" | "/" | "//" => {
                self.level.end_remainder();
                self.level.chain.push_str(sign);
            }
            "-" | "+" if !self.after_operand() => self.level.chain.push_str(sign),
            "**" | "." | "|" => self.level.chain.push_str(sign),
            "~" => {
                self.level.end_chain();
                self.level.done.push_str(&format!("~ {BLANK} ~"));
            }
            _ => {
                self.level.end_chain();
                self.level.done.push_str(sign);
            }
        }
    }

    fn after_operand(&self) -> bool {
        self.last[1].is_some_and(|token| match token.kind {
            Kind::Sign => matches!(token.text, ")" | "]" | "}"),
            Kind::Name => {
                !matches!(token.text, "and" | "or" | "not" | "in" | "if" | "else" | "elif")
            }
            _ => true,
        })
    }

    fn finish(mut self) -> String {
        while let Some(outer) = self.outer.pop() {
            let inner = std::mem::replace(&mut self.level, outer);
            self.level.chain.push_str(&finished(inner));
        }
        if self.of_loop == Loop::End {
            self.level.end_chain();
            self.end_iterable();
        }
        finished(self.level)
    }
}

fn finished(mut level: Level) -> String {
    level.end_chain();
    level.done
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn a_percent_sign_becomes_a_call_that_binds_as_it_does() {
        for (tag, expected) in [
            ("{{ 7 % 2 }}", "{{ __remainder(7, 2) }}"),
            (
                "{{- a - b % c * d % e + f -}}",
                "{{- a - __remainder(__remainder(b, c) * d, e) + f -}}",
            ),
            (
                "{{ '%s %d' % (x % 2, -y) | trim }}",
                "{{ __remainder('%s %d', (__remainder(x, 2), -y) | trim) }}",
            ),
            ("{% if not x.in % 2 == 0 %}", "{% if not __remainder(x.in, 2) == 0 %}"),
            (
                "{{ -a % 2 ** -1 if b else c % d }}",
                "{{ __remainder(-a, 2 ** -1) if b else __remainder(c, d) }}",
            ),
            ("{{ a % b is not in c }}", "{{ __remainder(a, b is not in c) }}"),
            ("{{ 1e-3 % x }}", "{{ __remainder(1e-3, x) }}"),
        ] {
            assert_eq!(rewritten(tag), expected);
        }
    }

    #[test]
    fn a_loop_asks_for_what_can_be_iterated_over() {
        for (tag, expected) in [
            ("{% for x in tools %}", "{% for x in __each(( tools)) %}"),
            (
                "{%- for a, b in f(x in y), 2 if a in b -%}",
                "{%- for a, b in __each(( f(x in y), 2)) if a in b -%}",
            ),
            ("{% for x in y recursive %}", "{% for x in __each(( y)) recursive %}"),
        ] {
            assert_eq!(rewritten(tag), expected);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for tag in
            ["{{ a['%'] . b ( c = 1 )[ :: -1] }}", "{% set x %}", "{% for %}", "{{}}", "{{ ) ( }}"]
        {
            assert_eq!(rewritten(tag), tag);
        }
    }
}
