#include "client/error_report.h"

#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>

#include "client/channel.h"
#include "server/base/utf8.h"
#include "tests/client/fake_server.h"

namespace sinkd::client {
namespace {

using ::testing::HasSubstr;

TEST(ErrorReport, TakesReasonFieldAndRetryOutOfTheDetails) {
  const absl::Status status =
      FromGrpcStatus(testing::MakeError(grpc::StatusCode::INVALID_ARGUMENT, "id 9 is too large",
                                        "TOKEN_ID_OUT_OF_RANGE", "sample.token_ids[3]", 1500));
  const ErrorReport report = ReadErrorReport(status);
  EXPECT_EQ(report.code, absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(report.message, "id 9 is too large");
  EXPECT_EQ(report.reason, "TOKEN_ID_OUT_OF_RANGE");
  ASSERT_EQ(report.fields.size(), 1u);
  EXPECT_EQ(report.fields[0].subject, "sample.token_ids[3]");
  EXPECT_EQ(report.retry_after, std::chrono::milliseconds(1500));
  EXPECT_TRUE(report.has_details());
}

TEST(ErrorReport, DescribesEveryKindOfFinding) {
  google::rpc::Status rpc;
  rpc.set_code(9);
  rpc.set_message("not loaded");
  google::rpc::PreconditionFailure failure;
  auto& violation = *failure.add_violations();
  violation.set_type("MODEL");
  violation.set_subject("models/a");
  violation.set_description("load it first");
  rpc.add_details()->PackFrom(failure);
  google::rpc::QuotaFailure quota;
  quota.add_violations()->set_subject("queue");
  rpc.add_details()->PackFrom(quota);
  google::rpc::ResourceInfo resource;
  resource.set_resource_type("model");
  resource.set_resource_name("models/b");
  rpc.add_details()->PackFrom(resource);
  EXPECT_EQ(Describe(FromRpcStatus(rpc)),
            "FAILED_PRECONDITION: not loaded\n"
            "  precondition: MODEL models/a: load it first\n"
            "  quota: queue\n"
            "  resource: model models/b");
}

TEST(ErrorReport, SurvivesDetailsThatAreNotProto) {
  const absl::Status status =
      FromGrpcStatus(grpc::Status(grpc::StatusCode::INTERNAL, "broken", "\xff\xff\xff"));
  EXPECT_EQ(Describe(status), "INTERNAL: broken");
  EXPECT_FALSE(ReadErrorReport(status).has_details());
}

TEST(ErrorReport, NeverPassesTerminalControlOn) {
  EXPECT_EQ(MakePrintable("a\x1b[2J\n\xff"
                          "\u202e\u200b\u2028\uFFFEé漢"),
            "a\\x1b[2J\\n\\xff\\u{202e}\\u{200b}\\u{2028}\\u{fffe}é漢");
  EXPECT_THAT(Describe(absl::InternalError("\x1b]0;title\x07")), ::testing::Not(HasSubstr("\x1b")));
}

TEST(Utf8, FindsOverlongSurrogateTruncatedAndTooLargeSequences) {
  for (const char* bad : {"ab\xC0\x80", "ab\xED\xA0\x80", "ab\xE2\x82", "ab\xF4\x90\x80\x80",
                          "ab\x80", "ab\xF8\x88\x80\x80\x80"}) {
    EXPECT_EQ(FirstInvalidUtf8(bad), 2u) << bad;
  }
  EXPECT_FALSE(FirstInvalidUtf8("aé漢\xF0\x9F\x98\x80"));
  EXPECT_EQ(CutUtf8("aé", 2), "a");
}

struct AddressCase {
  const char* address;
  bool good;
};

void PrintTo(const AddressCase& item, std::ostream* out) {
  *out << item.address;
}

class Address : public ::testing::TestWithParam<AddressCase> {};

TEST_P(Address, IsTakenOrRefusedWithAHint) {
  const absl::Status status = CheckAddress(GetParam().address);
  EXPECT_EQ(status.ok(), GetParam().good) << status;
  if (!status.ok()) {
    EXPECT_THAT(std::string(status.message()), HasSubstr("give host:port"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Address,
    ::testing::Values(AddressCase{"127.0.0.1:50051", true}, AddressCase{"host.example:1", true},
                      AddressCase{"[::1]:50051", true}, AddressCase{"unix:/run/sinkd.sock", true},
                      AddressCase{"dns:///host:50051", true}, AddressCase{"", false},
                      AddressCase{"localhost", false}, AddressCase{":50051", false},
                      AddressCase{"host:", false}, AddressCase{"host:0", false},
                      AddressCase{"host:65536", false}, AddressCase{"host:5x", false},
                      AddressCase{"::1:50051", false}, AddressCase{"http://host:80", false}));

}  // namespace
}  // namespace sinkd::client
