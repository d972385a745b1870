//! Tokenizers and chat templates of Hugging Face checkpoints behind a C ABI (tokenizer_abi.h).
//!
//! folder -> class, special_tokens -> backend (a tokenizers::Tokenizer as transformers has it);
//! splitting limits the time of its regular expressions.
//! folder -> template_source -> template (child, environment, python, date). text_tokenizer holds both.

mod backend;
mod charsmap;
mod child;
mod class;
mod date;
mod environment;
mod error;
pub mod ffi;
mod folder;
mod format;
mod growth;
mod operators;
mod python;
mod special_tokens;
mod splitting;
mod template;
mod template_source;
mod text_methods;
mod text_tokenizer;
