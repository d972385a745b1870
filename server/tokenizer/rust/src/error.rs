//! The crate's one error: who has to act, what about, and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who has to act. The numbers are those of the C header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(i32)]
pub enum Code {
    /// The folder is not usable: repair it.
    Folder = 1,
    /// The input is not acceptable: change it.
    Input = 2,
    /// Our fault.
    Internal = 3,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Error {
    pub code: Code,
    /// UPPER_SNAKE, stable.
    pub reason: String,
    /// The file or the field that the error is about.
    pub subject: String,
    pub message: String,
    pub value: String,
    /// An imperative sentence.
    pub fix: String,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn folder(reason: &str, file: &str, message: impl fmt::Display) -> Self {
        Self::new(Code::Folder, reason, file, message)
    }

    pub fn input(reason: &str, field: &str, message: impl fmt::Display) -> Self {
        Self::new(Code::Input, reason, field, message)
    }

    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(Code::Internal, "INTERNAL", "", message)
    }

    pub fn value(mut self, value: impl fmt::Display) -> Self {
        self.value = value.to_string();
        self
    }

    pub fn fix(mut self, fix: impl fmt::Display) -> Self {
        self.fix = fix.to_string();
        self
    }

    fn new(code: Code, reason: &str, subject: &str, message: impl fmt::Display) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            subject: subject.to_owned(),
            message: message.to_string(),
            value: String::new(),
            fix: String::new(),
        }
    }
}
