// Templates that mean harm: each gives an error, and the process lives on.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/tokenizer/temporary_folder.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string Repeat(std::string_view text, size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

absl::StatusOr<std::string> Render(std::string_view text, std::string content = "hello") {
  TemporaryFolder folder;
  const auto tokenizer = Tokenizer::Load(folder.WriteTemplate(text).path());
  if (!tokenizer.ok()) return tokenizer.status();
  const ChatMessage message{"user", std::move(content)};
  return (*tokenizer)->RenderChat({&message, 1}, true, "2024-07-26");
}

struct Hostile {
  std::string name;
  std::string text;
  std::string reason;
};

void PrintTo(const Hostile& hostile, std::ostream* os) {
  *os << hostile.name;
}

class HostileTemplate : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileTemplate, GivesAnErrorAndLeavesTheProcessAlive) {
  const auto rendered = Render(GetParam().text);
  ASSERT_FALSE(rendered.ok());
  EXPECT_EQ(GetErrorDetail(rendered.status())->reason, GetParam().reason) << rendered.status();
  const bool of_the_folder =
      GetParam().reason == "TEMPLATE_TOO_LARGE" || GetParam().reason == "TEMPLATE_INVALID";
  EXPECT_EQ(rendered.status().code(), of_the_folder ? absl::StatusCode::kFailedPrecondition
                                                    : absl::StatusCode::kInvalidArgument)
      << rendered.status();
  EXPECT_FALSE(GetErrorDetail(rendered.status())->fix.empty());
  EXPECT_EQ(*Render("{{ messages[0].content }}"), "hello");
}

// Doubles what a namespace holds, `times` times.
std::string Doubling(std::string_view first, std::string_view next, int times,
                     std::string_view then) {
  return "{% set ns = namespace(x=" + std::string(first) + ") %}{% for i in range(" +
         std::to_string(times) + ") %}{% set ns.x = " + std::string(next) + " %}{% endfor %}" +
         std::string(then);
}

// `expression`, of ns.x and of another list like it, other.x.
std::string TwoOf(const std::string& expression) {
  return "{% set ns = namespace(x=[1]) %}{% set other = namespace(x=[1]) %}"
         "{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% set other.x = [other.x, other.x] "
         "%}"
         "{% endfor %}{{ " +
         expression + " }}";
}

std::string Nested(int times, std::string_view then) {
  return Doubling("[]", "[ns.x]", times, then);
}

std::vector<Hostile> Templates() {
  const std::string loop = "{% for a in range(100000) %}";
  const std::string end = "{% endfor %}";
  return {
      {"EndlessLoop", loop + loop + loop + "x" + end + end + end, "TEMPLATE_LIMIT"},
      {"SilentEndlessLoop", loop + loop + "{% set x = a %}" + end + end, "TEMPLATE_LIMIT"},
      {"FourHundredKilobytes", Repeat("x", 400 << 10), "TEMPLATE_TOO_LARGE"},
      {"FourHundredKilobytesOfAdding", "{{ 1" + Repeat("+1", 200 << 10) + " }}",
       "TEMPLATE_TOO_LARGE"},
      {"LongTildeChain", "{{ 'a'" + Repeat("~'a'", 2100) + " }}", "TEMPLATE_TOO_LARGE"},
      {"LongPlusChain", "{{ 1" + Repeat("+1", 4100) + " }}", "TEMPLATE_TOO_LARGE"},
      {"LongChainOfOperators", "{{ 1" + Repeat("-1*1", 4100) + " }}", "TEMPLATE_TOO_LARGE"},
      {"EndlessMacro", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "TEMPLATE_FAILED"},
      {"EndlessCaller",
       "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}"
       "{% call f() %}x{% endcall %}",
       "TEMPLATE_FAILED"},
      {"IncludesItself", "{% include 'chat_template' %}", "TEMPLATE_FAILED"},
      {"ExtendsItself", "{% extends 'chat_template' %}", "TEMPLATE_FAILED"},
      {"HugeOutput", Doubling("'xxxxxxxx'", "ns.x ~ ns.x", 22, "{{ ns.x }}"), "TEMPLATE_LIMIT"},
      {"HugeText", Doubling("'xxxxxxxx'", "ns.x ~ ns.x", 60, ""), "TEMPLATE_LIMIT"},
      {"HugeProduct", "{{ 'x' * 100000000000 }}", "TEMPLATE_LIMIT"},
      {"HugeReplace", "{% set x = 'a' * 1000000 %}{{ x.replace('a', x) }}", "TEMPLATE_LIMIT"},
      {"HugeReplaceFilter", "{% set x = 'a' * 1000000 %}{{ x | replace('a', x) }}",
       "TEMPLATE_LIMIT"},
      {"HugeJoin", "{% set x = 'a' * 1000000 %}{{ x.join(x) }}", "TEMPLATE_LIMIT"},
      {"HugeIndent", "{% set x = '\\n' * 1000000 %}{{ x | indent(1000, true, true) }}",
       "TEMPLATE_LIMIT"},
      {"DoublingListPrinted", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x }}"), "TEMPLATE_LIMIT"},
      {"DoublingListAsJson", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x | tojson }}"),
       "TEMPLATE_LIMIT"},
      {"DoublingListJoined", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x ~ '' }}"),
       "TEMPLATE_LIMIT"},
      {"DoublingListUpper", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x | upper }}"),
       "TEMPLATE_LIMIT"},
      {"DoublingListReplaced", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x | replace(1, 2) }}"),
       "TEMPLATE_LIMIT"},
      {"DoublingListInJoinFilter", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x | join }}"),
       "TEMPLATE_LIMIT"},
      {"DoublingListInJoinMethod", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ 'a'.join(ns.x) }}"),
       "TEMPLATE_FAILED"},
      {"DoublingListAsText", Doubling("[1]", "[ns.x, ns.x]", 60, "{{ ns.x | string }}"),
       "TEMPLATE_LIMIT"},
      {"DeepListPrinted", Nested(50000, "{{ ns.x }}"), "TEMPLATE_LIMIT"},
      {"DeepListAsJson", Nested(50000, "{{ ns.x | tojson }}"), "TEMPLATE_LIMIT"},
      {"DeepBrackets", "{{ " + Repeat("[", 7000) + Repeat("]", 7000) + " }}", "TEMPLATE_INVALID"},
      {"DeepParentheses", "{{ " + Repeat("(", 7000) + "1" + Repeat(")", 7000) + " }}",
       "TEMPLATE_INVALID"},
      {"DeepBlocks", Repeat("{% if 1 %}", 6000) + Repeat("{% endif %}", 5500), "TEMPLATE_INVALID"},
      {"HugeWidthOfAFormat", "{{ '{:100000000000000d}'.format(1) }}", "TEMPLATE_LIMIT"},
      {"HugeWidthInAnArgument", "{{ '{:{}}'.format(1, 20000000000) }}", "TEMPLATE_LIMIT"},
      {"HugeWidthOfAText", "{{ '{:>20000000000}'.format('a') }}", "TEMPLATE_LIMIT"},
      {"HugePrecision", "{{ '{:.20000000000f}'.format(1.5) }}", "TEMPLATE_LIMIT"},
      {"ManyWideFields", "{{ ('{0:>1000000}' * 100000).format('a') }}", "TEMPLATE_LIMIT"},
      {"ManyWidths", "{{ ('%(x)1000000d' * 100000) % {'x': 1} }}", "TEMPLATE_LIMIT"},
      {"HugeWidthOfPercent", "{{ '%100000000000000d' % 1 }}", "TEMPLATE_LIMIT"},
      {"HugeWidthOfAFilter", "{{ '%20000000000s' | format('a') }}", "TEMPLATE_LIMIT"},
      {"HugeCenter", "{{ 'a'.center(20000000000) }}", "TEMPLATE_LIMIT"},
      {"HugeCenterFilter", "{{ 'a' | center(20000000000) }}", "TEMPLATE_LIMIT"},
      {"HugeZeroFill", "{{ 'a'.zfill(20000000000) }}", "TEMPLATE_LIMIT"},
      {"HugeTabs", "{{ ('\t' * 1000).expandtabs(20000000000) }}", "TEMPLATE_LIMIT"},
      {"DoublingListCompared", TwoOf("ns.x == other.x"), "TEMPLATE_LIMIT"},
      {"DoublingListOrdered", TwoOf("ns.x < other.x"), "TEMPLATE_LIMIT"},
      {"DoublingListSearched", TwoOf("ns.x in [other.x]"), "TEMPLATE_LIMIT"},
      {"DoublingListAsAKey", Doubling("[1]", "[ns.x, ns.x]", 40, "{{ {ns.x: 1} | length }}"),
       "TEMPLATE_LIMIT"},
      {"DoublingListUnique", TwoOf("[ns.x, other.x] | unique | list | length"), "TEMPLATE_LIMIT"},
      {"DoublingListSorted", TwoOf("[ns.x, other.x] | sort | length"), "TEMPLATE_LIMIT"},
      {"DoublingListFormatted", Doubling("[1]", "[ns.x, ns.x]", 40, "{{ '{}'.format(ns.x) }}"),
       "TEMPLATE_LIMIT"},
      {"UnknownBlock", "{% nonsense %}", "TEMPLATE_INVALID"},
      {"UnclosedBlock", "{% for m in messages %}", "TEMPLATE_INVALID"},
      {"ReadsFiles", "{{ messages.__class__.__mro__[1].__subclasses__() }}", "TEMPLATE_FAILED"},
      {"LongRefusal", "{{ raise_exception('x' * 1000000) }}", "TEMPLATE_REFUSED"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, HostileTemplate, ::testing::ValuesIn(Templates()),
                         [](const auto& row) { return row.param.name; });

// Just within the limits on bytes and on operators, of which no link holds more than two.
size_t LongestAllowed(std::string_view link) {
  return std::min<size_t>(((128 << 10) - 100) / link.size(), 3990);
}

// Long chains of any operator are refused or render; they must not overflow the stack when they are
// parsed, compiled, run or dropped.
class LongChain : public ::testing::TestWithParam<std::string> {};

TEST_P(LongChain, DoesNotHarmTheProcess) {
  const std::string link = GetParam();
  const size_t count = LongestAllowed(link);
  (void)Render("{{ x" + Repeat(link, count) + " }}");
  (void)Render("{{ 1" + Repeat(link, count) + " }}");
  EXPECT_EQ(*Render("{{ messages[0].content }}"), "hello");
}

INSTANTIATE_TEST_SUITE_P(All, LongChain,
                         ::testing::Values("-1", "*1", "/1", "//1", "%1", "**1", " and 1", " or 1",
                                           "<1", "==1", " in x", " is none", "|e", "|trim", ".a",
                                           "[0]", "()", "(1)", " if 1 else 1", ",1", "[:]",
                                           " not in 1"));

class LongPrefix : public ::testing::TestWithParam<std::string> {};

TEST_P(LongPrefix, DoesNotHarmTheProcess) {
  const std::string link = GetParam();
  const size_t count = LongestAllowed(link);
  (void)Render("{{ " + Repeat(link, count) + "1 }}");
  (void)Render(Repeat("{% if 0 %}{% elif " + link + "1 %}", 2000) + "{% endif %}");
  EXPECT_EQ(*Render("{{ messages[0].content }}"), "hello");
}

INSTANTIATE_TEST_SUITE_P(All, LongPrefix,
                         ::testing::Values("not ", "-", "(", "[", "{1:", "x(", "a|"));

TEST(HostileTemplates, ValuesDeepInEachOtherAreDroppedSafely) {
  for (const std::string_view then :
       {"", "{{ ns.x == ns.x }}", "{{ ns.x | length }}",
        "{{ [ns.x, [ns.x]] | unique | list | length }}", "{{ ns.x ~ '' }}", "{{ ns.x < ns.x }}",
        "{{ {ns.x: 1} }}", "{{ ns.x in [ns.x] }}", "{{ ns.x | pprint }}"}) {
    (void)Render(Nested(90000, then));
  }
  EXPECT_EQ(*Render("{{ messages[0].content }}"), "hello");
}

// A child process renders; its end is an error of that call alone, and says which limits there are.
TEST(HostileTemplates, OneThatTakesTooLongIsEnded) {
  const auto rendered = Render(TwoOf("ns.x == other.x"));
  EXPECT_THAT(std::string(rendered.status().message()), HasSubstr("1 s of a processor"));
  EXPECT_THAT(std::string(rendered.status().message()), HasSubstr("1024 MiB of memory"));
}

TEST(HostileTemplates, TheProcessThatRendersIsReplacedWhenSomethingKillsIt) {
  ASSERT_EQ(*Render("{{ messages[0].content }}"), "hello");
  // The keeper is this process's only child.
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t keeper = 0;
  if (!(children >> keeper)) GTEST_SKIP() << "the kernel does not list children";
  ASSERT_EQ(kill(keeper, SIGTERM), 0);
  EXPECT_EQ(*Render("{{ messages[0].content }}"), "hello") << "a signal that ends servers ended it";
  ASSERT_EQ(kill(keeper, SIGKILL), 0);
  EXPECT_EQ(*Render("{{ messages[0].content }}"), "hello");
}

TEST(HostileTemplates, MessagesAreDataAndNotTemplates) {
  EXPECT_EQ(*Render("{{ messages[0].content }}", "{{ raise_exception('x') }}{% for %}"),
            "{{ raise_exception('x') }}{% for %}");
}

TEST(HostileTemplates, ErrorsNameTheFileAndTheLine) {
  const auto rendered = Render("line\n{% if %}");
  EXPECT_THAT(std::string(rendered.status().message()), HasSubstr("chat_template.jinja"));
  EXPECT_THAT(std::string(rendered.status().message()), HasSubstr("line 2"));
  EXPECT_EQ(GetErrorDetail(rendered.status())->subject, "chat_template.jinja");
}

TEST(HostileTemplates, RefusalsAreCutToAReadableLength) {
  const auto rendered = Render("{{ raise_exception('x' * 1000000) }}");
  EXPECT_LT(rendered.status().message().size(), 2000u);
}

TEST(HostileTemplates, LongMessagesRenderWithinTheLimits) {
  const std::string content = Repeat("a long message. ", 60000);
  const auto rendered = Render(
      "{% for m in messages %}{{ m.role ~ m.content.strip().split('</think>')[-1] | trim }}{% "
      "endfor %}",
      content);
  ASSERT_TRUE(rendered.ok()) << rendered.status();
  EXPECT_EQ(rendered->size(), 4 + content.size() - 1);
}

TEST(HostileTemplates, ADateThatIsNoDayIsRefused) {
  TemporaryFolder folder;
  const auto tokenizer = Tokenizer::Load(folder.WriteTemplate("x").path());
  ASSERT_TRUE(tokenizer.ok());
  const auto rendered = (*tokenizer)->RenderChat({}, true, "yesterday");
  EXPECT_EQ(rendered.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(rendered.status().message()), HasSubstr("yesterday"));
}

}  // namespace
}  // namespace sinkd
