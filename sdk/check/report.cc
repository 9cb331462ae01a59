#include "sdk/check/report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "otc/cpp/json.h"

namespace otc::check {
namespace {

struct RuleText {
  const char* id;
  const char* title;
};
// The rules that this tool judges; the numbers are those of plugin-abi.md, LOAD-n
// is step n of its loading list.
constexpr std::array<RuleText, 20> kRules = {{
    {"LOAD-4", "an ELF64 shared object for this machine, no Go runtime"},
    {"LOAD-6", "manifest fits file name, ABI and host"},
    {"LOAD-8", "loads, and its entry answers, in a child process"},
    {"LOAD-10", "descriptor complete"},
    {"ABI-R01", "one exported entry, no unique symbols"},
    {"ABI-R02", "hardening link flags, no RPATH, RUNPATH, TEXTREL"},
    {"ABI-R03", "needs baseline libraries only"},
    {"ABI-R04", "no symbol version newer than the baseline"},
    {"ABI-R05", "one valid manifest note, equal to the descriptor"},
    {"ABI-R06", "constructors and entry have no effects"},
    {"ABI-R10", "survives empty, huge and invalid input; assumes no NUL"},
    {"ABI-R13", "defined codes, each error with a reason"},
    {"ABI-R14", "one valid RESULT for each unary OK"},
    {"ABI-R16", "returns in time"},
    {"ABI-R21", "does not end the process"},
    {"ABI-R22", "prints nothing"},
    {"ABI-R25", "start, get and describe write nothing"},
    {"ABI-R26", "plan before the first write, none in a dry run"},
    {"ABI-R36", "services as the manifest and the rules allow"},
    {"ABI-R38", "draft interfaces only if the title says so"},
}};

const char* StateName(RuleVerdict::State state) {
  switch (state) {
    case RuleVerdict::State::kOk:
      return "ok";
    case RuleVerdict::State::kFailed:
      return "FAILED";
    case RuleVerdict::State::kNotJudged:
      return "not judged";
  }
  return "?";
}

// LOAD-4 before LOAD-10, both before ABI-R01.
bool Before(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& rule) {
    const auto found = std::find_if(kRules.begin(), kRules.end(),
                                    [&](const RuleText& known) { return rule == known.id; });
    return found - kRules.begin();
  };
  return place(a) != place(b) ? place(a) < place(b) : a < b;
}

std::vector<std::string> InOrder(const std::map<std::string, RuleVerdict>& rules) {
  std::vector<std::string> ids;
  for (const auto& [id, verdict] : rules) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), Before);
  return ids;
}

}  // namespace

std::string RuleTitle(const std::string& rule) {
  for (const RuleText& known : kRules) {
    if (rule == known.id) return known.title;
  }
  return "";
}

Report::Report(std::string path) : path_(std::move(path)) {
  for (const RuleText& rule : kRules) rules_[rule.id] = RuleVerdict();
}

void Report::Judged(const std::string& rule) {
  RuleVerdict& verdict = rules_[rule];
  if (verdict.state == RuleVerdict::State::kNotJudged) verdict.state = RuleVerdict::State::kOk;
}

void Report::NotJudged(const std::string& rule, const std::string& why) {
  RuleVerdict& verdict = rules_[rule];
  if (verdict.state == RuleVerdict::State::kNotJudged && verdict.why_not.empty()) {
    verdict.why_not = why;
  }
}

void Report::RestNotJudged(const std::string& why) {
  for (const auto& [rule, verdict] : rules_) NotJudged(rule, why);
}

void Report::Add(Violation violation) {
  RuleVerdict& verdict = rules_[violation.rule];
  verdict.state = RuleVerdict::State::kFailed;
  for (const Violation& known : verdict.violations) {
    if (known.found == violation.found) return;  // the same again, from another input
  }
  constexpr std::size_t kMaxPerRule = 20;
  if (verdict.violations.size() < kMaxPerRule) verdict.violations.push_back(std::move(violation));
}

void Report::AddAll(std::vector<Violation> violations) {
  for (Violation& violation : violations) Add(std::move(violation));
}

bool Report::ok() const {
  return std::none_of(rules_.begin(), rules_.end(), [](const auto& rule) {
    return rule.second.state == RuleVerdict::State::kFailed;
  });
}

void Report::PrintText(std::ostream& out) const {
  int counts[3] = {0, 0, 0};
  out << path_ << "\n";
  for (const std::string& id : InOrder(rules_)) {
    const RuleVerdict& verdict = rules_.at(id);
    ++counts[static_cast<int>(verdict.state)];
    out << "  " << id << std::string(id.size() < 8 ? 8 - id.size() : 1, ' ')
        << StateName(verdict.state) << "  " << RuleTitle(id);
    if (verdict.state == RuleVerdict::State::kNotJudged) out << " (" << verdict.why_not << ")";
    out << "\n";
    for (const Violation& violation : verdict.violations) {
      out << "      found   " << violation.found << "\n"
          << "      wanted  " << violation.wanted << "\n"
          << "      do      " << violation.advice << "\n";
    }
  }
  out << (ok() ? "PASSED" : "FAILED") << ": " << counts[1] << " rules ok, " << counts[2]
      << " failed, " << counts[0] << " not judged\n";
}

void Report::PrintJson(std::ostream& out) const {
  json::Writer writer;
  writer.Object().Key("path").String(path_).Key("ok").Bool(ok()).Key("rules").Array();
  for (const std::string& id : InOrder(rules_)) {
    const RuleVerdict& verdict = rules_.at(id);
    writer.Object().Key("rule").String(id).Key("title").String(RuleTitle(id));
    writer.Key("verdict").String(
        verdict.state == RuleVerdict::State::kFailed ? "failed" : StateName(verdict.state));
    if (!verdict.why_not.empty() && verdict.state == RuleVerdict::State::kNotJudged) {
      writer.Key("reason").String(verdict.why_not);
    }
    writer.Key("violations").Array();
    for (const Violation& violation : verdict.violations) {
      writer.Object().Key("found").String(violation.found);
      writer.Key("wanted").String(violation.wanted).Key("do").String(violation.advice).End();
    }
    writer.End().End();
  }
  writer.End().End();
  out << writer.Text() << "\n";
}

namespace {

void List(std::ostream& out, const char* key, const std::vector<std::string>& items) {
  out << key << ":";
  if (items.empty()) out << " []";
  out << "\n";
  for (const std::string& item : items) out << "- \"" << item << "\"\n";
}

}  // namespace

// The manifest parser allows only words without quotes or backslashes in these
// places, so quoting is all the escaping there is.
void PrintManifestYaml(const inspect::Manifest& manifest, std::ostream& out) {
  out << "id: \"" << manifest.id << "\"\n"
      << "version: \"" << manifest.version << "\"\n"
      << "abi: \"" << manifest.abi_major << "." << manifest.abi_minor << "\"\n";
  List(out, "provides", manifest.provides);
  out << "needs:" << (manifest.needs.empty() ? " []" : "") << "\n";
  for (const inspect::ServiceNeed& need : manifest.needs) {
    out << "- id: \"" << need.id << "\"\n  minSize: " << need.min_size << "\n";
  }
  List(out, "uses", manifest.uses);
  List(out, "cloud", manifest.cloud);
  List(out, "exec", manifest.exec);
  out << "kube:" << (manifest.kube.empty() ? " []" : "") << "\n";
  for (const inspect::KubeRule& rule : manifest.kube) {
    out << "- apiGroup: \"" << rule.group << "\"\n  version: \"" << rule.version
        << "\"\n  resource: \"" << rule.resource << "\"\n  verbs: [";
    for (std::size_t i = 0; i < rule.verbs.size(); ++i) {
      out << (i > 0 ? ", " : "") << "\"" << rule.verbs[i] << "\"";
    }
    out << "]\n";
  }
  out << "threads: \"" << (manifest.own_threads ? "own" : "none") << "\"\n"
      << "build: \"" << manifest.build << "\"\n";
}

}  // namespace otc::check
