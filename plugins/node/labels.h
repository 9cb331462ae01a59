// What Kubernetes accepts as a label value and as a host name. Pure functions.
#ifndef OTC_PLUGINS_NODE_LABELS_H_
#define OTC_PLUGINS_NODE_LABELS_H_

#include <string_view>

namespace otc::node {

// At most 63 characters, letters, digits and "-_.", first and last a letter or
// digit. Empty is not worth a label.
bool IsLabelValue(std::string_view text);

// Letters, digits, "-" and "."; at most 253 characters.
bool IsHostName(std::string_view text);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_LABELS_H_
