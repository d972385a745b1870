//! A chat template of a checkpoint, which is not to be trusted: parsed and rendered in a child
//! process, on a thread with a large stack, with fuel, a recursion limit and an output limit.

use std::io;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;

use minijinja::value::Value;
use minijinja::{Environment, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::child::{self, CPU_SECONDS, MEMORY_MIB};
use crate::date::Date;
use crate::environment::{self, Refusal, DATE};
use crate::error::{Error, Result};
use crate::python::MAX_OUTPUT_BYTES;
use crate::template_source::TemplateSource;

/// The parser and the printer recurse; the limits of TemplateSource fit into this.
const STACK_BYTES: usize = 192 << 20;
const NAME: &str = "chat_template";
const RESTORE: &str = "restore the chat template that was published with the model";

#[derive(Clone, Serialize, Deserialize)]
pub struct Message {
    pub role: String,
    pub content: String,
}

/// bos_token and the like: name, contents, whether it is a list.
type Variables = Vec<(String, Vec<String>, bool)>;

#[derive(Clone, Serialize, Deserialize)]
pub struct Template {
    file: String,
    text: String,
    variables: Variables,
}

/// What a child is asked: to parse the template, and to render it where there is a conversation.
#[derive(Serialize, Deserialize)]
struct Job {
    template: Template,
    conversation: Option<Conversation>,
}

#[derive(Serialize, Deserialize)]
struct Conversation {
    messages: Vec<Message>,
    add_generation_prompt: bool,
    /// YYYY-MM-DD
    date: String,
}

/// Starts the process that children are forked from. Returns whether it is there.
pub fn start() -> bool {
    child::start(answer).is_ok()
}

impl Template {
    pub fn compile(source: &TemplateSource, variables: Variables) -> Result<Self> {
        source.check_limits()?;
        let template = Self { file: source.file.clone(), text: source.prepared(), variables };
        Job { template: template.clone(), conversation: None }.run()?;
        Ok(template)
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
        let (messages, date) = (messages.to_vec(), date.to_owned());
        let conversation = Some(Conversation { messages, add_generation_prompt, date });
        Job { template: self.clone(), conversation }.run()
    }

    fn environment(&self) -> Result<Environment<'static>> {
        let parsed = environment::create().and_then(|mut environment| {
            environment.add_template_owned(NAME, self.text.clone())?;
            Ok(environment)
        });
        parsed.map_err(|e| self.invalid(&describe(&e)))
    }

    fn invalid(&self, why: &str) -> Error {
        Error::folder(
            "TEMPLATE_INVALID",
            &self.file,
            format!("the chat template in {} cannot be parsed: {why}", self.file),
        )
        .fix(RESTORE)
    }

    fn context(&self, conversation: &Conversation) -> Value {
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
        let messages = conversation.messages.iter().map(message).collect::<Vec<_>>();
        pairs.push(("messages".to_owned(), Value::from(messages)));
        pairs.push(("tools".to_owned(), Value::from(())));
        pairs.push(("documents".to_owned(), Value::from(())));
        let prompt = Value::from(conversation.add_generation_prompt);
        pairs.push(("add_generation_prompt".to_owned(), prompt));
        pairs.push((DATE.to_owned(), Value::from(conversation.date.as_str())));
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

impl Job {
    fn run(&self) -> Result<String> {
        if cfg!(sinkd_fuzz) {
            return self.on_large_stack();
        }
        let request = serde_json::to_vec(self).map_err(Error::internal)?;
        let answer = child::run(answer, &request)
            .map_err(|e| Error::internal(format!("no process for the chat template: {e}")))?;
        match answer {
            Some(answer) => serde_json::from_slice(&answer).map_err(Error::internal)?,
            None => Err(self.over_limits_of_process()),
        }
    }

    fn over_limits_of_process(&self) -> Error {
        let limits = format!("{CPU_SECONDS} s of a processor or {MEMORY_MIB} MiB of memory");
        match self.conversation {
            Some(_) => self.template.over_limit(&limits),
            None => self.template.invalid(&format!("it takes more than {limits}")),
        }
    }

    fn on_large_stack(&self) -> Result<String> {
        thread::scope(|scope| {
            let thread = thread::Builder::new()
                .name("chat-template".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(|| self.answer())))
                .map_err(|e| Error::internal(format!("no thread for the chat template: {e}")))?;
            match thread.join() {
                Ok(Ok(result)) => result,
                Ok(Err(panic)) | Err(panic) => Err(Error::internal(format!(
                    "the chat template: {}",
                    crate::ffi::panic_text(&panic)
                ))),
            }
        })
    }

    /// The text, empty where there is nothing to render.
    fn answer(&self) -> Result<String> {
        let environment = self.template.environment()?;
        let Some(conversation) = &self.conversation else { return Ok(String::new()) };
        let explain = |e: minijinja::Error| self.template.explain(&e);
        let template = environment.get_template(NAME).map_err(explain)?;
        let mut out = CappedBuffer(Vec::new());
        let context = self.template.context(conversation);
        template.render_captured_to(context, &mut out).map_err(explain)?;
        String::from_utf8(out.0).map_err(Error::internal)
    }
}

/// What a child does: a Job as JSON becomes a Result<String> as JSON.
fn answer(request: &[u8]) -> Vec<u8> {
    let result = serde_json::from_slice(request)
        .map_err(Error::internal)
        .and_then(|job: Job| job.on_large_stack());
    serde_json::to_vec(&result).unwrap_or_default()
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
