// The encoder against bytes recorded from a real kube-apiserver 1.36.3: each entry
// of testdata/protobuf.json holds one object as it answered it in both forms.
#include "tests/sim/kube/proto_encode.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/sim/kube/base64.h"

namespace otc::kubesim {
namespace {

const Json& Recorded() {
  static const Json recorded = [] {
    std::ifstream file(OTC_KUBE_SIM_TESTDATA "/protobuf.json");
    std::stringstream text;
    text << file.rdbuf();
    return ParseJson(text.str()).value_or(Json());
  }();
  return recorded;
}

std::string Bytes(const char* name) { return DecodeBase64(TextAt(Recorded(), {name, "protobuf"})); }

std::string Encode(const MessageType& type, const char* name) {
  const Json* document = Find(Recorded(), {name, "json"});
  if (document == nullptr) {
    return "no recording";
  }
  return Envelope(TextAt(*document, {"apiVersion"}), TextAt(*document, {"kind"}),
                  EncodeMessage(type, *document));
}

TEST(ProtoEncode, NodeIsByteEqualToTheRealServer) {
  ASSERT_GT(Bytes("node").size(), 500u);
  EXPECT_EQ(Encode(NodeType(), "node"), Bytes("node"));
}

TEST(ProtoEncode, LeaseIsByteEqualToTheRealServer) {
  ASSERT_GT(Bytes("lease").size(), 100u);
  EXPECT_EQ(Encode(LeaseType(), "lease"), Bytes("lease"));
}

TEST(ProtoEncode, EventIsByteEqualToTheRealServer) {
  ASSERT_GT(Bytes("event").size(), 100u);
  EXPECT_EQ(Encode(EventType(), "event"), Bytes("event"));
}

TEST(ProtoEncode, NamespaceIsByteEqualToTheRealServer) {
  ASSERT_GT(Bytes("namespace").size(), 100u);
  EXPECT_EQ(Encode(NamespaceType(), "namespace"), Bytes("namespace"));
}

TEST(ProtoEncode, ServiceIsByteEqualToTheRealServer) {
  ASSERT_GT(Bytes("service").size(), 100u);
  EXPECT_EQ(Encode(ServiceType(), "service"), Bytes("service"));
}

TEST(ProtoEncode, StatusIsByteEqualToTheRealServer) {
  ASSERT_GT(Bytes("status").size(), 50u);
  EXPECT_EQ(Encode(StatusType(), "status"), Bytes("status"));
}

TEST(ProtoEncode, NodeListIsByteEqualToTheRealServer) {
  const Json* list = Find(Recorded(), {"list", "json"});
  ASSERT_NE(list, nullptr);
  ASSERT_EQ((*list)["items"].size(), 1u);
  const std::string item = EncodeMessage(NodeType(), (*list)["items"][0]);
  EXPECT_EQ(Envelope("v1", "NodeList", EncodeList((*list)["metadata"], {item})), Bytes("list"));
}

TEST(ProtoEncode, WatchFramesAreByteEqualToTheRealServer) {
  // The recording begins with ADDED of the recorded node.
  const std::string frame = WatchFrame("ADDED", Bytes("node"));
  ASSERT_GE(Bytes("watch").size(), frame.size());
  EXPECT_EQ(Bytes("watch").substr(0, frame.size()), frame);
}

TEST(ProtoEncode, NegativeNumbersTakeTenBytes) {
  const MessageType type{"T", {{"n", 1, FieldType::kInt32, Shape::kAlways}}};
  EXPECT_EQ(EncodeMessage(type, {{"n", -1}}),
            std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

}  // namespace
}  // namespace otc::kubesim
