// What otc-plugin-check says about a plugin: a verdict for each rule, as text for
// humans and JSON for machines.
#ifndef OTC_SDK_CHECK_REPORT_H_
#define OTC_SDK_CHECK_REPORT_H_

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::check {

using inspect::Violation;

struct RuleVerdict {
  enum class State { kNotJudged, kOk, kFailed } state = State::kNotJudged;
  std::string why_not;  // for kNotJudged
  std::vector<Violation> violations;
};

class Report {
 public:
  // All rules start as not judged, with this reason.
  explicit Report(std::string path);

  // A rule was looked at; stays ok unless a violation is added.
  void Judged(const std::string& rule);
  void NotJudged(const std::string& rule, const std::string& why);
  // Every rule that has no verdict yet.
  void RestNotJudged(const std::string& why);
  void Add(Violation violation);
  void AddAll(std::vector<Violation> violations);

  bool ok() const;  // no violation at all
  const RuleVerdict& verdict(const std::string& rule) const { return rules_.at(rule); }
  const std::string& path() const { return path_; }

  void PrintText(std::ostream& out) const;
  void PrintJson(std::ostream& out) const;

 private:
  std::string path_;
  std::map<std::string, RuleVerdict> rules_;
};

// A rule's text in a few words.
std::string RuleTitle(const std::string& rule);

// The manifest as YAML, every key present.
void PrintManifestYaml(const inspect::Manifest& manifest, std::ostream& out);

}  // namespace otc::check

#endif  // OTC_SDK_CHECK_REPORT_H_
