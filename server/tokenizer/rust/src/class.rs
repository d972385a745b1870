//! transformers' tokenizer classes, as far as a class changes what a tokenizer.json does: default
//! special tokens, and whether the post-processor is rebuilt from add_bos_token and add_eos_token.

use serde_json::Value;

use crate::folder::Folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Llama,
    CodeLlama,
    Gemma,
    Cohere,
    GptNeoX,
    Gpt2,
    CodeGen,
    Qwen2,
    Bloom,
    /// PreTrainedTokenizerFast, and every class that changes nothing.
    Plain,
}

impl Class {
    /// tokenizer_config.json names the class, else config.json does, or its model_type.
    pub fn of(folder: &Folder) -> Self {
        let name = |v: Option<&Value>| v.and_then(Value::as_str).map(str::to_owned);
        name(folder.config.get("tokenizer_class"))
            .or_else(|| name(folder.model_config.get("tokenizer_class")))
            .map(|class| Self::from_name(&class))
            .or_else(|| {
                name(folder.model_config.get("model_type")).map(|t| Self::from_model_type(&t))
            })
            .unwrap_or(Self::Plain)
    }

    fn from_name(name: &str) -> Self {
        match name.strip_suffix("Fast").unwrap_or(name) {
            "LlamaTokenizer" => Self::Llama,
            "CodeLlamaTokenizer" => Self::CodeLlama,
            "GemmaTokenizer" => Self::Gemma,
            "CohereTokenizer" => Self::Cohere,
            "GPTNeoXTokenizer" => Self::GptNeoX,
            "GPT2Tokenizer" => Self::Gpt2,
            "CodeGenTokenizer" => Self::CodeGen,
            "Qwen2Tokenizer" => Self::Qwen2,
            "BloomTokenizer" => Self::Bloom,
            _ => Self::Plain,
        }
    }

    fn from_model_type(model_type: &str) -> Self {
        match model_type {
            "llama" | "mistral" | "mixtral" | "ministral" | "phi3" | "phimoe" => Self::Llama,
            "qwen2" | "qwen2_moe" | "qwen3" | "qwen3_moe" => Self::Qwen2,
            "gemma" | "gemma2" | "gemma3" | "gemma3_text" => Self::Gemma,
            "cohere" | "cohere2" => Self::Cohere,
            "gpt_neox" | "olmo" | "olmo2" | "olmoe" | "stablelm" => Self::GptNeoX,
            "gpt2" | "opt" | "gptj" | "gpt_neo" | "olmo3" | "granite" => Self::Gpt2,
            "phi" | "codegen" => Self::CodeGen,
            "bloom" => Self::Bloom,
            _ => Self::Plain,
        }
    }

    /// The special tokens of a class whose config does not name them.
    pub fn default_tokens(self) -> &'static [(&'static str, &'static str)] {
        const END: &str = "<|endoftext|>";
        match self {
            Self::Llama | Self::CodeLlama => {
                &[("unk_token", "<unk>"), ("bos_token", "<s>"), ("eos_token", "</s>")]
            }
            Self::Gemma => &[
                ("unk_token", "<unk>"),
                ("bos_token", "<bos>"),
                ("eos_token", "<eos>"),
                ("pad_token", "<pad>"),
            ],
            Self::Cohere => &[
                ("unk_token", "<UNK>"),
                ("bos_token", "<BOS_TOKEN>"),
                ("eos_token", "<|END_OF_TURN_TOKEN|>"),
            ],
            Self::GptNeoX | Self::Gpt2 | Self::CodeGen => {
                &[("unk_token", END), ("bos_token", END), ("eos_token", END)]
            }
            Self::Qwen2 => &[("unk_token", END), ("eos_token", END), ("pad_token", END)],
            Self::Bloom => &[
                ("unk_token", "<unk>"),
                ("bos_token", "<s>"),
                ("eos_token", "</s>"),
                ("pad_token", "<pad>"),
            ],
            Self::Plain => &[],
        }
    }

    /// The class passes a pad token of its own, so that the one in tokenizer.json is not taken.
    pub fn names_pad_token(self) -> bool {
        matches!(self, Self::Gemma | Self::GptNeoX | Self::Qwen2 | Self::Bloom)
    }

    /// The default of add_bos_token where the class rebuilds the post-processor.
    pub fn rebuilt_post_processor(self) -> Option<bool> {
        match self {
            Self::Llama | Self::CodeLlama | Self::Gemma | Self::Cohere => Some(true),
            Self::GptNeoX => Some(false),
            _ => None,
        }
    }
}
