#include "tests/sim/otc/router.h"

#include "host/base/strings.h"
#include "host/http/url.h"

namespace otc::sim {
namespace {

constexpr std::string_view kAny = "{}";

std::vector<std::string> Parts(std::string_view path) {
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  if (!path.empty() && path.back() == '/') path.remove_suffix(1);
  if (path.empty()) return {};
  return host::Split(path, '/');
}

// How many literal parts match, or nothing.
std::optional<std::size_t> Score(const std::vector<std::string>& pattern,
                                 const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::size_t literals = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (pattern[i] == kAny) {
      if (path[i].empty()) return std::nullopt;
    } else if (pattern[i] == path[i]) {
      ++literals;
    } else {
      return std::nullopt;
    }
  }
  return literals;
}

}  // namespace

void Router::Add(Route route) {
  std::vector<std::string> parts = Parts(route.pattern);
  entries_.push_back({std::move(route), std::move(parts)});
}

std::optional<Match> Router::Find(const std::string& service, const std::string& method,
                                  std::string_view raw_path) const {
  const std::vector<std::string> path = Parts(raw_path);
  const Entry* best = nullptr;
  std::size_t best_score = 0;
  for (const Entry& entry : entries_) {
    if (entry.route.service != service || entry.route.method != method) continue;
    const auto score = Score(entry.parts, path);
    if (!score || (best != nullptr && *score <= best_score)) continue;
    best = &entry;
    best_score = *score;
  }
  if (best == nullptr) return std::nullopt;
  Match match{&best->route, {}};
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (best->parts[i] == kAny) match.args.push_back(host::http::PercentDecode(path[i]));
  }
  return match;
}

std::vector<std::string> Router::Operations() const {
  std::vector<std::string> operations;
  for (const Entry& entry : entries_) operations.push_back(entry.route.operation);
  return operations;
}

}  // namespace otc::sim
