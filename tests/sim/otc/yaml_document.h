// A YAML (or JSON, which is YAML) file as JSON text.
//
// Plain scalars become null, true/false, whole or decimal numbers or strings;
// quoted ones are strings. Refused, with line numbers: anchors and aliases, keys
// that are no scalars, duplicate keys, more than one document, nesting beyond 64.
#ifndef OTC_TESTS_SIM_OTC_YAML_DOCUMENT_H_
#define OTC_TESTS_SIM_OTC_YAML_DOCUMENT_H_

#include <string>

#include "sdk/include/otc/cpp/status.h"

namespace otc::sim {

Result<std::string> YamlToJson(const std::string& text);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_YAML_DOCUMENT_H_
