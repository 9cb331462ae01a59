// The syntax of Kubernetes names and labels.
#include "tests/sim/kube/validation.h"

namespace otc::kubesim {
namespace {

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

bool IsDnsLabel(std::string_view text) {
  if (text.empty() || !IsLowerAlnum(text.front()) || !IsLowerAlnum(text.back())) {
    return false;
  }
  for (const char c : text) {
    if (!IsLowerAlnum(c) && c != '-') {
      return false;
    }
  }
  return true;
}

bool IsSubdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(dot + 1);
  }
}

// Alphanumeric ends, inside also - _ .
bool IsNamePart(std::string_view text) {
  if (text.empty() || !IsAlnum(text.front()) || !IsAlnum(text.back())) {
    return false;
  }
  for (const char c : text) {
    if (!IsAlnum(c) && c != '-' && c != '_' && c != '.') {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string WhyNotSubdomain(const std::string& text) {
  if (text.size() > 253) {
    return "must be no more than 253 bytes";
  }
  if (!IsSubdomain(text)) {
    return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
           "'-' or '.', and must start and end with an alphanumeric character (e.g. "
           "'example.com', regex used for validation is "
           "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  }
  return "";
}

std::string WhyNotDnsLabel(const std::string& text) {
  if (text.size() > 63) {
    return "must be no more than 63 bytes";
  }
  if (!IsDnsLabel(text)) {
    return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
           "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
           "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  }
  return "";
}

std::string WhyNotQualifiedName(const std::string& text) {
  static const std::string kNameRule =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
      "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
      "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const std::size_t slash = text.find('/');
  std::string name = text;
  if (slash != std::string::npos) {
    if (text.find('/', slash + 1) != std::string::npos) {
      return "a valid label key must consist of alphanumeric characters, '-', '_' or '.', with "
             "an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    }
    const std::string prefix = text.substr(0, slash);
    if (prefix.empty()) {
      return "prefix part must be non-empty";
    }
    if (const std::string why = WhyNotSubdomain(prefix); !why.empty()) {
      return "prefix part " + why;
    }
    name = text.substr(slash + 1);
  }
  if (name.empty()) {
    return "name part must be non-empty; " + kNameRule;
  }
  if (name.size() > 63) {
    return "name part must be no more than 63 bytes";
  }
  return IsNamePart(name) ? "" : kNameRule;
}

std::string WhyNotLabelValue(const std::string& text) {
  if (text.size() > 63) {
    return "must be no more than 63 bytes";
  }
  if (!text.empty() && !IsNamePart(text)) {
    return "a valid label must be an empty string or consist of alphanumeric characters, '-', "
           "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
           "or 'my_value',  or '12345', regex used for validation is "
           "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  }
  return "";
}

}  // namespace otc::kubesim
