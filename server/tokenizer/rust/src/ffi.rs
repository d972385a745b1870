//! The C ABI of ../tokenizer_abi.h. Every function catches panics, and everything it hands out is
//! freed by the function that the header names.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use crate::error::{Error, Result};
use crate::folder::{unreadable, TOKENIZER};
use crate::template::Message;
use crate::text_tokenizer::TextTokenizer;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    data: *const u8,
    size: usize,
}

#[repr(C)]
pub struct Text {
    data: *mut u8,
    size: usize,
}

#[repr(C)]
pub struct Failure {
    code: i32,
    reason: Text,
    subject: Text,
    message: Text,
    value: Text,
    fix: Text,
}

#[repr(C)]
pub struct EncodingData {
    /// `size` ids.
    ids: *mut i32,
    /// `size` pairs of begin and end.
    offsets: *mut i64,
    size: usize,
}

#[repr(C)]
pub struct MessageView {
    role: View,
    content: View,
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics are reported through Failure; standard error belongs to the host.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line()));
            LAST_PANIC.with_borrow_mut(|last| *last = place.unwrap_or_default());
        }));
    });
}

pub fn panic_text(panic: &Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic".to_owned());
    LAST_PANIC.with_borrow(|place| format!("{text}{place}"))
}

fn export(text: String) -> Text {
    let bytes = text.into_bytes().into_boxed_slice();
    let size = bytes.len();
    Text { data: Box::into_raw(bytes).cast(), size }
}

fn export_slice<T>(values: Vec<T>) -> *mut T {
    Box::into_raw(values.into_boxed_slice()).cast()
}

unsafe fn free_slice<T>(data: *mut T, size: usize) {
    if !data.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, size)));
    }
}

unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, size)
    }
}

unsafe fn text<'a>(view: View) -> Result<&'a str> {
    std::str::from_utf8(slice(view.data, view.size))
        .map_err(|e| Error::input("TEXT_NOT_UTF8", "text", format!("the text is not UTF-8: {e}")))
}

/// The tokenizers library panics on files that make no sense to it, when it reads them or later.
fn blame_tokenizer(panic: String) -> Error {
    unreadable(TOKENIZER, panic)
}

/// Runs `work`, stores its result, and returns whether it succeeded. `blame` makes the error of a
/// panic.
unsafe fn guard<T>(
    out: *mut T,
    failure: *mut Failure,
    blame: impl FnOnce(String) -> Error,
    work: impl FnOnce() -> Result<T>,
) -> bool {
    let result =
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(blame(panic_text(&panic))));
    match result {
        Ok(value) => {
            out.write(value);
            true
        }
        Err(error) => {
            failure.write(Failure {
                code: error.code as i32,
                reason: export(error.reason),
                subject: export(error.subject),
                message: export(error.message),
                value: export(error.value),
                fix: export(error.fix),
            });
            false
        }
    }
}

#[no_mangle]
pub extern "C" fn sinkd_templates_start() -> bool {
    keep_panics_quiet();
    catch_unwind(crate::template::start).unwrap_or(false)
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_load(
    folder: View,
    out: *mut *mut TextTokenizer,
    failure: *mut Failure,
) -> bool {
    keep_panics_quiet();
    guard(out, failure, blame_tokenizer, || {
        let tokenizer = TextTokenizer::load(Path::new(text(folder)?))?;
        Ok(Box::into_raw(Box::new(tokenizer)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_load_texts(
    tokenizer_json: View,
    tokenizer_config_json: View,
    out: *mut *mut TextTokenizer,
    failure: *mut Failure,
) -> bool {
    keep_panics_quiet();
    guard(out, failure, blame_tokenizer, || {
        let tokenizer =
            TextTokenizer::from_texts(text(tokenizer_json)?, text(tokenizer_config_json)?)?;
        Ok(Box::into_raw(Box::new(tokenizer)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_free(tokenizer: *mut TextTokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_encode(
    tokenizer: &TextTokenizer,
    input: View,
    add_special_tokens: bool,
    out: *mut EncodingData,
    failure: *mut Failure,
) -> bool {
    guard(out, failure, blame_tokenizer, || {
        let encoding = tokenizer.encode(text(input)?, add_special_tokens)?;
        let ids: Vec<i32> = encoding.get_ids().iter().map(|id| *id as i32).collect();
        let offsets: Vec<i64> =
            encoding.get_offsets().iter().flat_map(|(b, e)| [*b as i64, *e as i64]).collect();
        let size = ids.len();
        Ok(EncodingData { ids: export_slice(ids), offsets: export_slice(offsets), size })
    })
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_decode(
    tokenizer: &TextTokenizer,
    ids: *const i32,
    size: usize,
    skip_special_tokens: bool,
    out: *mut Text,
    failure: *mut Failure,
) -> bool {
    guard(out, failure, blame_tokenizer, || {
        tokenizer.decode(slice(ids, size), skip_special_tokens).map(export)
    })
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_token_text(
    tokenizer: &TextTokenizer,
    id: i32,
    out: *mut Text,
    failure: *mut Failure,
) -> bool {
    guard(out, failure, blame_tokenizer, || Ok(export(tokenizer.token_text(id))))
}

#[no_mangle]
pub extern "C" fn sinkd_tokenizer_vocabulary_size(tokenizer: &TextTokenizer) -> usize {
    catch_unwind(AssertUnwindSafe(|| tokenizer.vocabulary_size())).unwrap_or(0)
}

#[no_mangle]
pub extern "C" fn sinkd_tokenizer_has_chat_template(tokenizer: &TextTokenizer) -> bool {
    tokenizer.has_template()
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_tokenizer_render_chat(
    tokenizer: &TextTokenizer,
    messages: *const MessageView,
    size: usize,
    add_generation_prompt: bool,
    date: View,
    out: *mut Text,
    failure: *mut Failure,
) -> bool {
    guard(out, failure, Error::internal, || {
        let messages = slice(messages, size)
            .iter()
            .map(|m| {
                Ok(Message { role: text(m.role)?.to_owned(), content: text(m.content)?.to_owned() })
            })
            .collect::<Result<Vec<_>>>()?;
        tokenizer.render(&messages, add_generation_prompt, text(date)?).map(export)
    })
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_text_free(text: Text) {
    free_slice(text.data, text.size);
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_encoding_free(encoding: EncodingData) {
    free_slice(encoding.ids, encoding.size);
    free_slice(encoding.offsets, encoding.size * 2);
}

#[no_mangle]
pub unsafe extern "C" fn sinkd_failure_free(failure: Failure) {
    for text in [failure.reason, failure.subject, failure.message, failure.value, failure.fix] {
        sinkd_text_free(text);
    }
}
