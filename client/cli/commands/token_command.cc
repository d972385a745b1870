#include <openssl/rand.h>

#include <string_view>

#include <absl/strings/escaping.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/input/content_id.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

constexpr int kSecretBytes = 32;
// Lets scanners for leaked secrets know one of these.
constexpr char kPrefix[] = "sinkd_";

std::string LineOf(const TokenOptions& options, std::string_view token) {
  std::string line =
      fmt::format("{} {} {}", options.name, options.role, absl::BytesToHexString(Sha256(token)));
  const auto add = [&line](const char* key, const auto& value) {
    if (value) line += fmt::format(" {}={}", key, *value);
  };
  add("requests-per-minute", options.requests_per_minute);
  add("tokens-per-minute", options.tokens_per_minute);
  add("streams", options.streams);
  add("weight", options.weight);
  return line;
}

std::string CheckName(const std::string& name) {
  const bool good =
      !name.empty() && name.size() <= 64 && name[0] != '.' && name[0] != '_' && name[0] != '-' &&
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
          std::string::npos;
  return good ? ""
              : "\"" + client::MakePrintable(name) +
                    "\" is not a name: 1 to 64 letters, digits, '.', '_' or '-', the first one a "
                    "letter or digit";
}

ExitCode RunToken(const Invocation& invocation) {
  std::string secret(kSecretBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), kSecretBytes) != 1) {
    Say("this machine gives no random numbers");
    return kExitRpcError;
  }
  const std::string token = kPrefix + absl::WebSafeBase64Escape(secret);
  const std::string line = LineOf(invocation.token, token);
  if (invocation.global.output == OutputFormat::kTable) {
    fmt::print("token  {}\nline   {}\n", token, line);
  } else {
    fmt::print("{}\n", nlohmann::json{{"token", token}, {"line", line}}.dump());
  }
  return kExitOk;
}

}  // namespace

void AddTokenCommand(CLI::App& app, Invocation& invocation) {
  TokenOptions& options = invocation.token;
  CLI::App* token = app.add_subcommand("token", "Make a token that a server takes");
  token->require_subcommand(1);
  CLI::App* made = AddCommand(
      *token, invocation, "new",
      "Print a new token, which nothing can show again, and its line of --token-file", RunToken);
  made->add_option("--name", options.name, "Who is to use it; shows in logs")
      ->required()
      ->check(CheckName);
  made->add_option("--role", options.role, "What it may do: read, analyse or admin")
      ->required()
      ->check(CLI::IsMember({"read", "analyse", "admin"}));
  made->add_option("--requests-per-minute", options.requests_per_minute, "Requests it may make")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  made->add_option("--tokens-per-minute", options.tokens_per_minute,
                   "Tokens of samples that may run for it")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  made->add_option("--streams", options.streams, "Analyses and studies it may have open at once")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  made->add_option("--weight", options.weight, "Its share of a busy device; 1 without this")
      ->check(CLI::Range(0.01, 100.0));
  made->footer("Example:\n  sinkctl token new --name ci --role analyse --streams 4");
  for (CLI::App* each : {token, made}) each->fallthrough();
}

}  // namespace sinkd::cli
