/* The C ABI of the Rust crate in this folder: tokenizers and chat templates.
 *
 * Text is UTF-8 with a length, not terminated by NUL. Functions that can fail return true and write
 * *out, or return false and write *failure; never both. What they write is owned by the caller and
 * freed by sinkd_text_free, sinkd_encoding_free or sinkd_failure_free.
 * A SinkdTokenizer may be used by several threads at once, and must outlive the calls.
 * No panic leaves the crate. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SinkdTokenizer SinkdTokenizer;

/* Borrowed text. */
typedef struct {
  const char* data;
  size_t size;
} SinkdView;

/* Owned text. */
typedef struct {
  char* data;
  size_t size;
} SinkdText;

/* Who has to act. */
enum {
  SINKD_FAILURE_FOLDER = 1,   /* the folder is not usable: repair it */
  SINKD_FAILURE_INPUT = 2,    /* the input is not acceptable: change it */
  SINKD_FAILURE_INTERNAL = 3, /* a fault of ours */
};

typedef struct {
  int32_t code;
  SinkdText reason;  /* UPPER_SNAKE, stable */
  SinkdText subject; /* the file or the field */
  SinkdText message;
  SinkdText value; /* the offending value, may be empty */
  SinkdText fix;   /* an imperative sentence, may be empty */
} SinkdFailure;

typedef struct {
  int32_t* ids;     /* [size] */
  int64_t* offsets; /* [size, 2]: begin and end in bytes of the text */
  size_t size;
} SinkdEncoding;

typedef struct {
  SinkdView role;
  SinkdView content;
} SinkdMessage;

/* Chat templates are rendered in child processes, forked by one that this starts; what needs it
 * first starts it too. Call it before the process has threads and much memory. */
bool sinkd_templates_start(void);

bool sinkd_tokenizer_load(SinkdView folder, SinkdTokenizer** out, SinkdFailure* failure);
/* The files' texts instead of a folder. */
bool sinkd_tokenizer_load_texts(SinkdView tokenizer_json, SinkdView tokenizer_config_json,
                                SinkdTokenizer** out, SinkdFailure* failure);
void sinkd_tokenizer_free(SinkdTokenizer* tokenizer); /* NULL is allowed */

bool sinkd_tokenizer_encode(const SinkdTokenizer* tokenizer, SinkdView text,
                            bool add_special_tokens, SinkdEncoding* out, SinkdFailure* failure);
bool sinkd_tokenizer_decode(const SinkdTokenizer* tokenizer, const int32_t* ids, size_t size,
                            bool skip_special_tokens, SinkdText* out, SinkdFailure* failure);
/* Empty for an id out of range. */
bool sinkd_tokenizer_token_text(const SinkdTokenizer* tokenizer, int32_t id, SinkdText* out,
                                SinkdFailure* failure);
size_t sinkd_tokenizer_vocabulary_size(const SinkdTokenizer* tokenizer);

/* True for a broken template too: rendering then says what is wrong with it. */
bool sinkd_tokenizer_has_chat_template(const SinkdTokenizer* tokenizer);
/* `date` is YYYY-MM-DD. */
bool sinkd_tokenizer_render_chat(const SinkdTokenizer* tokenizer, const SinkdMessage* messages,
                                 size_t size, bool add_generation_prompt, SinkdView date,
                                 SinkdText* out, SinkdFailure* failure);

void sinkd_text_free(SinkdText text);
void sinkd_encoding_free(SinkdEncoding encoding);
void sinkd_failure_free(SinkdFailure failure);

#ifdef __cplusplus
}
#endif
