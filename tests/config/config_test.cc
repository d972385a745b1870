#include "server/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "server/config/config_values.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Variables = std::map<std::string, std::string>;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() : root_(testing::TempDir()), file_(root_ / ("c" + std::to_string(getpid()))) {}
  ~ConfigTest() override { fs::remove(file_); }

  // Parses `arguments` behind the program's name.
  absl::StatusOr<ConfigOutcome> Parse(std::vector<std::string> arguments,
                                      const Variables& variables = {}) {
    arguments.insert(arguments.begin(), "sinkd");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return ParseConfig(static_cast<int>(argv.size()), argv.data(), "1.2.3",
                       [&](const std::string& name) -> std::optional<std::string> {
                         const auto found = variables.find(name);
                         if (found == variables.end()) return std::nullopt;
                         return found->second;
                       });
  }

  // As Parse, with a model root and no errors.
  Config Good(std::vector<std::string> arguments, const Variables& variables = {}) {
    arguments.insert(arguments.end(), {"--model-root", root_.string()});
    const absl::StatusOr<ConfigOutcome> outcome = Parse(std::move(arguments), variables);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? outcome->config : Config{};
  }

  std::string WriteFile(const std::string& text) {
    std::ofstream(file_) << text;
    return file_.string();
  }

  fs::path root_;
  fs::path file_;
};

TEST_F(ConfigTest, DefaultsServeOnLoopback) {
  const Config config = Good({});
  EXPECT_EQ(config.listen, "127.0.0.1:50051");
  EXPECT_EQ(config.http_listen, "127.0.0.1:9464");
  EXPECT_EQ(config.model_root, root_);
  EXPECT_THAT(config.load, IsEmpty());
  EXPECT_EQ(config.device, "cpu");
  EXPECT_EQ(config.compute_type, ComputeType::kAuto);
  EXPECT_EQ(config.residency, Residency::kResident);
  EXPECT_EQ(config.activation_quantization, ActivationQuantization::kNone);
  EXPECT_GT(config.threads, 0);
  EXPECT_EQ(config.max_sample_tokens, 32768);
  EXPECT_EQ(config.max_message_bytes, 8388608);
  EXPECT_EQ(config.max_connections, 1024);
  EXPECT_EQ(config.max_connections_per_address, 256);
  EXPECT_EQ(config.stuck_after, milliseconds(30000));
  EXPECT_EQ(config.drain_delay, milliseconds(5000));
  EXPECT_EQ(config.drain_timeout, milliseconds(30000));
  EXPECT_EQ(config.log_format, LogFormat::kText);
  EXPECT_EQ(config.log_level, LogLevel::kInfo);
  EXPECT_EQ(config.template_date, "2025-01-01");
  EXPECT_EQ(config.store, "sqlite");
  EXPECT_FALSE(config.retain_age);
  EXPECT_FALSE(config.retain_bytes);
}

TEST_F(ConfigTest, TheGrpcPortMayBeASocketInTheFileSystem) {
  EXPECT_EQ(Good({"--listen", "unix:/run/sinkd/grpc"}).listen, "unix:/run/sinkd/grpc");
}

TEST_F(ConfigTest, TheStateFolderIsWhereTheSystemKeepsState) {
  const Variables all = {{"STATE_DIRECTORY", "/var/lib/sinkd:/var/lib/other"},
                         {"XDG_STATE_HOME", "/state"},
                         {"HOME", "/home/a"}};
  EXPECT_EQ(Good({}, all).state_dir, "/var/lib/sinkd");
  EXPECT_EQ(Good({}, {{"XDG_STATE_HOME", "/state"}, {"HOME", "/home/a"}}).state_dir,
            "/state/sinkd");
  EXPECT_EQ(Good({}, {{"HOME", "/home/a"}}).state_dir, "/home/a/.local/state/sinkd");
  EXPECT_EQ(Good({}).state_dir, "");
  EXPECT_EQ(Good({"--state-dir", "/mine"}, all).state_dir, "/mine");
}

TEST_F(ConfigTest, RunsMayBeKeptInPostgresOrNotAtAll) {
  EXPECT_EQ(Good({"--store", "off"}).store, "off");
  const char* const url = "postgresql://sinkd@db.example:5432/runs?sslmode=require";
  EXPECT_EQ(Good({"--store", url}).store, url);
  EXPECT_EQ(Good({}, {{"SINKD_STORE_URL_FILE", "/run/secrets/url"}}).store_url_file,
            "/run/secrets/url");
  const Config kept = Good({"--retain-age", "90d", "--retain-bytes", "10GiB"});
  EXPECT_EQ(kept.retain_age, std::chrono::hours(24 * 90));
  EXPECT_EQ(kept.retain_bytes, int64_t{10} << 30);
  EXPECT_FALSE(Good({"--retain-age", "off"}).retain_age);
}

TEST_F(ConfigTest, APasswordOnTheCommandLineIsRefusedAndNotRepeated) {
  for (const char* const url : {"postgresql://sinkd:hunter2@db/runs", "postgres://a:hunter2@b",
                                "postgresql://db/runs?password=hunter2"}) {
    const absl::Status error = Parse({"--model-root", root_.string(), "--store", url}).status();
    ASSERT_FALSE(error.ok());
    EXPECT_THAT(std::string(error.message()), HasSubstr("--store-url-file"));
    EXPECT_THAT(error.ToString(), testing::Not(HasSubstr("hunter2")));
  }
}

TEST_F(ConfigTest, ReadsEveryFlag) {
  const Config config = Good({"--listen",
                              "localhost:0",
                              "--http-listen=off",
                              "--load",
                              "a",
                              "--load=b",
                              "--device",
                              "cuda:1",
                              "--compute-type",
                              "bfloat16",
                              "--residency",
                              "streamed",
                              "--activation-quantization",
                              "as-stored",
                              "--threads",
                              "3",
                              "--float32-products",
                              "onednn",
                              "--attention",
                              "strips",
                              "--max-sample-tokens",
                              "100",
                              "--max-message-bytes",
                              "2MiB",
                              "--max-queue",
                              "5",
                              "--max-streams",
                              "6",
                              "--max-caller-percent",
                              "25",
                              "--max-connections",
                              "8",
                              "--max-connections-per-address",
                              "9",
                              "--first-message-timeout",
                              "11s",
                              "--write-timeout",
                              "12s",
                              "--stuck-after",
                              "90s",
                              "--read-ahead",
                              "7",
                              "--drain-delay",
                              "250ms",
                              "--drain-timeout",
                              "2m",
                              "--log-format",
                              "json",
                              "--log-level",
                              "warning",
                              "--template-date",
                              "2024-02-29"});
  EXPECT_EQ(config.listen, "localhost:0");
  EXPECT_EQ(config.http_listen, "");
  EXPECT_THAT(config.load, ElementsAre("a", "b"));
  EXPECT_EQ(config.device, "cuda:1");
  EXPECT_EQ(config.compute_type, ComputeType::kBfloat16);
  EXPECT_EQ(config.residency, Residency::kStreamed);
  EXPECT_EQ(config.activation_quantization, ActivationQuantization::kAsStored);
  EXPECT_EQ(config.threads, 3);
  EXPECT_EQ(config.float32_products, Float32Products::kOneDnn);
  EXPECT_EQ(config.attention, AttentionChoice::kStrips);
  EXPECT_EQ(config.max_sample_tokens, 100);
  EXPECT_EQ(config.max_message_bytes, 2 << 20);
  EXPECT_EQ(config.max_queue, 5);
  EXPECT_EQ(config.max_streams, 6);
  EXPECT_EQ(config.max_caller_percent, 25);
  EXPECT_EQ(config.max_connections, 8);
  EXPECT_EQ(config.max_connections_per_address, 9);
  EXPECT_EQ(config.first_message_timeout, milliseconds(11000));
  EXPECT_EQ(config.write_timeout, milliseconds(12000));
  EXPECT_EQ(config.stuck_after, milliseconds(90000));
  EXPECT_EQ(config.read_ahead, 7);
  EXPECT_EQ(config.drain_delay, milliseconds(250));
  EXPECT_EQ(config.drain_timeout, milliseconds(120000));
  EXPECT_EQ(config.log_format, LogFormat::kJson);
  EXPECT_EQ(config.log_level, LogLevel::kWarning);
  EXPECT_EQ(config.template_date, "2024-02-29");
}

struct Precedence {
  const char* name;
  bool flag, variable, file;
  int64_t queue;
  std::vector<std::string> load;
};

class ConfigPrecedence : public ConfigTest, public testing::WithParamInterface<Precedence> {};

TEST_P(ConfigPrecedence, TakesFlagThenVariableThenFileThenDefault) {
  std::vector<std::string> arguments;
  Variables variables;
  if (GetParam().flag) {
    arguments = {"--max-queue", "1", "--load", "flag-a", "--load", "flag-b"};
  }
  if (GetParam().variable) {
    variables = {{"SINKD_MAX_QUEUE", "2"}, {"SINKD_LOAD", "variable-a,variable-b"}};
  }
  if (GetParam().file) {
    arguments.push_back("--config");
    arguments.push_back(WriteFile("max-queue = 3\nload = [\"file-a\", \"file-b\"]\n"));
  }
  const Config config = Good(arguments, variables);
  EXPECT_EQ(config.max_queue, GetParam().queue);
  EXPECT_EQ(config.load, GetParam().load);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ConfigPrecedence,
    testing::Values(Precedence{"Nothing", false, false, false, 2048, {}},
                    Precedence{"File", false, false, true, 3, {"file-a", "file-b"}},
                    Precedence{"Variable", false, true, false, 2, {"variable-a", "variable-b"}},
                    Precedence{
                        "VariableOverFile", false, true, true, 2, {"variable-a", "variable-b"}},
                    Precedence{"Flag", true, false, false, 1, {"flag-a", "flag-b"}},
                    Precedence{"FlagOverFile", true, false, true, 1, {"flag-a", "flag-b"}},
                    Precedence{"FlagOverVariable", true, true, false, 1, {"flag-a", "flag-b"}},
                    Precedence{"FlagOverAll", true, true, true, 1, {"flag-a", "flag-b"}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(ConfigTest, TheFileMayBeNamedByAVariable) {
  EXPECT_EQ(Good({}, {{"SINKD_CONFIG", WriteFile("threads = 2\n")}}).threads, 2);
}

TEST_F(ConfigTest, AnEmptyVariableCountsAsUnset) {
  EXPECT_EQ(Good({}, {{"SINKD_MAX_QUEUE", ""}}).max_queue, 2048);
}

struct BadSetting {
  const char* name;
  std::vector<std::string> arguments;
  Variables variables;
  std::vector<std::string> said;  // all of it is in the message
};

class ConfigErrors : public ConfigTest, public testing::WithParamInterface<BadSetting> {};

TEST_P(ConfigErrors, NameTheSettingTheValueAndTheLimit) {
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.insert(arguments.end(), {"--model-root", root_.string()});
  const absl::Status error = Parse(arguments, GetParam().variables).status();
  EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
  for (const std::string& part : GetParam().said) {
    EXPECT_THAT(std::string(error.message()), HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ConfigErrors,
    testing::Values(
        BadSetting{"NotANumber", {"--threads", "two"}, {}, {"--threads", "two", "0 to 1024"}},
        BadSetting{"Negative", {"--threads=-1"}, {}, {"--threads", "-1", "0 to 1024"}},
        BadSetting{"NegativeApart", {"--threads", "-1"}, {}, {"--threads", "-1"}},
        BadSetting{"TooMany", {"--threads", "1025"}, {}, {"--threads", "1025", "1024"}},
        BadSetting{"Overflow", {"--max-queue", "99999999999999999999"}, {}, {"--max-queue"}},
        BadSetting{"Zero", {"--read-ahead", "0"}, {}, {"--read-ahead", "1 to 4096"}},
        BadSetting{
            "Variable", {}, {{"SINKD_MAX_STREAMS", "x"}}, {"SINKD_MAX_STREAMS", "x", "100000"}},
        BadSetting{"ByteUnit", {"--max-message-bytes", "8MB"}, {}, {"--max-message-bytes", "8MB"}},
        BadSetting{"BytesOverflow",
                   {"--max-message-bytes", "9223372036854775807GiB"},
                   {},
                   {"--max-message-bytes", "1073741824"}},
        BadSetting{"MemoryWithoutDevice",
                   {"--memory-budget", "8GiB"},
                   {},
                   {"--memory-budget", "8GiB", "cpu=8GiB,cuda:0=60GiB"}},
        BadSetting{"MemoryOfNoDevice", {"--memory-budget", "tpu=8GiB"}, {}, {"tpu=8GiB"}},
        BadSetting{"MemoryTwice",
                   {"--memory-budget", "cpu=8GiB,cpu=9GiB"},
                   {},
                   {"--memory-budget", "each once"}},
        BadSetting{"LittleMemory", {"--memory-budget", "cpu=1000"}, {}, {"1000", "1048576"}},
        BadSetting{"TimeUnit", {"--drain-delay", "5 s"}, {}, {"--drain-delay", "5 s", "3600s"}},
        BadSetting{"LongDrain", {"--drain-timeout", "61m"}, {}, {"--drain-timeout", "3600s"}},
        BadSetting{"StuckAfterNothing", {"--stuck-after", "0s"}, {}, {"--stuck-after", "1s to 1h"}},
        BadSetting{"UnixNowhere", {"--listen", "unix:"}, {}, {"--listen", "unix:"}},
        BadSetting{"Choice", {"--compute-type", "fp16"}, {}, {"fp16", "auto, float32, bfloat16"}},
        BadSetting{"CaseMatters", {"--log-level", "INFO"}, {}, {"INFO", "info"}},
        BadSetting{"Date", {"--template-date", "2025-02-29"}, {}, {"2025-02-29", "calendar"}},
        BadSetting{"DateForm", {"--template-date", "1 Jan 2025"}, {}, {"YYYY-MM-DD"}},
        BadSetting{"Port", {"--listen", "127.0.0.1:70000"}, {}, {"--listen", "65535"}},
        BadSetting{"NoPort", {"--listen", "127.0.0.1"}, {}, {"--listen", "host:port"}},
        BadSetting{"BareIpv6", {"--listen", "::1:5"}, {}, {"--listen", "[::1]"}},
        BadSetting{"Device", {"--device", "CUDA 0"}, {}, {"--device", "CUDA 0", "cuda:0"}},
        BadSetting{"DeviceIndex", {"--device", "cuda:128"}, {}, {"--device", "cuda:128", "127"}},
        BadSetting{"DeviceMapOpen", {"--device", "cuda:0=0-"}, {}, {"--device", "cuda:0=0-"}},
        BadSetting{"DeviceMapTurned", {"--device", "cpu=5-4"}, {}, {"cpu=5-4", "cuda:1=16-31"}},
        BadSetting{"DeviceMapEnds", {"--device", "cpu=0-1,"}, {}, {"--device", "cpu=0-1,"}},
        BadSetting{"Residency", {"--residency", "disk"}, {}, {"disk", "resident, streamed"}},
        BadSetting{"ModelId", {"--load", "../x"}, {}, {"--load", "../x", "lower-case"}},
        BadSetting{"Twice", {"--threads", "1", "--threads", "2"}, {}, {"--threads", "1 and 2"}},
        BadSetting{"UnknownFlag", {"--thread", "1"}, {}, {"--thread", "--help"}},
        BadSetting{"StrayWord", {"models"}, {}, {"models", "--help"}},
        BadSetting{"MissingValue", {"--max-queue"}, {}, {"--max-queue"}},
        BadSetting{"Switch", {}, {{"SINKD_INSECURE_LISTEN", "yes"}}, {"SINKD_INSECURE_LISTEN"}},
        BadSetting{"Store", {"--store", "mysql://a"}, {}, {"--store", "mysql://a", "sqlite"}},
        BadSetting{"TwoStores",
                   {"--store", "off", "--store-url-file", "/url"},
                   {},
                   {"--store", "--store-url-file"}},
        BadSetting{"HostWithPort",
                   {"--http-allow-host", "a.example:80"},
                   {},
                   {"--http-allow-host", "a.example:80", "without a port"}},
        BadSetting{"HostOfOtherLetters", {"--http-allow-host", "a/b"}, {}, {"--http-allow-host"}},
        BadSetting{"OriginWithPath",
                   {"--http-allow-origin", "https://a.example/"},
                   {},
                   {"--http-allow-origin", "https://a.example/", "without a path"}},
        BadSetting{"OriginWithoutScheme",
                   {},
                   {{"SINKD_HTTP_ALLOW_ORIGIN", "a.example"}},
                   {"SINKD_HTTP_ALLOW_ORIGIN", "a.example"}},
        BadSetting{"RetainAge", {"--retain-age", "never"}, {}, {"--retain-age", "90d"}},
        BadSetting{"RetainBytes", {"--retain-bytes", "-1"}, {}, {"--retain-bytes", "-1"}},
        BadSetting{"OpenPort",
                   {"--listen", "0.0.0.0:50051"},
                   {},
                   {"--listen", "0.0.0.0:50051", "--insecure-listen"}},
        BadSetting{"OpenMetrics",
                   {"--http-listen", "[::]:9464"},
                   {},
                   {"--http-listen", "[::]:9464", "--insecure-listen"}},
        BadSetting{"OpenPortWithTokensInPlaintext",
                   {"--listen", "0.0.0.0:1", "--token-file", "/tokens"},
                   {},
                   {"--listen", "no TLS", "tokens too", "--tls-cert"}},
        BadSetting{"OpenPortWithTlsForEveryone",
                   {"--listen", "0.0.0.0:1", "--tls-cert", "/a.crt", "--tls-key", "/a.key"},
                   {},
                   {"--listen", "no authentication", "--token-file", "--tls-client-ca"}},
        BadSetting{"CertificateWithoutKey", {"--tls-cert", "/a.crt"}, {}, {"--tls-key"}},
        BadSetting{"KeyWithoutCertificate", {}, {{"SINKD_TLS_KEY", "/a.key"}}, {"--tls-cert"}},
        BadSetting{"ClientCaWithoutCertificate",
                   {"--tls-client-ca", "/ca.crt"},
                   {},
                   {"--tls-client-ca", "--tls-cert"}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(ConfigTest, NamesAndOriginsOfTheHttpPortAreLists) {
  EXPECT_THAT(Good({}).http_allow_host, testing::IsEmpty());
  EXPECT_THAT(Good({}).http_allow_origin, testing::IsEmpty());
  const Config config = Good({"--http-allow-host", "sinkd.example.org", "--http-allow-host",
                              "[fd00::1]", "--http-allow-origin", "*"},
                             {{"SINKD_HTTP_ALLOW_HOST", "not.taken"}});
  EXPECT_THAT(config.http_allow_host, ElementsAre("sinkd.example.org", "[fd00::1]"));
  EXPECT_THAT(config.http_allow_origin, ElementsAre("*"));
  EXPECT_THAT(Good({}, {{"SINKD_HTTP_ALLOW_ORIGIN", "https://a.example,http://[::1]:3000"}})
                  .http_allow_origin,
              ElementsAre("https://a.example", "http://[::1]:3000"));
}

TEST_F(ConfigTest, AnOpenPortNeedsTheFlagThatNamesTheRisk) {
  EXPECT_EQ(Good({"--listen", "0.0.0.0:1", "--insecure-listen"}).listen, "0.0.0.0:1");
  EXPECT_TRUE(Good({"--listen", "[::]:1"}, {{"SINKD_INSECURE_LISTEN", "true"}}).insecure_listen);
  EXPECT_FALSE(
      Parse({"--model-root", root_.string(), "--listen", "0.0.0.0:1", "--insecure-listen=false"})
          .ok());
}

TEST_F(ConfigTest, TakesADeviceAllOfThemOrAMap) {
  for (const char* const device : {"cpu", "cuda:0", "auto", "cuda:0=0-15,cuda:1=16-31", "cpu=0"}) {
    EXPECT_EQ(Good({"--device", device}).device, device);
    EXPECT_EQ(Good({}, {{"SINKD_DEVICE", device}}).device, device);
    EXPECT_EQ(Good({"--config", WriteFile(std::string("device = \"") + device + "\"\n")}).device,
              device);
  }
}

TEST_F(ConfigTest, AMemoryBudgetIsReadByDeviceAndPrinted) {
  EXPECT_TRUE(Good({}).memory_budget.empty());
  const Config config = Good({"--memory-budget", "cuda:0=60GiB,cpu=512MiB"});
  EXPECT_EQ(config.memory_budget, (std::map<std::string, int64_t>{{"cpu", int64_t{512} << 20},
                                                                  {"cuda:0", int64_t{60} << 30}}));
  const std::string file = WriteFile("memory-budget = \"cpu=2GiB\"\n");
  EXPECT_EQ(Good({"--config", file}).memory_budget.at("cpu"), int64_t{2} << 30);
  EXPECT_EQ(Good({"--config", file}, {{"SINKD_MEMORY_BUDGET", "cpu=1GiB"}}).memory_budget.at("cpu"),
            int64_t{1} << 30);
  const auto printed = Parse({"--model-root", root_.string(), "--memory-budget",
                              "cuda:0=60GiB,cpu=512MiB", "--print-config"});
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_THAT(*printed->text, HasSubstr("\"cpu=536870912,cuda:0=64424509440\""));
}

TEST_F(ConfigTest, KnowsLoopbackAddresses) {
  for (const char* const address : {"127.0.0.1:1", "127.9.8.7:1", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* const address :
       {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "localhost.evil.org:1",
        "127.0.0.1.evil.org:1", "[::ffff:10.0.0.1]:1", "example.org:1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST_F(ConfigTest, TheModelRootMustBeGivenAndExist) {
  EXPECT_THAT(std::string(Parse({}).status().message()), HasSubstr("--model-root"));
  const absl::Status error = Parse({"--model-root", "/no/such/folder"}).status();
  EXPECT_THAT(std::string(error.message()), HasSubstr("/no/such/folder"));
}

TEST_F(ConfigTest, AnUnknownKeyInTheFileIsNamed) {
  const std::string file = WriteFile("max-que = 1\n");
  const absl::Status error = Parse({"--config", file}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr("max-que"));
  EXPECT_THAT(std::string(error.message()), HasSubstr(file));
}

TEST_F(ConfigTest, AnOpenPortIsFineWhereItSpeaksTlsAndAsksWhoCalls) {
  for (const char* asks : {"--token-file", "--tls-client-ca"}) {
    const Config config = Good({"--listen", "0.0.0.0:1", "--http-listen", "[::]:2", "--tls-cert",
                                "/a.crt", "--tls-key", "/a.key", asks, "/file"});
    EXPECT_EQ(config.listen, "0.0.0.0:1");
    EXPECT_EQ(config.tls.certificate, "/a.crt");
    EXPECT_EQ(config.tls.key, "/a.key");
    EXPECT_FALSE(config.insecure_listen);
  }
}

TEST_F(ConfigTest, AWrongValueInTheFileIsNamed) {
  const std::string file = WriteFile("max-queue = \"many\"\n");
  const absl::Status error = Parse({"--config", file}).status();
  EXPECT_THAT(std::string(error.message()), HasSubstr("max-queue in " + file));
  EXPECT_THAT(std::string(error.message()), HasSubstr("many"));
}

TEST_F(ConfigTest, HelpAndVersionComeBackAsText) {
  const absl::StatusOr<ConfigOutcome> version = Parse({"--version"});
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_EQ(version->text, "sinkd 1.2.3\n");
  const absl::StatusOr<ConfigOutcome> help = Parse({"--help"});
  ASSERT_TRUE(help.ok()) << help.status();
  for (const char* const part :
       {"--listen", "127.0.0.1:50051", "SINKD_MAX_QUEUE", "--load", "--insecure-listen", "RISK",
        "--template-date", "--print-config"}) {
    EXPECT_THAT(*help->text, HasSubstr(part));
  }
}

TEST_F(ConfigTest, ThePrintedConfigReadsBackAsItself) {
  const absl::StatusOr<ConfigOutcome> printed = Parse({"--model-root",
                                                       root_.string(),
                                                       "--listen",
                                                       "0.0.0.0:7",
                                                       "--insecure-listen",
                                                       "--http-listen",
                                                       "off",
                                                       "--load",
                                                       "a",
                                                       "--load",
                                                       "b.c",
                                                       "--compute-type",
                                                       "float32",
                                                       "--residency",
                                                       "streamed",
                                                       "--device",
                                                       "cuda:0=0-3,cpu=4-5",
                                                       "--drain-delay",
                                                       "1500ms",
                                                       "--log-format",
                                                       "json",
                                                       "--state-dir",
                                                       "/state",
                                                       "--retain-age",
                                                       "36h",
                                                       "--http-allow-host",
                                                       "a.example",
                                                       "--http-allow-origin",
                                                       "https://b.example",
                                                       "--print-config"});
  ASSERT_TRUE(printed.ok()) << printed.status();
  ASSERT_TRUE(printed->text.has_value());
  const absl::StatusOr<ConfigOutcome> again = Parse({"--config", WriteFile(*printed->text)});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->text.has_value());
  EXPECT_EQ(ConfigToToml(again->config), *printed->text);
  EXPECT_EQ(again->config.http_listen, "");
  EXPECT_EQ(again->config.drain_delay, milliseconds(1500));
  EXPECT_THAT(again->config.load, ElementsAre("a", "b.c"));
  EXPECT_THAT(again->config.http_allow_host, ElementsAre("a.example"));
  EXPECT_THAT(again->config.http_allow_origin, ElementsAre("https://b.example"));
  EXPECT_EQ(again->config.retain_age, std::chrono::hours(36));
  EXPECT_FALSE(again->config.retain_bytes);
}

}  // namespace
}  // namespace sinkd
