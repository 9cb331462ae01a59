// Text at the ABI border: conversions between the C structs and string_view, and
// UTF-8 checks. A payload string with one bad byte would fail its whole record
// at the receiver, so the layer replaces bad bytes before it hands text over.
//
// Pure functions, any thread. Nothing here keeps a pointer.
#ifndef OTC_CPP_TEXT_H_
#define OTC_CPP_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "otc/plugin.h"

namespace otc {

constexpr otc_str Str(std::string_view text) { return otc_str{text.data(), text.size()}; }

inline otc_bytes Bytes(std::string_view data) {
  return otc_bytes{reinterpret_cast<const std::uint8_t*>(data.data()), data.size()};
}

// An empty str may have a null pointer, and is never followed by a NUL.
inline std::string_view View(otc_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

inline std::string_view View(otc_bytes data) {
  return data.len == 0 ? std::string_view()
                       : std::string_view(reinterpret_cast<const char*>(data.ptr), data.len);
}

// The length of the valid UTF-8 character at the start of `text`, 0 if there is
// none (also for overlong forms, surrogates and what lies above U+10FFFF).
inline std::size_t Utf8Length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0u) == 0x80u; };
  if (text.empty()) return 0;
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

inline bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// `text` with each bad byte replaced by U+FFFD.
inline std::string RepairedUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

// One line of valid UTF-8 within a byte limit, in a buffer of its own: works
// without memory, so that a failed allocation can still be reported.
class ShortLine {
 public:
  explicit ShortLine(std::string_view text) { Append(text); }

  void Append(std::string_view text) {
    while (!text.empty()) {
      const std::size_t length = Utf8Length(text);
      const std::size_t wanted = length == 0 ? 1 : length;
      if (size_ + wanted > sizeof(buffer_)) return;
      const auto first = static_cast<unsigned char>(text[0]);
      if (length == 0) {
        buffer_[size_++] = '?';
      } else if (first < 0x20 || first == 0x7F) {
        buffer_[size_++] = ' ';
      } else {
        for (std::size_t i = 0; i < length; ++i) buffer_[size_++] = text[i];
      }
      text.remove_prefix(wanted);
    }
  }

  std::string_view view() const { return {buffer_, size_}; }

 private:
  char buffer_[1024];  // the limit of a message
  std::size_t size_ = 0;
};

}  // namespace otc

#endif  // OTC_CPP_TEXT_H_
