// ListOptions: the query of lists and watches, checked as the server checks it.
#ifndef OTC_TESTS_SIM_KUBE_LIST_OPTIONS_H_
#define OTC_TESTS_SIM_KUBE_LIST_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/http_message.h"

namespace otc::kubesim {

struct ListOptions {
  std::string resource_version_text;  // "" is not the same as "0"
  std::uint64_t resource_version = 0;
  std::string match;  // resourceVersionMatch
  std::uint64_t limit = 0;
  std::string continue_token;
  std::string label_selector;
  std::string field_selector;
  bool watch = false;
  bool allow_bookmarks = false;
  std::optional<bool> send_initial_events;
  std::string include_object;         // of tables: "", Metadata, None, Object
  std::uint64_t timeout_seconds = 0;  // 0: not given
};

// 400 for what does not parse, 422 for what contradicts itself.
ApiResult<ListOptions> ParseListOptions(const HttpRequest& request);

// Where a page ended: the list's version and the last key delivered.
struct ContinueToken {
  std::uint64_t version = 0;
  std::string last_key;
};
std::string EncodeContinue(const ContinueToken& token);
std::optional<ContinueToken> DecodeContinue(const std::string& text);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_LIST_OPTIONS_H_
