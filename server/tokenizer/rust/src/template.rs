//! A chat template of a checkpoint, which is not to be trusted: parsed and rendered on a thread
//! with a large stack, with fuel, a recursion limit and an output limit.

use std::io;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;

use minijinja::value::Value;
use minijinja::{Environment, ErrorKind};

use crate::date::Date;
use crate::environment::{self, Refusal, DATE};
use crate::error::{Error, Result};
use crate::python::MAX_OUTPUT_BYTES;
use crate::template_source::TemplateSource;

/// The parser and the printer recurse; the limits of TemplateSource fit into this.
const STACK_BYTES: usize = 192 << 20;
const NAME: &str = "chat_template";
const RESTORE: &str = "restore the chat template that was published with the model";

pub struct Message {
    pub role: String,
    pub content: String,
}

pub struct Template {
    file: String,
    environment: Environment<'static>,
    /// bos_token and the like: name, contents, whether it is a list.
    variables: Vec<(String, Vec<String>, bool)>,
}

impl Template {
    pub fn compile(
        source: &TemplateSource,
        variables: Vec<(String, Vec<String>, bool)>,
    ) -> Result<Self> {
        source.check_limits()?;
        let text = source.prepared();
        let compiled = on_large_stack(|| {
            let mut environment = environment::create()?;
            environment.add_template_owned(NAME, text)?;
            Ok::<_, minijinja::Error>(environment)
        })?;
        let environment = compiled.map_err(|e| {
            Error::folder(
                "TEMPLATE_INVALID",
                &source.file,
                format!("the chat template in {} cannot be parsed: {}", source.file, describe(&e)),
            )
            .fix(RESTORE)
        })?;
        Ok(Self { file: source.file.clone(), environment, variables })
    }

    /// What apply_chat_template(tokenize=False) returns. `date` is YYYY-MM-DD.
    pub fn render(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        date: &str,
    ) -> Result<String> {
        if Date::parse(date).is_none() {
            return Err(Error::input("DATE_INVALID", "date", "the date is not a day")
                .value(date)
                .fix("give it as YYYY-MM-DD"));
        }
        let rendered = on_large_stack(|| {
            // Values are made and dropped on the large stack, since dropping recurses as well.
            let context = self.context(messages, add_generation_prompt, date);
            let mut out = CappedBuffer(Vec::new());
            let template = self.environment.get_template(NAME).map_err(|e| self.explain(&e))?;
            template.render_captured_to(context, &mut out).map_err(|e| self.explain(&e))?;
            Ok::<_, Error>(out.0)
        })??;
        String::from_utf8(rendered).map_err(Error::internal)
    }

    fn context(&self, messages: &[Message], add_generation_prompt: bool, date: &str) -> Value {
        let message = |m: &Message| {
            Value::from_pairs([("role", m.role.as_str()), ("content", m.content.as_str())])
        };
        let mut pairs: Vec<(String, Value)> = Vec::new();
        for (name, contents, is_list) in &self.variables {
            let value = match contents.as_slice() {
                [content] if !is_list => Value::from(content.as_str()),
                contents => Value::from(contents.iter().map(Value::from).collect::<Vec<_>>()),
            };
            pairs.push((name.clone(), value));
        }
        let messages = messages.iter().map(message).collect::<Vec<_>>();
        pairs.push(("messages".to_owned(), Value::from(messages)));
        pairs.push(("tools".to_owned(), Value::from(())));
        pairs.push(("documents".to_owned(), Value::from(())));
        pairs.push(("add_generation_prompt".to_owned(), Value::from(add_generation_prompt)));
        pairs.push((DATE.to_owned(), Value::from(date)));
        Value::from_pairs(pairs)
    }

    fn explain(&self, error: &minijinja::Error) -> Error {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(current) = cause {
            if let Some(Refusal(message)) = current.downcast_ref() {
                return Error::input(
                    "TEMPLATE_REFUSED",
                    "messages",
                    format!("the chat template refuses the messages: {message}"),
                )
                .fix("send messages in the roles and the order that the model was trained with");
            }
            if current.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == OVERFLOW) {
                return self.over_limit(&format!("{MAX_OUTPUT_BYTES} bytes of output"));
            }
            if let Some(inner) = current.downcast_ref::<minijinja::Error>() {
                if inner.kind() == ErrorKind::OutOfFuel {
                    return self.over_limit("its budget of steps");
                }
            }
            cause = current.source();
        }
        Error::input(
            "TEMPLATE_FAILED",
            "messages",
            format!("the chat template in {} failed: {}", self.file, describe(error)),
        )
        .fix("send messages that the template can render, or token ids")
    }

    fn over_limit(&self, limit: &str) -> Error {
        Error::input(
            "TEMPLATE_LIMIT",
            "messages",
            format!("the chat template in {} went over {limit}", self.file),
        )
        .fix("send shorter messages, or restore the template that was published with the model")
    }
}

const OVERFLOW: io::ErrorKind = io::ErrorKind::OutOfMemory;

struct CappedBuffer(Vec<u8>);

impl io::Write for CappedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT_BYTES {
            return Err(io::Error::from(OVERFLOW));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn describe(error: &minijinja::Error) -> String {
    let mut text = error.kind().to_string();
    if let Some(detail) = error.detail() {
        text = format!("{text}: {detail}");
    }
    if let Some(line) = error.line() {
        text = format!("{text} (line {line})");
    }
    text
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("chat-template".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(work)))
            .map_err(|e| Error::internal(format!("no thread for the chat template: {e}")))?;
        match thread.join() {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(panic)) | Err(panic) => Err(Error::internal(format!(
                "the chat template: {}",
                crate::ffi::panic_text(&panic)
            ))),
        }
    })
}
