#include "tests/sim/kube/list_options.h"

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

std::optional<bool> ParseBool(const std::string& text) {
  if (text == "true" || text == "1" || text == "True" || text == "TRUE" || text == "t") return true;
  if (text == "false" || text == "0" || text == "False" || text == "FALSE" || text == "f") {
    return false;
  }
  return std::nullopt;
}

std::vector<Cause> Contradictions(const ListOptions& options) {
  std::vector<Cause> causes;
  const bool watch_list = options.watch && options.send_initial_events.has_value();
  if (!options.match.empty()) {
    if (options.watch && !watch_list) {
      causes.push_back(ForbiddenField("resourceVersionMatch",
                                      "resourceVersionMatch is forbidden for watch unless "
                                      "sendInitialEvents is provided"));
    }
    if (!options.watch && options.resource_version_text.empty()) {
      causes.push_back(
          ForbiddenField("resourceVersionMatch",
                         "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (!options.continue_token.empty()) {
      causes.push_back(ForbiddenField("resourceVersionMatch",
                                      "resourceVersionMatch is forbidden when continue is "
                                      "provided"));
    }
    if (watch_list && options.match != "NotOlderThan") {
      causes.push_back(ForbiddenField(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
      causes.push_back(UnsupportedValue("resourceVersionMatch", options.match, {"NotOlderThan"}));
    } else if (options.match != "Exact" && options.match != "NotOlderThan") {
      causes.push_back(
          UnsupportedValue("resourceVersionMatch", options.match, {"Exact", "NotOlderThan", ""}));
    }
    if (options.match == "Exact" && options.resource_version_text == "0") {
      causes.push_back(ForbiddenField("resourceVersionMatch",
                                      "resourceVersionMatch \"exact\" is forbidden for "
                                      "resourceVersion \"0\""));
    }
  }
  if (options.send_initial_events && !options.watch) {
    causes.push_back(
        ForbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (watch_list && options.match.empty()) {
    causes.push_back(ForbiddenField("resourceVersionMatch",
                                    "sendInitialEvents requires setting resourceVersionMatch to "
                                    "NotOlderThan"));
  }
  return causes;
}

}  // namespace

ApiResult<ListOptions> ParseListOptions(const HttpRequest& request) {
  ListOptions options;
  options.resource_version_text = request.Query("resourceVersion");
  options.match = request.Query("resourceVersionMatch");
  options.continue_token = request.Query("continue");
  options.label_selector = request.Query("labelSelector");
  options.field_selector = request.Query("fieldSelector");
  options.include_object = request.Query("includeObject");
  options.watch = ParseBool(request.Query("watch")).value_or(false);
  options.allow_bookmarks = ParseBool(request.Query("allowWatchBookmarks")).value_or(false);
  if (request.HasQuery("sendInitialEvents")) {
    options.send_initial_events = ParseBool(request.Query("sendInitialEvents"));
  }
  if (!request.Query("timeoutSeconds").empty()) {
    const auto seconds = host::ParseUint(request.Query("timeoutSeconds"));
    if (!seconds) {
      return BadRequest("strconv.ParseInt: parsing \"" + request.Query("timeoutSeconds") +
                        "\": invalid syntax");
    }
    options.timeout_seconds = *seconds;
  }
  if (!request.Query("limit").empty()) {
    const auto limit = host::ParseUint(request.Query("limit"));
    if (!limit) {
      return BadRequest("strconv.ParseInt: parsing \"" + request.Query("limit") +
                        "\": invalid syntax");
    }
    options.limit = *limit;
  }
  const std::vector<Cause> causes = Contradictions(options);
  if (!causes.empty()) {
    return InvalidListOptions(causes);
  }
  if (!options.resource_version_text.empty()) {
    const auto version = host::ParseUint(options.resource_version_text);
    if (!version) {
      const std::string why = "resourceVersion: Invalid value: \"" + options.resource_version_text +
                              "\": strconv.ParseUint: parsing \"" + options.resource_version_text +
                              "\": invalid syntax";
      return options.watch ? PlainError(why) : BadRequest("invalid resource version: " + why);
    }
    options.resource_version = *version;
  }
  return options;
}

std::string EncodeContinue(const ContinueToken& token) {
  return "v" + std::to_string(token.version) + "." + host::HexEncode(token.last_key);
}

std::optional<ContinueToken> DecodeContinue(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (text.empty() || text[0] != 'v' || dot == std::string::npos || (text.size() - dot) % 2 == 0) {
    return std::nullopt;
  }
  const auto version = host::ParseUint(text.substr(1, dot - 1));
  if (!version) {
    return std::nullopt;
  }
  ContinueToken token{*version, ""};
  for (std::size_t i = dot + 1; i + 1 < text.size(); i += 2) {
    int byte = 0;
    for (const char c : {text[i], text[i + 1]}) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) {
        return std::nullopt;
      }
      byte = byte * 16 + digit;
    }
    token.last_key.push_back(static_cast<char>(byte));
  }
  return token;
}

}  // namespace otc::kubesim
