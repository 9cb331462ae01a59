// Label and field selectors of lists and watches.
#ifndef OTC_TESTS_SIM_KUBE_SELECTORS_H_
#define OTC_TESTS_SIM_KUBE_SELECTORS_H_

#include <string>
#include <vector>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/object.h"

namespace otc::kubesim {

class Selector {
 public:
  // Refuses (400) what does not parse and field labels that the resource lacks.
  static ApiResult<Selector> Parse(const ResourceInfo& resource, const std::string& labels,
                                   const std::string& fields);

  bool Matches(const StoredObject& object) const;
  bool empty() const { return labels_.empty() && fields_.empty(); }

 private:
  enum class Operator { kIn, kNotIn, kExists, kNotExists };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;
  };

  static bool Satisfies(const Requirement& requirement, bool present, const std::string& value);

  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_SELECTORS_H_
