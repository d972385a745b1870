#include "server/analysis/parameter_rules.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/descriptor.h>

#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "sinks/v1/options.pb.h"

namespace sinkd {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using sinks::v1::ParameterRule;

std::vector<const FieldDescriptor*> FieldsOf(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    fields.push_back(message.GetDescriptor()->field(i));
  }
  return fields;
}

const ParameterRule& RuleOf(const FieldDescriptor* field) {
  return field->options().GetExtension(sinks::v1::rule);
}

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

int CountOf(const Message& message, const FieldDescriptor* field) {
  const Reflection& access = *message.GetReflection();
  if (field->is_repeated()) return access.FieldSize(message, field);
  if (!access.HasField(message, field)) return 0;
  // An unspecified value is as good as none.
  const bool is_enum = field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  return is_enum && access.GetEnumValue(message, field) == 0 ? 0 : 1;
}

// Sets the field, or adds to it. Texts are those of our own .proto files, which tests go through.
void SetDefault(const std::string& text, const FieldDescriptor* field, Message& message) {
  const Reflection& access = *message.GetReflection();
  const bool many = field->is_repeated();
  double number = 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return access.SetBool(&message, field, text == "true");
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumValueDescriptor* value = field->enum_type()->FindValueByName(text);
      return many ? access.AddEnum(&message, field, value) : access.SetEnum(&message, field, value);
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (!absl::SimpleAtod(text, &number)) break;
      return many ? access.AddDouble(&message, field, number)
                  : access.SetDouble(&message, field, number);
    case FieldDescriptor::CPPTYPE_INT32:
      if (!absl::SimpleAtod(text, &number)) break;
      return access.SetInt32(&message, field, static_cast<int32_t>(number));
    case FieldDescriptor::CPPTYPE_INT64:
      if (!absl::SimpleAtod(text, &number)) break;
      return access.SetInt64(&message, field, static_cast<int64_t>(number));
    default:
      break;
  }
}

// Value `i` of a number or an enum.
double ValueOf(const Message& message, const FieldDescriptor* field, int i) {
  const Reflection& access = *message.GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? access.GetRepeatedInt32(message, field, i) : access.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(many ? access.GetRepeatedInt64(message, field, i)
                                      : access.GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return many ? access.GetRepeatedDouble(message, field, i) : access.GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return many ? access.GetRepeatedEnumValue(message, field, i)
                  : access.GetEnumValue(message, field);
    default:
      return 0;
  }
}

std::string TextOf(const FieldDescriptor* field, double value) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE
             ? absl::StrCat(value)
             : absl::StrCat(static_cast<int64_t>(value));
}

std::string LimitsOf(const ParameterRule& rule) {
  if (rule.has_least() && rule.has_most()) {
    return absl::StrCat("from ", rule.least(), " to ", rule.most());
  }
  std::vector<std::string> limits;
  if (rule.has_least()) limits.push_back(absl::StrCat("at least ", rule.least()));
  if (rule.has_above()) limits.push_back(absl::StrCat("over ", rule.above()));
  if (rule.has_most()) limits.push_back(absl::StrCat("at most ", rule.most()));
  if (rule.has_below()) limits.push_back(absl::StrCat("under ", rule.below()));
  return limits.empty() ? "a number" : absl::StrJoin(limits, " and ");
}

// `text` is the value as it is shown.
absl::Status CheckNumber(const std::string& name, double value, const std::string& text,
                         const ParameterRule& rule, int64_t blocks) {
  if (rule.block()) {
    return CheckParameter(value >= 0 && value < static_cast<double>(blocks), name, text,
                          absl::StrCat("from 0 to ", blocks - 1));
  }
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const bool fits = value >= (rule.has_least() ? rule.least() : -kAny) &&
                    value <= (rule.has_most() ? rule.most() : kAny) &&
                    value > (rule.has_above() ? rule.above() : -kAny) &&
                    value < (rule.has_below() ? rule.below() : kAny);
  return CheckParameter(fits, name, text, LimitsOf(rule));
}

// The name of the message's preset, which is cleared; empty without one. A value that is none
// stays, for CheckParameters to refuse.
std::string TakePreset(Message& message) {
  const Reflection& access = *message.GetReflection();
  for (const FieldDescriptor* field : FieldsOf(message)) {
    if (!RuleOf(field).preset()) continue;
    const EnumValueDescriptor* value =
        field->enum_type()->FindValueByNumber(access.GetEnumValue(message, field));
    if (value == nullptr) continue;
    access.ClearField(&message, field);
    return value->name();
  }
  return {};
}

std::vector<std::string> DefaultsOf(const FieldDescriptor* field, const std::string& preset) {
  const ParameterRule& rule = RuleOf(field);
  for (const sinks::v1::PresetDefault& under : rule.preset_default()) {
    if (under.preset() == preset) return {under.value()};
  }
  return {rule.default_().begin(), rule.default_().end()};
}

absl::Status CheckEnum(const std::string& name, int number, const FieldDescriptor* field,
                       const ParameterRule& rule) {
  const auto& type = *field->enum_type();
  const EnumValueDescriptor* value = type.FindValueByNumber(number);
  if (value == nullptr || number == 0) {
    return UnknownEnum(name, number, 1, type.value(type.value_count() - 1)->number());
  }
  const auto& allowed = rule.allowed();
  return CheckParameter(
      allowed.empty() || std::find(allowed.begin(), allowed.end(), value->name()) != allowed.end(),
      name, value->name(), absl::StrCat("one of ", absl::StrJoin(allowed, ", ")));
}

absl::Status CheckField(const Message& message, const FieldDescriptor* field,
                        const std::string& name, int64_t blocks) {
  const ParameterRule& rule = RuleOf(field);
  const int count = CountOf(message, field);
  if (rule.has_most_values()) {
    SINKD_RETURN_IF_ERROR(CheckParameter(count <= rule.most_values(), name, count,
                                         absl::StrCat("a list of at most ", rule.most_values())));
  }
  std::set<double> seen;
  for (int i = 0; i < count; ++i) {
    const std::string one = field->is_repeated() ? absl::StrCat(name, "[", i, "]") : name;
    const double value = ValueOf(message, field, i);
    SINKD_RETURN_IF_ERROR(field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM
                              ? CheckEnum(one, static_cast<int>(value), field, rule)
                              : CheckNumber(one, value, TextOf(field, value), rule, blocks));
    const bool first = seen.insert(value).second || !rule.distinct();
    SINKD_RETURN_IF_ERROR(CheckParameter(first, one, value, "a value that comes once"));
  }
  return absl::OkStatus();
}

}  // namespace

void FillDefaults(Message& message) {
  const std::string preset = TakePreset(message);
  for (const FieldDescriptor* field : FieldsOf(message)) {
    if (IsMessage(field)) {
      if (!field->is_repeated() && CountOf(message, field) > 0) {
        FillDefaults(*message.GetReflection()->MutableMessage(&message, field));
      }
    } else if (CountOf(message, field) == 0) {
      for (const std::string& text : DefaultsOf(field, preset)) SetDefault(text, field, message);
    }
  }
}

absl::Status CheckParameters(const Message& message, const std::string& path, int64_t blocks) {
  for (const FieldDescriptor* field : FieldsOf(message)) {
    const std::string name = path.empty() ? field->name() : absl::StrCat(path, ".", field->name());
    if (!IsMessage(field)) {
      if (!field->options().HasExtension(sinks::v1::rule)) continue;
      SINKD_RETURN_IF_ERROR(CheckField(message, field, name, blocks));
    } else if (!field->is_repeated() && CountOf(message, field) > 0) {
      SINKD_RETURN_IF_ERROR(
          CheckParameters(message.GetReflection()->GetMessage(message, field), name, blocks));
    }
  }
  return absl::OkStatus();
}

}  // namespace sinkd
