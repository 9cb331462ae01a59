#include "plugins/node/labels.h"

#include <algorithm>

namespace otc::node {
namespace {

bool IsAlnum(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool AllOf(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return IsAlnum(c) || others.find(c) != std::string_view::npos;
  });
}

bool Framed(std::string_view text, std::size_t limit) {
  return !text.empty() && text.size() <= limit && IsAlnum(text.front()) && IsAlnum(text.back());
}

}  // namespace

bool IsLabelValue(std::string_view text) { return Framed(text, 63) && AllOf(text, "-_."); }

bool IsHostName(std::string_view text) { return Framed(text, 253) && AllOf(text, "-."); }

}  // namespace otc::node
