#include "client/cli/flags/parameter_flags.h"

#include <string_view>

#include <absl/strings/ascii.h>
#include <absl/strings/str_replace.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "client/cli/flags/flag_values.h"
#include "sinks/v1/options.pb.h"

namespace sinkd {

// Of proto/CMakeLists.txt: a FileDescriptorSet with the comments of the .proto files.
std::string_view ProtocolDescription();

namespace cli {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const DescriptorPool& CommentedPool() {
  static const DescriptorPool* const pool = [] {
    google::protobuf::FileDescriptorSet files;
    const std::string_view bytes = ProtocolDescription();
    files.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    auto* built = new DescriptorPool;
    for (const auto& file : files.file()) built->BuildFile(file);
    return built;
  }();
  return *pool;
}

// The comment of a field or an enum value in one line, without its full stop.
template <typename Descriptor>
std::string CommentOf(const Descriptor* commented) {
  google::protobuf::SourceLocation location;
  if (commented == nullptr || !commented->GetSourceLocation(&location)) return "";
  std::string text = absl::StrReplaceAll(location.leading_comments, {{"\n", " "}});
  absl::RemoveExtraAsciiWhitespace(&text);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string HelpOf(const FieldDescriptor& field) {
  return CommentOf(CommentedPool().FindFieldByName(field.full_name()));
}

using Target = std::function<Message&()>;

// A flag that sets the field, or adds to it where it is repeated.
CLI::Option* AddField(CLI::App& app, const std::string& name, const FieldDescriptor* field,
                      const Target& target) {
  using google::protobuf::Reflection;
  const std::string help = HelpOf(*field);
  const bool many = field->is_repeated();
  const auto put = [=](auto set, auto add, auto value) {
    Message& message = target();
    const Reflection& fields = *message.GetReflection();
    many ? (fields.*add)(&message, field, value) : (fields.*set)(&message, field, value);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_ENUM:
      return AddChoice(
          app, name, ChoicesOf(*field->enum_type()), help,
          [=](int value) { put(&Reflection::SetEnumValue, &Reflection::AddEnumValue, value); },
          many);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AddNumber(
          app, name, help,
          [=](double value) { put(&Reflection::SetDouble, &Reflection::AddDouble, value); }, many);
    case FieldDescriptor::CPPTYPE_INT64:
      return AddInteger(
          app, name, help,
          [=](int64_t value) { put(&Reflection::SetInt64, &Reflection::AddInt64, value); },
          /*wide=*/true, many);
    default:
      return AddInteger(
          app, name, help,
          [=](int64_t value) {
            put(&Reflection::SetInt32, &Reflection::AddInt32, static_cast<int32_t>(value));
          },
          /*wide=*/false, many);
  }
}

CLI::Option* AddSwitch(CLI::App& app, const std::string& name, bool value,
                       const FieldDescriptor* field, const Target& target) {
  const auto set = [=] {
    Message& message = target();
    message.GetReflection()->SetBool(&message, field, value);
  };
  std::string help = HelpOf(*field);
  help = help.substr(0, help.find(". Default:"));
  if (value) return app.add_flag_callback("--" + name, set, help);
  if (help.starts_with("Also ")) help = help.substr(5);
  help[0] = absl::ascii_tolower(static_cast<unsigned char>(help[0]));
  return app.add_flag_callback("--no-" + name, set, "Do not " + help);
}

// The preset that a flag is named after: "--gu2024"; -1: it is named after the field.
int PresetOf(const std::string& name, const FieldDescriptor* field) {
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) return -1;
  for (const Choice& choice : ChoicesOf(*field->enum_type())) {
    if (choice.word == name) return choice.value;
  }
  return -1;
}

CLI::Option* AddPreset(CLI::App& app, const std::string& name, int preset,
                       const FieldDescriptor* field, const Target& target) {
  const std::string value = field->enum_type()->FindValueByNumber(preset)->full_name();
  return app.add_flag_callback(
      "--" + name,
      [=] {
        Message& message = target();
        message.GetReflection()->SetEnumValue(&message, field, preset);
      },
      CommentOf(CommentedPool().FindEnumValueByName(value)));
}

}  // namespace

void AddParameterFlags(CLI::App& app, const std::string& group,
                       const google::protobuf::Descriptor& type, const Target& message) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (!field->options().HasExtension(sinks::v1::rule)) continue;
    const sinks::v1::ParameterRule& rule = field->options().GetExtension(sinks::v1::rule);
    const std::string name =
        rule.has_flag() ? rule.flag() : absl::StrReplaceAll(field->name(), {{"_", "-"}});
    CLI::Option* option = nullptr;
    if (const int preset = PresetOf(name, field); preset >= 0) {
      option = AddPreset(app, name, preset, field, message);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      const bool is_default = rule.default__size() > 0 && rule.default_(0) == "true";
      option = AddSwitch(app, name, !is_default, field, message);
    } else {
      option = AddField(app, "--" + name, field, message);
    }
    option->group(group);
  }
}

}  // namespace cli
}  // namespace sinkd
