#include "host/kube/stream_decoder.h"

#include <gtest/gtest.h>

#include <vector>

#include "host/kube/proto_codec.h"
#include "host/kube/testing/proto_encode.h"

namespace otc::host::kube {
namespace {

Node MakeNode(const std::string& name, const std::string& version = "1") {
  Node node;
  node.meta.name = name;
  node.meta.uid = "uid-" + name;
  node.meta.resource_version = version;
  return node;
}

std::string TwoNodes() {
  return EncodeList("NodeList", "77", "more",
                    {EncodeNode(MakeNode("a"), 3000), EncodeNode(MakeNode("b"))});
}

struct Collected {
  std::vector<std::string> objects;
  Status status;
  Result<ListEnvelope> envelope = Status(Code::kUnknown, "", "");
};

// Feeds `body` in pieces of `step` bytes.
Collected ReadList(Encoding encoding, const std::string& body, std::size_t step) {
  Collected result;
  auto decoder = MakeListDecoder(encoding, [&](std::string_view object) {
    result.objects.emplace_back(object);
    return Status::Ok();
  });
  for (std::size_t at = 0; at < body.size() && result.status.ok(); at += step) {
    result.status = decoder->Feed(std::string_view(body).substr(at, step));
  }
  if (result.status.ok()) result.envelope = decoder->Finish();
  return result;
}

TEST(ListDecoder, C13_ProtobufListIsReadWhereverItIsCut) {
  const std::string body = TwoNodes();
  for (const std::size_t step : {1u, 2u, 3u, 7u, 100u, 1024u, 100'000u}) {
    const Collected read = ReadList(Encoding::kProtobuf, body, step);
    ASSERT_TRUE(read.envelope.ok()) << step << " " << read.status.ToString();
    EXPECT_EQ(read.envelope->kind, "NodeList");
    EXPECT_EQ(read.envelope->resource_version, "77");
    EXPECT_EQ(read.envelope->continue_token, "more");
    ASSERT_EQ(read.objects.size(), 2u);
    EXPECT_EQ(NodeProtoDecoder().Decode(read.objects[1])->meta.name, "b");
  }
}

TEST(ListDecoder, EveryCutOfAProtobufListIsNoticed) {
  const std::string body = TwoNodes();
  for (std::size_t size = 0; size < body.size(); ++size) {
    const Collected read = ReadList(Encoding::kProtobuf, body.substr(0, size), 512);
    // The last fields (empty contentEncoding, contentType: four bytes) say nothing
    // that is needed.
    const std::size_t missing = body.size() - size;
    if (missing == 2 || missing == 4) continue;
    EXPECT_FALSE(read.envelope.ok()) << "cut at " << size << " of " << body.size();
  }
}

TEST(ListDecoder, EmptyListsAreLists) {
  const Collected proto = ReadList(Encoding::kProtobuf, EncodeList("NodeList", "5", "", {}), 10);
  ASSERT_TRUE(proto.envelope.ok());
  EXPECT_EQ(proto.envelope->resource_version, "5");
  const Collected json = ReadList(
      Encoding::kJson, R"({"kind":"NodeList","metadata":{"resourceVersion":"6"},"items":[]})", 3);
  ASSERT_TRUE(json.envelope.ok());
  EXPECT_EQ(json.envelope->resource_version, "6");
  EXPECT_TRUE(json.objects.empty());
}

TEST(ListDecoder, GarbageIsAnErrorAndNoCrash) {
  for (const std::string& body :
       {std::string("<html>502</html>"), std::string("k8s\1abc"), std::string("k8s\0\xff\xff", 6),
        std::string("k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16),
        // A list that claims an item longer than itself.
        std::string("k8s\0\x12\x04\x12\x7f\x0a\x01", 10)}) {
    for (const std::size_t step : {1u, 100u}) {
      const Collected read = ReadList(Encoding::kProtobuf, body, step);
      EXPECT_FALSE(read.envelope.ok()) << body;
    }
  }
}

TEST(ListDecoder, AnItemBeyondEverySizeIsRefusedBeforeItIsHeld) {
  std::string body = "k8s";
  body += '\0';
  body += "\x12\x8f\xff\xff\xff\x07";  // raw: 2 GiB
  body += "\x12\x80\xff\xff\xff\x07";  // an item nearly as large
  const Collected read = ReadList(Encoding::kProtobuf, body, 100);
  EXPECT_EQ(read.status.reason(), "ObjectTooLarge") << read.status.ToString();
}

TEST(ListDecoder, C38_JsonInsteadOfProtobufIsUnderstood) {
  const std::string body = R"({ "kind" : "NodeList", "apiVersion":"v1",
    "metadata":{"resourceVersion":"9","continue":"tok","remainingItemCount":3},
    "items" : [ {"metadata":{"name":"a \"}]{ \\","labels":{"items":"[x"}}},
      {"metadata":{"name":"\u00e4"},"spec":{"items":[1,{"a":[2]}]}} ] } )";
  for (std::size_t step = 1; step < 40; ++step) {
    const Collected read = ReadList(Encoding::kJson, body, step);
    ASSERT_TRUE(read.envelope.ok()) << read.status.ToString() << read.envelope.status().ToString();
    EXPECT_EQ(read.envelope->continue_token, "tok");
    ASSERT_EQ(read.objects.size(), 2u);
    EXPECT_EQ(NodeFromJson(read.objects[0])->meta.name, "a \"}]{ \\");
    EXPECT_EQ(NodeFromJson(read.objects[1])->meta.name, "\u00e4");
  }
}

TEST(ListDecoder, BrokenJsonIsAnError) {
  for (const char* body :
       {"", "[]", "{", "{}}", "{\"items\":[1]}", "{\"items\":[\"a\"]}", "{\"items\":[[]]}",
        "<html>", "{\"items\":[{\"metadata\":{}}", "null", "{} {}"}) {
    const Collected read = ReadList(Encoding::kJson, body, 4);
    EXPECT_FALSE(read.envelope.ok()) << body;
  }
}

struct Watched {
  std::vector<WatchItem> events;
  Status status;
};

Watched ReadWatch(Encoding encoding, const std::string& body, std::size_t step) {
  Watched result;
  auto decoder = MakeWatchDecoder(encoding, [&](WatchItem& event) {
    result.events.push_back(event);
    return Status::Ok();
  });
  for (std::size_t at = 0; at < body.size() && result.status.ok(); at += step) {
    result.status = decoder->Feed(std::string_view(body).substr(at, step));
  }
  return result;
}

TEST(WatchDecoder, C13_ProtobufEventsAreReadWhereverTheyAreCut) {
  Node node = MakeNode("ä", "12");
  const std::string body = EncodeWatchFrame("ADDED", "Node", EncodeNode(node)) +
                           EncodeBookmark("13", true) +
                           EncodeWatchFrame("ERROR", "Status", EncodeStatus(410, "Expired", "old"));
  for (const std::size_t step : {1u, 2u, 5u, 13u, 1000u}) {
    const Watched read = ReadWatch(Encoding::kProtobuf, body, step);
    ASSERT_TRUE(read.status.ok());
    ASSERT_EQ(read.events.size(), 3u);
    EXPECT_EQ(read.events[0].type, "ADDED");
    EXPECT_EQ(read.events[0].kind, "Node");
    EXPECT_EQ(read.events[0].resource_version, "12");
    EXPECT_EQ(NodeProtoDecoder().Decode(read.events[0].object)->meta.name, "ä");
    EXPECT_TRUE(read.events[1].initial_events_end);
    EXPECT_EQ(read.events[1].resource_version, "13");
    EXPECT_TRUE(IsExpired(read.events[2].error));
  }
}

TEST(WatchDecoder, C13_JsonEventsAreReadWhereverTheyAreCut) {
  const std::string body =
      R"({"type":"ADDED","object":{"kind":"Node","metadata":{"name":"ä}","resourceVersion":"12"}}})"
      "\n"
      R"({"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"13",
          "annotations":{"k8s.io/initial-events-end":"true"}}}})"
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone"}})";
  for (std::size_t step = 1; step < 30; ++step) {
    const Watched read = ReadWatch(Encoding::kJson, body, step);
    ASSERT_TRUE(read.status.ok()) << read.status.ToString();
    ASSERT_EQ(read.events.size(), 3u);
    EXPECT_EQ(NodeFromJson(read.events[0].object)->meta.name, "ä}");
    EXPECT_EQ(read.events[0].resource_version, "12");
    EXPECT_TRUE(read.events[1].initial_events_end);
    EXPECT_TRUE(IsExpired(read.events[2].error));
  }
}

TEST(WatchDecoder, C14_LargeObjectsAndBurstsKeepTheirOrder) {
  const std::string large =
      EncodeWatchFrame("ADDED", "Node", EncodeNode(MakeNode("big"), 2'000'000));
  const Watched one = ReadWatch(Encoding::kProtobuf, large, 16'384);
  ASSERT_EQ(one.events.size(), 1u);
  EXPECT_EQ(NodeProtoDecoder().Decode(one.events[0].object)->meta.name, "big");

  std::string burst;
  for (int i = 0; i < 10'000; ++i) {
    burst += EncodeWatchFrame("MODIFIED", "Node", EncodeNode(MakeNode("n", std::to_string(i))));
  }
  const Watched many = ReadWatch(Encoding::kProtobuf, burst, 16'384);
  ASSERT_EQ(many.events.size(), 10'000u);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(many.events[static_cast<std::size_t>(i)].resource_version, std::to_string(i));
  }
}

TEST(WatchDecoder, C14_ATwoMegabyteJsonLineIsRead) {
  const std::string body =
      R"({"type":"ADDED","object":{"kind":"Node","metadata":{"name":"big"},"x":")" +
      std::string(2'000'000, 'y') + "\"}}\n";
  const Watched read = ReadWatch(Encoding::kJson, body, 10'000);
  ASSERT_EQ(read.events.size(), 1u);
  EXPECT_EQ(NodeFromJson(read.events[0].object)->meta.name, "big");
}

TEST(WatchDecoder, C15_ACutEventIsNeverDelivered) {
  const std::string whole = EncodeWatchFrame("ADDED", "Node", EncodeNode(MakeNode("a")));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(ReadWatch(Encoding::kProtobuf, whole.substr(0, size), 7).events.empty());
  }
}

TEST(WatchDecoder, GarbageIsAnErrorAndNoCrash) {
  EXPECT_EQ(ReadWatch(Encoding::kProtobuf, "<html>", 10).status.reason(), "ObjectTooLarge");
  EXPECT_EQ(ReadWatch(Encoding::kProtobuf, std::string("\0\0\0\2\xff\xff", 6), 10).status.reason(),
            "BadProtobuf");
  EXPECT_EQ(ReadWatch(Encoding::kProtobuf, std::string("\0\0\0\0", 4), 10).status.reason(),
            "BadProtobuf");
  EXPECT_EQ(ReadWatch(Encoding::kJson, "[1]", 10).status.reason(), "BadJson");
  EXPECT_EQ(ReadWatch(Encoding::kJson, "{\"type\":}", 10).status.reason(), "BadJson");
}

TEST(MediaType, C38_OnlyTheTwoEncodingsAreTaken) {
  EXPECT_EQ(EncodingOf("application/vnd.kubernetes.protobuf;stream=watch").value(),
            Encoding::kProtobuf);
  EXPECT_EQ(EncodingOf("Application/JSON; charset=utf-8").value(), Encoding::kJson);
  for (const char* other : {"", "text/html", "application/yaml", "application/cbor"}) {
    const auto encoding = EncodingOf(other);
    EXPECT_EQ(encoding.status().reason(), "UnexpectedMediaType");
    EXPECT_NE(encoding.status().message().find(other), std::string::npos);
  }
}

TEST(NodeProtoDecoder, KeepsTheWantedFieldsOnly) {
  Node node = MakeNode("a", "3");
  node.meta.labels = {{"zone", "eu-de-01"}, {"bad", "\xff\xfe"}};
  node.meta.annotations = {{"alpha.kubernetes.io/provided-node-ip", "10.0.0.1"},
                           {"kubectl.kubernetes.io/last-applied-configuration", "long"}};
  node.provider_id = "otc:///1";
  node.taints = {{"k", "v", "NoSchedule", ""}};
  node.addresses = {{"InternalIP", "10.0.0.1"}, {"InternalIP", "fd00::1"}};
  node.ready = Tristate::kTrue;
  node.system_uuid = "su";
  node.meta.creation_unix_ms = 1'767'225'600'000;
  node.meta.deleting = true;
  const Result<Node> read = NodeProtoDecoder().Decode(EncodeNode(node, 500));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->meta.labels, node.meta.labels) << "bytes that are not UTF-8 included";
  EXPECT_EQ(read->meta.annotations.size(), 1u);
  EXPECT_EQ(read->provider_id, node.provider_id);
  EXPECT_EQ(read->taints, node.taints);
  EXPECT_EQ(read->addresses, node.addresses);
  EXPECT_EQ(read->ready, Tristate::kTrue);
  EXPECT_EQ(read->system_uuid, "su");
  EXPECT_EQ(read->meta.creation_unix_ms, node.meta.creation_unix_ms);
  EXPECT_TRUE(read->meta.deleting);
}

}  // namespace
}  // namespace otc::host::kube
