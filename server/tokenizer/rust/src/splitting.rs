//! Normalizing and splitting a text, with a limit on the processor time that regular expressions take.
//! A pattern of a few bytes may need hours for a text. The tokenizers crate does not limit the time, and
//! where an expression gives up, it leaves the rest of the text in one piece without an error.

use std::cell::RefCell;
use std::time::Duration;

use fancy_regex::{Regex, RegexBuilder};
use tokenizers::normalizers::replace::Replace;
use tokenizers::pattern::{Invert, Pattern};
use tokenizers::pre_tokenizers::split::SplitPattern;
use tokenizers::{
    NormalizedString, Normalizer, NormalizerWrapper, Offsets, PreTokenizedString, PreTokenizer,
    PreTokenizerWrapper, SplitDelimiterBehavior, Tokenizer,
};

use crate::error::Result;
use crate::folder::{unreadable, TOKENIZER};

/// Published patterns take 0.3 s for a MiB of text.
const SECONDS: f64 = 1.0;
const SECONDS_PER_MIB: f64 = 4.0;
/// Enough for runs of a million blanks, which are also what the crate's stack holds.
const MAX_STEPS_OF_A_MATCH: usize = 4_000_000;

enum Normalizing {
    Replace { pattern: Regex, content: String },
    Other(NormalizerWrapper),
}

enum Splitting {
    Split { pattern: Regex, behavior: SplitDelimiterBehavior, invert: bool },
    Other(PreTokenizerWrapper),
}

/// The normalizer and the pre-tokenizer of one tokenizer, step by step.
pub struct TextSplitter {
    normalizing: Vec<Normalizing>,
    splitting: Vec<Splitting>,
}

impl TextSplitter {
    pub fn of(tokenizer: &Tokenizer) -> Result<Self> {
        let mut splitter = Self { normalizing: Vec::new(), splitting: Vec::new() };
        tokenizer.get_normalizer().map_or(Ok(()), |part| splitter.add_normalizer(part))?;
        tokenizer.get_pre_tokenizer().map_or(Ok(()), |part| splitter.add_pre_tokenizer(part))?;
        Ok(splitter)
    }

    /// What the tokenizers crate makes of a text before its model sees it.
    pub fn split(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
    ) -> tokenizers::Result<PreTokenizedString> {
        let timer = Timer::for_text(text);
        let normalizing = InSteps { steps: &self.normalizing, timer, error: RefCell::new(None) };
        let added = tokenizer.get_added_vocabulary();
        let mut pieces = added.extract_and_normalize(Some(&normalizing), text);
        if let Some(error) = normalizing.error.into_inner() {
            return Err(error);
        }
        for step in &self.splitting {
            step.apply(&mut pieces, timer)?;
        }
        Ok(pieces)
    }

    fn add_normalizer(&mut self, part: &NormalizerWrapper) -> Result<()> {
        match part {
            NormalizerWrapper::Sequence(parts) => {
                return parts.as_ref().iter().try_for_each(|part| self.add_normalizer(part));
            }
            NormalizerWrapper::Replace(replace) => {
                if let Some(pattern) = replaced_expression(replace)? {
                    let content = replace.content.clone();
                    self.normalizing.push(Normalizing::Replace { pattern, content });
                    return Ok(());
                }
            }
            _ => {}
        }
        self.normalizing.push(Normalizing::Other(part.clone()));
        Ok(())
    }

    fn add_pre_tokenizer(&mut self, part: &PreTokenizerWrapper) -> Result<()> {
        match part {
            PreTokenizerWrapper::Sequence(parts) => {
                return parts.as_ref().iter().try_for_each(|part| self.add_pre_tokenizer(part));
            }
            PreTokenizerWrapper::Split(split) => {
                if let SplitPattern::Regex(pattern) = &split.pattern {
                    self.splitting.push(Splitting::Split {
                        pattern: compile(pattern)?,
                        behavior: split.behavior,
                        invert: split.invert,
                    });
                    return Ok(());
                }
            }
            _ => {}
        }
        self.splitting.push(Splitting::Other(part.clone()));
        Ok(())
    }
}

/// None where it replaces a plain text.
fn replaced_expression(replace: &Replace) -> Result<Option<Regex>> {
    // The crate shows the pattern in no other way.
    let state = serde_json::to_value(replace).map_err(|e| unreadable(TOKENIZER, e))?;
    state["pattern"]["Regex"].as_str().map(compile).transpose()
}

fn compile(pattern: &str) -> Result<Regex> {
    RegexBuilder::new(pattern)
        .backtrack_limit(MAX_STEPS_OF_A_MATCH)
        .build()
        .map_err(|e| unreadable(TOKENIZER, e))
}

impl Splitting {
    fn apply(&self, pieces: &mut PreTokenizedString, timer: Timer) -> tokenizers::Result<()> {
        match self {
            Self::Other(part) => part.pre_tokenize(pieces),
            Self::Split { pattern, behavior, invert } => pieces.split(|_, piece| {
                let pattern = Timed { pattern, timer };
                if *invert {
                    piece.split(Invert(pattern), *behavior)
                } else {
                    piece.split(pattern, *behavior)
                }
            }),
        }
    }
}

/// Keeps its first error: the crate ignores the errors of normalizers.
struct InSteps<'a> {
    steps: &'a [Normalizing],
    timer: Timer,
    error: RefCell<Option<tokenizers::Error>>,
}

impl Normalizer for InSteps<'_> {
    fn normalize(&self, text: &mut NormalizedString) -> tokenizers::Result<()> {
        if self.error.borrow().is_some() {
            return Ok(());
        }
        let done = self.steps.iter().try_for_each(|step| match step {
            Normalizing::Replace { pattern, content } => {
                text.replace(Timed { pattern, timer: self.timer }, content)
            }
            Normalizing::Other(part) => part.normalize(text),
        });
        if let Err(error) = done {
            self.error.replace(Some(error));
        }
        Ok(())
    }
}

struct Timed<'a> {
    pattern: &'a Regex,
    timer: Timer,
}

impl Pattern for Timed<'_> {
    fn find_matches(&self, text: &str) -> tokenizers::Result<Vec<(Offsets, bool)>> {
        if text.is_empty() {
            return Ok(vec![((0, 0), false)]);
        }
        let mut pieces = Vec::new();
        let mut end = 0;
        for found in self.pattern.find_iter(text) {
            self.timer.check(self.pattern)?;
            let found = found.map_err(|_| too_costly(self.pattern))?;
            if end != found.start() {
                pieces.push(((end, found.start()), false));
            }
            pieces.push(((found.start(), found.end()), true));
            end = found.end();
        }
        if end != text.len() {
            pieces.push(((end, text.len()), false));
        }
        Ok(pieces)
    }
}

fn too_costly(pattern: &Regex) -> tokenizers::Error {
    let shown: String = pattern.as_str().chars().take(100).collect();
    format!("the tokenizer's pattern {shown:?} takes too long for it").into()
}

/// Processor time of the calling thread.
#[derive(Clone, Copy)]
struct Timer {
    end: Duration,
}

impl Timer {
    fn for_text(text: &str) -> Self {
        let mib = text.len() as f64 / f64::from(1 << 20);
        Self { end: thread_time() + Duration::from_secs_f64(SECONDS + SECONDS_PER_MIB * mib) }
    }

    fn check(self, pattern: &Regex) -> tokenizers::Result<()> {
        if thread_time() < self.end {
            return Ok(());
        }
        Err(too_costly(pattern))
    }
}

fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time to a value of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
