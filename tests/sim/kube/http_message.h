// HttpRequest: one parsed request; and the percent-coding that goes with it.
#ifndef OTC_TESTS_SIM_KUBE_HTTP_MESSAGE_H_
#define OTC_TESTS_SIM_KUBE_HTTP_MESSAGE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace otc::kubesim {

struct HttpRequest {
  std::string method;
  std::string target;                                      // as sent: path and query
  std::string path;                                        // decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::map<std::string, std::string> headers;              // names in lower case
  std::string body;
  // From a verified client certificate; empty without one.
  std::string certificate_user;
  std::vector<std::string> certificate_groups;

  // The first value of that name; "" when absent.
  std::string Query(std::string_view name) const;
  bool HasQuery(std::string_view name) const;
  std::string Header(const std::string& lower_case_name) const;
};

// Fills path and query from target; false if an escape is malformed.
bool SplitTarget(HttpRequest& request);

// Decodes %XX, and + as blank when `plus_is_blank`; nothing if malformed.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank);
std::string PercentEncode(std::string_view text);

const char* ReasonPhrase(int status);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_HTTP_MESSAGE_H_
