#include "client/cli/output/model_view.h"

#include <absl/strings/strip.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/util/time_util.h>

#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

std::string Id(const v1::Model& model) {
  return ModelId(model.name());
}

Style StateStyle(v1::ModelState state) {
  switch (state) {
    case v1::MODEL_STATE_READY:
      return Style::kGreen;
    case v1::MODEL_STATE_LOADING:
    case v1::MODEL_STATE_UNLOADING:
      return Style::kYellow;
    case v1::MODEL_STATE_FAILED:
      return Style::kRed;
    default:
      return Style::kPlain;
  }
}

std::string OrAbsent(const std::string& text) {
  return text.empty() ? kAbsent : client::MakePrintable(text);
}

bool IsStreamed(const v1::Model& model) {
  return model.residency() == v1::RESIDENCY_STREAMED;
}

std::string LastUsed(const v1::Model& model) {
  return google::protobuf::util::TimeUtil::ToString(
      google::protobuf::util::TimeUtil::SecondsToTimestamp(model.last_used_time().seconds()));
}

CsvTable::Words CsvWords(const v1::Model& model) {
  return {fmt::format("{}", fmt::join(model.warnings(), "; ")),
          model.has_last_used_time() ? LastUsed(model) : ""};
}

std::vector<Cell> Row(const v1::Model& model) {
  const auto number = [](bool present, int64_t value) {
    return present ? Grouped(value) : std::string(kAbsent);
  };
  return {Cell(Id(model), Style::kBold),
          Cell(WordOf(model.state()), StateStyle(model.state())),
          OrAbsent(model.architecture()),
          number(model.has_blocks(), model.blocks()),
          number(model.has_hidden_size(), model.hidden_size()),
          number(model.has_heads(), model.heads()),
          number(model.has_max_positions(), model.max_positions()),
          OrAbsent(model.device()),
          OrAbsent(WordOf(model.compute_type(), "")) + (IsStreamed(model) ? ", streamed" : ""),
          model.has_weight_bytes()
              ? Bytes(model.weight_bytes()) + (model.pinned() ? ", pinned" : "")
              : kAbsent,
          model.has_chat_template() ? "yes" : "no"};
}

std::string Card(const v1::Model& model, const Terminal& terminal) {
  std::string text = Paint(terminal.color_out, Style::kBold, Id(model)) + "  " +
                     Paint(terminal.color_out, StateStyle(model.state()), WordOf(model.state())) +
                     '\n';
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<15}{}\n", label, value);
  };
  line("architecture", OrAbsent(model.architecture()));
  line("shape", fmt::format("{} blocks, hidden size {}, {} heads, {} kv heads", model.blocks(),
                            model.hidden_size(), model.heads(), model.kv_heads()));
  if (model.attention_blocks_size() > 0) {
    line("attention", fmt::format("softmax in {} of the blocks: {}", model.attention_blocks_size(),
                                  fmt::join(model.attention_blocks(), " ")));
  }
  line("vocabulary", Grouped(model.vocabulary_size()));
  line("longest sample", fmt::format("{} tokens", Grouped(model.max_positions())));
  line("chat template", model.has_chat_template() ? "yes" : "no");
  if (!model.device().empty()) {
    line("held on", fmt::format("{} as {}, {}{}", client::MakePrintable(model.device()),
                                WordOf(model.compute_type(), ""), Bytes(model.weight_bytes()),
                                IsStreamed(model) ? ", streamed from disk" : ""));
    if (model.has_attention()) {
      line("computed", fmt::format("attention {}", client::MakePrintable(model.attention())));
    }
  }
  if (model.has_quantization()) {
    const std::string activations = model.has_activation_quantization()
                                        ? "; activations " + model.activation_quantization()
                                        : "; activations are not";
    line("quantized", client::MakePrintable(model.quantization() + activations));
  }
  if (model.has_pinned()) {
    line("memory", model.pinned() ? "pinned" : "goes when another load needs room");
    line("users", fmt::format("{}, last used {}", Grouped(model.users()), LastUsed(model)));
  }
  if (!model.failure().empty()) {
    line("failure", Paint(terminal.color_out, Style::kRed, client::MakePrintable(model.failure())));
  }
  for (const std::string& warning : model.warnings()) {
    line("warning", client::MakePrintable(warning));
  }
  return text;
}

std::string Failure(const v1::Model& model) {
  if (model.failure().empty()) return "";
  return fmt::format("{}: {}\n", Id(model), client::MakePrintable(model.failure()));
}

}  // namespace

std::string ModelId(const std::string& name) {
  return std::string(absl::StripPrefix(name, "models/"));
}

const ListView<v1::Model>& ModelListView() {
  static const auto* const view =
      new ListView<v1::Model>{.type = "model",
                              .plural = "models",
                              .none = "no models under the server's model root\n",
                              .csv_columns =
                                  "name,state,architecture,blocks,hidden_size,heads,kv_heads,"
                                  "vocabulary_size,max_positions,device,compute_type,weight_bytes,"
                                  "has_chat_template,failure,warnings=,residency,pinned,"
                                  "last_used_time=,users",
                              .csv_words = CsvWords,
                              .id = Id,
                              .columns = {{"model", Align::kLeft},
                                          {"state", Align::kLeft},
                                          {"family", Align::kLeft},
                                          {"blocks"},
                                          {"hidden"},
                                          {"heads"},
                                          {"max tokens"},
                                          {"device", Align::kLeft},
                                          {"format", Align::kLeft},
                                          {"memory"},
                                          {"chat", Align::kLeft}},
                              .row = Row,
                              .card = Card,
                              .remark = Failure};
  return *view;
}

}  // namespace sinkd::cli
