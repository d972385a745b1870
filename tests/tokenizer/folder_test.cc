// Folders that hold no usable tokenizer are refused by name, with the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/tokenizer/temporary_folder.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

// Expects a refusal that names `subject`, and returns its message.
std::string Refusal(const TemporaryFolder& folder, std::string_view subject) {
  const auto tokenizer = Tokenizer::Load(folder.path());
  EXPECT_EQ(tokenizer.status().code(), absl::StatusCode::kFailedPrecondition);
  const auto detail = GetErrorDetail(tokenizer.status());
  EXPECT_EQ(detail ? detail->subject : "", subject) << tokenizer.status();
  EXPECT_FALSE(detail && detail->fix.empty());
  return std::string(tokenizer.status().message());
}

constexpr char kCure[] = "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)";

TEST(TokenizerFolder, ASentencePieceModelAloneIsRefusedWithTheCure) {
  TemporaryFolder folder;
  folder.Write("tokenizer.model", std::string("\x0a\x0e\x0a\x05<unk>", 9));
  const std::string message = Refusal(folder, "tokenizer.model");
  EXPECT_THAT(message, HasSubstr("SentencePiece"));
  EXPECT_THAT(message, HasSubstr(kCure));
}

TEST(TokenizerFolder, ATokenizerModelIsNamedByWhatItHolds) {
  TemporaryFolder tiktoken;
  EXPECT_THAT(Refusal(tiktoken.Write("tokenizer.model", "IQ== 0\nIg== 1\n"), "tokenizer.model"),
              HasSubstr("tiktoken"));
  TemporaryFolder gguf;
  EXPECT_THAT(Refusal(gguf.Write("tokenizer.model", "GGUF\x03"), "tokenizer.model"),
              HasSubstr("GGUF"));
}

TEST(TokenizerFolder, OtherVocabulariesAloneAreRefusedByName) {
  for (const std::string file : {"tekken.json", "qwen.tiktoken", "model.gguf"}) {
    TemporaryFolder folder;
    EXPECT_THAT(Refusal(folder.Write(file, "{}"), file), HasSubstr(kCure));
  }
}

TEST(TokenizerFolder, AFolderWithoutAnyTokenizerIsRefused) {
  TemporaryFolder folder;
  EXPECT_THAT(Refusal(folder.Write("config.json", "{}"), "tokenizer.json"),
              HasSubstr("no tokenizer.json"));
}

TEST(TokenizerFolder, AFileThatTheLibraryPanicsOnIsRefused) {
  TemporaryFolder folder;
  folder.Write("tokenizer.json",
               R"({"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},)"
               R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAEAAAD/"}})");
  EXPECT_THAT(Refusal(folder, "tokenizer.json"), HasSubstr("precompiled_charsmap"));
}

// The library reserves what the map claims, here 1.7 GB, before it reads it.
TEST(TokenizerFolder, AMapOfCharactersShorterThanItClaimsIsRefused) {
  const std::string map = R"({"type":"Precompiled","precompiled_charsmap":"AAQAaQAAAAAA"})";
  const std::string spelled =
      R"({"type":"Precompiled","precompiled\u005fcharsmap":"AAQAaQAAAAAA"})";
  for (const std::string& normalizer :
       {map, spelled, R"({"type":"Sequence","normalizers":[{"type":"NFC"},)" + map + "]}"}) {
    TemporaryFolder folder;
    folder.Write("tokenizer.json",
                 R"({"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},)"
                 R"("normalizer":)" +
                     normalizer + "}");
    EXPECT_THAT(Refusal(folder, "tokenizer.json"), HasSubstr("than its first four bytes say"));
  }
}

TEST(TokenizerFolder, AMissingFolderIsRefused) {
  const auto tokenizer = Tokenizer::Load("/nonexistent/model");
  EXPECT_EQ(tokenizer.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(TokenizerFolder, BrokenFilesAreNamed) {
  const std::string broken[] = {"tokenizer.json", "tokenizer_config.json",
                                "special_tokens_map.json", "added_tokens.json"};
  for (const std::string& file : broken) {
    for (const std::string content : {"", "{", "[]", "nul\xff", "{\"a\":\0"}) {
      TemporaryFolder folder;
      folder.WriteTokenizer().Write(file, content);
      EXPECT_THAT(Refusal(folder, file), HasSubstr(file)) << content;
    }
  }
}

TEST(TokenizerFolder, NumbersThatJsonLacksAreNamedByTheirPlace) {
  for (const std::string file : {"tokenizer.json", "tokenizer_config.json"}) {
    for (const std::string number : {"NaN", "Infinity", "-Infinity", "nan"}) {
      TemporaryFolder folder;
      folder.WriteTokenizer().Write(file, "{\n\"a\": " + number + "}");
      const std::string message = Refusal(folder, file);
      EXPECT_THAT(message, HasSubstr("JSON has no NaN or Infinity")) << number;
      EXPECT_THAT(message, HasSubstr("line 2")) << number;
    }
  }
}

TEST(TokenizerFolder, ALargeFilePointerIsNamedAsSuch) {
  TemporaryFolder folder;
  folder.Write("tokenizer.json",
               "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  EXPECT_THAT(Refusal(folder, "tokenizer.json"), HasSubstr("Git LFS"));
}

TEST(TokenizerFolder, WrongEntriesOfTheConfigAreNamed) {
  for (const std::string config : {R"({"added_tokens_decoder": {"x": {"content": "a"}}})",
                                   R"({"added_tokens_decoder": {"1": 2}})", R"({"bos_token": 3})",
                                   R"({"additional_special_tokens": [1]})",
                                   R"({"tokenizer_class": "LlamaTokenizer", "bos_token": null})"}) {
    TemporaryFolder folder;
    Refusal(folder.WriteTokenizer().Write("tokenizer_config.json", config),
            "tokenizer_config.json");
  }
}

TEST(TokenizerFolder, AFolderInPlaceOfAFileIsRefused) {
  TemporaryFolder folder;
  folder.Write("tokenizer.json/inside", "x");
  Refusal(folder, "tokenizer.json");
}

// Text is encoded without a template, so only rendering complains.
std::string RenderingComplaint(const TemporaryFolder& folder, std::string_view subject) {
  const auto tokenizer = Tokenizer::Load(folder.path());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  if (!tokenizer.ok()) return {};
  EXPECT_TRUE((*tokenizer)->Encode("text", true).ok());
  const auto rendered = (*tokenizer)->RenderChat({}, false, "2024-07-26");
  EXPECT_EQ(rendered.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(GetErrorDetail(rendered.status())->subject, subject);
  return std::string(rendered.status().message());
}

TEST(TokenizerFolder, ABrokenTemplateIsNamedWhenItIsAskedFor) {
  TemporaryFolder in_config;
  in_config.WriteTokenizer().Write("tokenizer_config.json", R"({"chat_template": "{% if %}"})");
  EXPECT_THAT(RenderingComplaint(in_config, "tokenizer_config.json"),
              HasSubstr("cannot be parsed"));
  TemporaryFolder wrong_type;
  wrong_type.WriteTokenizer().Write("tokenizer_config.json", R"({"chat_template": 3})");
  RenderingComplaint(wrong_type, "tokenizer_config.json");
  TemporaryFolder not_text;
  RenderingComplaint(not_text.WriteTemplate("\xff"), "chat_template.jinja");
}

TEST(TokenizerFolder, NamedTemplatesWithoutADefaultAreListed) {
  TemporaryFolder folder;
  folder.WriteTokenizer().Write("tokenizer_config.json",
                                R"({"chat_template": [{"name": "rag", "template": "x"}]})");
  EXPECT_THAT(RenderingComplaint(folder, "tokenizer_config.json"), HasSubstr("rag"));
}

TEST(TokenizerFolder, TemplateFilesWinOverTheConfig) {
  TemporaryFolder folder;
  folder.WriteTemplate("from the file")
      .Write("tokenizer_config.json", R"({"chat_template": "config"})");
  folder.Write("additional_chat_templates/rag.jinja", "another");
  const auto tokenizer = Tokenizer::Load(folder.path());
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(*(*tokenizer)->RenderChat({}, false, "2024-07-26"), "from the file");
}

TEST(TokenizerFolder, IdsOutsideTheVocabularyAreNotDecoded) {
  TemporaryFolder folder;
  const auto tokenizer = Tokenizer::Load(folder.WriteTokenizer().path());
  ASSERT_TRUE(tokenizer.ok());
  for (const int32_t id : {-1, 1000, 1 << 30}) {
    const std::vector<int32_t> ids = {0, id};
    const auto text = (*tokenizer)->Decode(ids, false);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(GetErrorDetail(text.status())->subject, "ids[1]");
  }
}

}  // namespace
}  // namespace sinkd
