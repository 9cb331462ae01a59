#include "host/kube/event_correlator.h"

#include <utility>

namespace otc::host::kube {
namespace {

constexpr std::size_t kRemembered = 4096;
constexpr std::size_t kSimilarMessages = 10;
constexpr Duration kSimilarFor = std::chrono::seconds(600);
constexpr int kSpamBurst = 25;
constexpr double kSpamPerSecond = 1.0 / 300;
constexpr char kCombined[] = "(combined from similar events): ";

const char* TypeName(EventType type) { return type == EventType::kNormal ? "Normal" : "Warning"; }

// Parts are joined with a byte that occurs in none of them.
std::string JoinKey(std::initializer_list<std::string> parts) {
  std::string key;
  for (const std::string& part : parts) key += part + '\0';
  return key;
}

std::string SourceAndObject(const Event& event) {
  return JoinKey({event.component, event.about.api_version, event.about.kind,
                  event.about.namespace_, event.about.name, event.about.uid, TypeName(event.type)});
}

}  // namespace

std::string CutUtf8(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  // Never between the bytes of one character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

EventCorrelator::EventCorrelator(Clock& clock)
    : clock_(clock), similar_(kRemembered), known_(kRemembered), spam_(kRemembered) {}

// Replaces the event by the combined one if it is one too many of its like.
// Returns the key under which equal events are counted.
std::string EventCorrelator::Aggregate(Event* event) {
  const std::string group = SourceAndObject(*event) + JoinKey({event->reason});
  const std::string exact = group + JoinKey({event->message});
  const MonoTime now = clock_.Now();
  Similar* similar = similar_.Find(group);
  if (similar == nullptr || now - similar->last > kSimilarFor) {
    similar = &similar_.Put(group, Similar{});
  }
  similar->last = now;
  similar->messages.insert(event->message);
  if (similar->messages.size() < kSimilarMessages) return exact;
  similar->messages.erase(similar->messages.begin());  // stays one below the limit
  event->message = CutUtf8(kCombined + event->message, kEventMessageBytes);
  return group;
}

EventCorrelator::Outcome EventCorrelator::Correlate(Event event) {
  Outcome outcome;
  const std::string source = SourceAndObject(event);
  outcome.key = Aggregate(&event);
  if (Known* known = known_.Find(outcome.key)) {
    event.name = known->name;
    event.first = known->first;
    event.count = known->count + 1;
    outcome.patch = true;
  }
  known_.Put(outcome.key, {event.name, event.first, event.count});
  auto* bucket = spam_.Find(source);
  if (bucket == nullptr) {
    bucket = &spam_.Put(source, std::make_unique<TokenBucket>(clock_, kSpamPerSecond, kSpamBurst));
  }
  outcome.skip = !(*bucket)->TryTake();
  outcome.event = std::move(event);
  return outcome;
}

void EventCorrelator::Sent(const std::string& key, const Event& event) {
  known_.Put(key, {event.name, event.first, event.count});
}

}  // namespace otc::host::kube
