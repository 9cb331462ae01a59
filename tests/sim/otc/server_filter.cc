#include "tests/sim/otc/server_filter.h"

#include <algorithm>
#include <functional>
#include <regex>
#include <set>

#include "host/base/strings.h"

namespace otc::sim {
namespace {

constexpr std::size_t kMaxPattern = 255;  // std::regex recurses with its length

using NameTest = std::function<bool(const std::string&)>;

Result<NameTest> MakeNameTest(const std::string& pattern, const std::string& mode) {
  if (mode == "ignored") return NameTest([](const std::string&) { return true; });
  if (mode == "substring") {
    return NameTest(
        [pattern](const std::string& name) { return name.find(pattern) != std::string::npos; });
  }
  if (pattern.size() > kMaxPattern) {
    return Status(Code::kInvalidArgument, "BadName", "name is longer than 255");
  }
  try {
    const std::regex regex(pattern);
    return NameTest([regex](const std::string& name) { return std::regex_search(name, regex); });
  } catch (const std::regex_error& error) {
    return Status(Code::kInvalidArgument, "BadName",
                  "name is not a regular expression: " + std::string(error.what()));
  }
}

bool HasAddressLike(const Server& server, const std::string& text, bool exact) {
  for (const Nic& nic : server.nics) {
    for (const std::string& ip : nic.ips) {
      if (exact ? ip == text : ip.substr(0, text.size()) == text) return true;
    }
  }
  return false;
}

// "a,b=c": all of them, or any of them for `not-tags`.
bool HasTag(const Server& server, const std::string& tag) {
  return std::any_of(server.tags.begin(), server.tags.end(), [&](const std::string& own) {
    return own == tag || own.substr(0, own.find('=')) == tag;
  });
}

bool HasAllTags(const Server& server, const std::vector<std::string>& tags) {
  return std::all_of(tags.begin(), tags.end(),
                     [&](const std::string& tag) { return HasTag(server, tag); });
}

}  // namespace

bool StatusMatches(const std::string& filter, const std::string& status) {
  static const std::set<std::string> kWithActive = {"REBOOT", "HARD_REBOOT", "REBUILD", "MIGRATING",
                                                    "RESIZE"};
  static const std::set<std::string> kWithShutoff = {"RESIZE", "REBUILD"};
  return status == filter || (filter == "ACTIVE" && kWithActive.count(status) != 0) ||
         (filter == "SHUTOFF" && kWithShutoff.count(status) != 0);
}

bool IsKnownStatus(const std::string& status) {
  static const std::set<std::string> kKnown = {
      "ACTIVE",  "BUILD",         "ERROR",        "HARD_REBOOT", "MIGRATING",
      "REBOOT",  "REBUILD",       "RESIZE",       "SHUTOFF",     "REVERT_RESIZE",
      "DELETED", "VERIFY_RESIZE", "SHELVED",      "UNKNOWN",     "SHELVED_OFFLOADED",
      "PAUSED",  "SUSPENDED",     "SOFT_DELETED", "PASSWORD",    "RESCUE"};
  return kKnown.count(status) != 0;
}

Result<ServerVector> FilterServers(const ServerVector& servers, const std::string& project_id,
                                   const Request& request, const Behaviour& behaviour) {
  NameTest name_passes = [](const std::string&) { return true; };
  if (const auto name = request.Query("name")) {
    auto test = MakeNameTest(*name, behaviour.name_filter);
    if (!test.ok()) return test.status();
    name_passes = *std::move(test);
  }
  const auto ip = request.Query("ip");
  const auto ip_eq = behaviour.ip_eq_filter ? request.Query("ip_eq") : std::nullopt;
  const auto status = request.Query("status");
  const auto flavor = request.Query("flavor");
  const auto tags = request.Query("tags");
  const auto not_tags = request.Query("not-tags");
  const auto wanted_tags = tags ? host::Split(*tags, ',') : std::vector<std::string>();
  const auto unwanted_tags = not_tags ? host::Split(*not_tags, ',') : std::vector<std::string>();

  ServerVector found;
  for (const auto& server : servers) {
    if (server->project_id != project_id || !name_passes(server->name) ||
        (ip && !HasAddressLike(*server, *ip, false)) ||
        (ip_eq && !HasAddressLike(*server, *ip_eq, true)) ||
        (status && !StatusMatches(*status, server->status)) ||
        (flavor && server->flavor != *flavor) || !HasAllTags(*server, wanted_tags)) {
      continue;
    }
    if (!unwanted_tags.empty() && HasAllTags(*server, unwanted_tags)) continue;
    found.push_back(server);
  }
  return found;
}

std::optional<std::int64_t> QueryInt(const Request& request, std::string_view key,
                                     std::int64_t fallback, std::int64_t min, std::int64_t max) {
  const auto text = request.Query(key);
  if (!text) return fallback;
  const auto number = host::ParseUint(*text);
  if (!number || *number > static_cast<std::uint64_t>(max) ||
      static_cast<std::int64_t>(*number) < min) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace otc::sim
