#include "host/plugin/probe_verdict.h"

#include <algorithm>

#include "host/base/strings.h"

namespace otc::host::plugin_host {
namespace {

std::string VerdictPrefix(const std::string& nonce) { return "otc-probe " + nonce + " "; }

}  // namespace

std::string FormatVerdict(const std::vector<Refusal>& refusals, const std::string& nonce) {
  if (refusals.empty()) return VerdictPrefix(nonce) + "OK\n";
  const auto clean = [](std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return text;
  };
  std::vector<std::string> records;
  for (const Refusal& refusal : refusals) {
    records.push_back(clean(refusal.rule) + '\x1f' + clean(refusal.found) + '\x1f' +
                      clean(refusal.wanted) + '\x1f' + clean(refusal.advice));
  }
  return VerdictPrefix(nonce) + Join(records, "\x1e") + "\n";
}

bool ParseVerdict(const std::string& channel, const std::string& nonce,
                  std::vector<Refusal>* refusals) {
  const auto at = channel.rfind(VerdictPrefix(nonce));
  if (at == std::string::npos || channel.back() != '\n') return false;
  const std::string body = channel.substr(at + VerdictPrefix(nonce).size(),
                                          channel.size() - at - VerdictPrefix(nonce).size() - 1);
  if (body == "OK") return true;
  for (const std::string& record : Split(body, '\x1e')) {
    const std::vector<std::string> fields = Split(record, '\x1f');
    if (fields.size() != 4) return false;
    refusals->push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return true;
}

}  // namespace otc::host::plugin_host
