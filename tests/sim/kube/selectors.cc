#include "tests/sim/kube/selectors.h"

#include <algorithm>

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

using host::TrimSpace;

// Splits at commas that are not inside parentheses.
std::vector<std::string> SplitRequirements(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// Text of a field label; a bool reads as the server prints it, absent as "".
std::string FieldText(const Json& document, const std::string& label) {
  const Json* at = &document;
  if (label == "source") {  // of events: the component alone
    return TextAt(document, {"source", "component"});
  }
  for (const std::string& part : host::Split(label, '.')) {
    at = at == nullptr ? nullptr : Find(*at, {part});
  }
  if (label == "spec.unschedulable") {
    return at != nullptr && at->is_boolean() && at->get<bool>() ? "true" : "false";
  }
  if (at == nullptr) {
    return "";
  }
  return at->is_string() ? at->get<std::string>() : DumpJson(*at);
}

}  // namespace

ApiResult<Selector> Selector::Parse(const ResourceInfo& resource, const std::string& labels,
                                    const std::string& fields) {
  Selector selector;
  for (const std::string& raw : SplitRequirements(labels)) {
    const std::string part(TrimSpace(raw));
    if (part.empty()) {
      continue;
    }
    const std::size_t open = part.find('(');
    if (open != std::string::npos) {
      // key in (a,b) / key notin (a,b)
      const std::vector<std::string> words = host::Split(TrimSpace(part.substr(0, open)), ' ');
      if (words.size() != 2 || part.back() != ')' || (words[1] != "in" && words[1] != "notin")) {
        return BadRequest("unable to parse requirement: " + part);
      }
      Requirement requirement{words[0], words[1] == "in" ? Operator::kIn : Operator::kNotIn, {}};
      for (const std::string& value :
           host::Split(part.substr(open + 1, part.size() - open - 2), ',')) {
        requirement.values.emplace_back(TrimSpace(value));
      }
      selector.labels_.push_back(std::move(requirement));
    } else if (const std::size_t not_equal = part.find("!="); not_equal != std::string::npos) {
      selector.labels_.push_back({std::string(TrimSpace(part.substr(0, not_equal))),
                                  Operator::kNotIn,
                                  {std::string(TrimSpace(part.substr(not_equal + 2)))}});
    } else if (const std::size_t equal = part.find('='); equal != std::string::npos) {
      std::string value = part.substr(equal + 1);
      if (!value.empty() && value[0] == '=') {
        value.erase(0, 1);
      }
      selector.labels_.push_back({std::string(TrimSpace(part.substr(0, equal))),
                                  Operator::kIn,
                                  {std::string(TrimSpace(value))}});
    } else if (part[0] == '!') {
      selector.labels_.push_back(
          {std::string(TrimSpace(part.substr(1))), Operator::kNotExists, {}});
    } else if (part.find(' ') == std::string::npos) {
      selector.labels_.push_back({part, Operator::kExists, {}});
    } else {
      return BadRequest("unable to parse requirement: " + part);
    }
  }
  for (const std::string& raw : host::Split(fields, ',')) {
    const std::string part(TrimSpace(raw));
    if (part.empty()) {
      continue;
    }
    std::size_t at = part.find('=');
    if (at == std::string::npos || at == 0) {
      return BadRequest("invalid selector: '" + part + "'; can't understand '" + part + "'");
    }
    const bool negative = part[at - 1] == '!';
    const std::string key = part.substr(0, negative ? at - 1 : at);
    at += part.compare(at, 2, "==") == 0 ? 2 : 1;
    const auto& known = resource.field_labels;
    if (key != "metadata.name" && !(key == "metadata.namespace" && resource.namespaced) &&
        std::find(known.begin(), known.end(), key) == known.end()) {
      return BadRequest("field label not supported: " + key);
    }
    selector.fields_.push_back(
        {key, negative ? Operator::kNotIn : Operator::kIn, {part.substr(at)}});
  }
  return selector;
}

bool Selector::Satisfies(const Requirement& requirement, bool present, const std::string& value) {
  const bool listed = present && std::find(requirement.values.begin(), requirement.values.end(),
                                           value) != requirement.values.end();
  switch (requirement.op) {
    case Operator::kIn:
      return listed;
    case Operator::kNotIn:
      return !listed;
    case Operator::kExists:
      return present;
    case Operator::kNotExists:
      return !present;
  }
  return false;
}

bool Selector::Matches(const StoredObject& object) const {
  for (const Requirement& requirement : labels_) {
    const auto found = object.labels().find(requirement.key);
    const bool present = found != object.labels().end();
    if (!Satisfies(requirement, present, present ? found->second : "")) {
      return false;
    }
  }
  std::optional<Json> document;  // parsed only when a field beside the name is asked for
  for (const Requirement& requirement : fields_) {
    std::string value;
    if (requirement.key == "metadata.name") {
      value = object.name();
    } else if (requirement.key == "metadata.namespace") {
      value = object.namespace_name();
    } else {
      if (!document) {
        document = object.Document();
      }
      value = FieldText(*document, requirement.key);
    }
    if (!Satisfies(requirement, true, value)) {
      return false;
    }
  }
  return true;
}

}  // namespace otc::kubesim
