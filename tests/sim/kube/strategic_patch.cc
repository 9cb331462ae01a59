#include "tests/sim/kube/strategic_patch.h"

#include <algorithm>
#include <string>
#include <vector>

namespace otc::kubesim {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrderPrefix = "$setElementOrder/";

ApiError BadDirective(const std::string& directive) {
  return BadRequest("unknown patch type: " + directive);
}

bool Contains(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The merge key of an element in the form to compare; null: it has none.
const Json* KeyOf(const Json& element, std::string_view merge_key) {
  return Find(element, {merge_key});
}

Json::iterator FindByKey(Json& list, std::string_view merge_key, const Json& key) {
  return std::find_if(list.begin(), list.end(), [&](const Json& element) {
    const Json* other = KeyOf(element, merge_key);
    return other != nullptr && *other == key;
  });
}

// Puts the elements that `order` names into its order; the others keep their
// place relative to what stood before them.
void Reorder(Json& list, const Json& order, std::string_view merge_key) {
  const auto key_of = [&](const Json& element) -> Json {
    if (merge_key.empty()) {
      return element;
    }
    const Json* key = KeyOf(element, merge_key);
    return key != nullptr ? *key : Json();
  };
  std::vector<Json> wanted;
  for (const Json& entry : order) {
    wanted.push_back(key_of(entry));
  }
  const auto rank = [&](const Json& element) {
    return std::find(wanted.begin(), wanted.end(), key_of(element)) - wanted.begin();
  };
  std::vector<Json> ordered;
  std::vector<std::pair<std::ptrdiff_t, Json>> unnamed;  // index in the list, element
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (rank(list[i]) < static_cast<std::ptrdiff_t>(wanted.size())) {
      ordered.push_back(list[i]);
    } else {
      unnamed.emplace_back(static_cast<std::ptrdiff_t>(i), list[i]);
    }
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const Json& a, const Json& b) { return rank(a) < rank(b); });
  for (auto& [index, element] : unnamed) {
    const auto at = std::min<std::ptrdiff_t>(index, static_cast<std::ptrdiff_t>(ordered.size()));
    ordered.insert(ordered.begin() + at, std::move(element));
  }
  list = Json(std::move(ordered));
}

class Merger {
 public:
  // Merges `patch` into `target` (an object); false: error() says why.
  bool MergeObject(Json& target, const Json& patch, const MessageType* type) {
    if (const auto directive = patch.find(std::string(kDirective)); directive != patch.end()) {
      if (*directive == "replace") {
        target = Json::object();
        for (const auto& [key, value] : patch.items()) {
          if (key != kDirective) {
            target[key] = value;
          }
        }
        return true;
      }
      if (*directive == "delete") {
        target = Json::object();
        return true;
      }
      if (*directive != "merge") {
        return Fail(BadDirective(DumpJson(*directive)));
      }
    }
    for (const auto& [key, value] : patch.items()) {
      if (key.empty() || key[0] != '$') {
        if (!MergeField(target, key, value, type)) {
          return false;
        }
      }
    }
    return ApplyDirectives(target, patch, type);
  }

  const ApiError& error() const { return error_; }

 private:
  bool Fail(ApiError error) {
    error_ = std::move(error);
    return false;
  }

  static const FieldInfo* FieldOf(const MessageType* type, const std::string& name) {
    return type == nullptr ? nullptr : type->Field(name);
  }

  bool MergeField(Json& target, const std::string& key, const Json& value,
                  const MessageType* type) {
    if (value.is_null()) {
      target.erase(key);
      return true;
    }
    const FieldInfo* field = FieldOf(type, key);
    if (value.is_object()) {
      Json& child = target[key];
      if (!child.is_object()) {
        child = Json::object();
      }
      return MergeObject(child, value, field != nullptr ? field->message : nullptr);
    }
    if (value.is_array() && field != nullptr && field->shape == Shape::kRepeated) {
      Json& list = target[key];
      if (!list.is_array()) {
        list = Json::array();
      }
      if (!field->merge_key.empty()) {
        return MergeKeyedList(list, value, *field);
      }
      if (field->merge_as_set) {
        for (const Json& element : value) {
          if (!Contains(list, element)) {
            list.push_back(element);
          }
        }
        return true;
      }
    }
    target[key] = value;
    return true;
  }

  bool MergeKeyedList(Json& list, const Json& patch, const FieldInfo& field) {
    // An element {"$patch": "replace"} anywhere makes the others the whole list.
    const auto replaces = [](const Json& element) {
      return element.is_object() && TextAt(element, {kDirective}) == "replace";
    };
    if (std::any_of(patch.begin(), patch.end(), replaces)) {
      Json replacement = Json::array();
      for (const Json& element : patch) {
        if (!replaces(element)) {
          replacement.push_back(element);
        }
      }
      list = std::move(replacement);
      return true;
    }
    for (const Json& element : patch) {
      const Json* key = KeyOf(element, field.merge_key);
      if (key == nullptr) {
        return Fail(
            BadRequest("map: " + DumpJson(element) +
                       " does not contain declared merge key: " + std::string(field.merge_key)));
      }
      const std::string directive = TextAt(element, {kDirective});
      const auto found = FindByKey(list, field.merge_key, *key);
      if (directive == "delete") {
        for (auto each = found; each != list.end(); each = FindByKey(list, field.merge_key, *key)) {
          list.erase(each);
        }
      } else if (!directive.empty() && directive != "merge") {
        return Fail(BadDirective(directive));
      } else if (found == list.end()) {
        Json fresh = Json::object();
        if (!MergeObject(fresh, element, field.message)) {
          return false;
        }
        list.push_back(std::move(fresh));
      } else if (!MergeObject(*found, element, field.message)) {
        return false;
      }
    }
    return true;
  }

  bool ApplyDirectives(Json& target, const Json& patch, const MessageType* type) {
    for (const auto& [key, value] : patch.items()) {
      if (key.rfind(kDeletePrefix, 0) == 0) {
        const std::string name = key.substr(kDeletePrefix.size());
        const auto list = target.find(name);
        if (!value.is_array()) {
          return Fail(BadRequest("invalid patch: " + key + " must be a list"));
        }
        if (list != target.end() && list->is_array()) {
          Json kept = Json::array();
          for (const Json& element : *list) {
            if (!Contains(value, element)) {
              kept.push_back(element);
            }
          }
          *list = std::move(kept);
        }
      } else if (key == kRetainKeys) {
        Json kept = Json::object();
        for (const auto& [name, each] : target.items()) {
          if (Contains(value, name)) {
            kept[name] = each;
          }
        }
        target = std::move(kept);
      }
    }
    for (const auto& [key, value] : patch.items()) {
      if (key.rfind(kOrderPrefix, 0) != 0) {
        continue;
      }
      const std::string name = key.substr(kOrderPrefix.size());
      const FieldInfo* field = FieldOf(type, name);
      const auto list = target.find(name);
      if (!value.is_array()) {
        return Fail(BadRequest("invalid patch: " + key + " must be a list"));
      }
      if (list != target.end() && list->is_array()) {
        Reorder(*list, value, field != nullptr ? field->merge_key : std::string_view());
      }
    }
    return true;
  }

  ApiError error_;
};

}  // namespace

ApiResult<Json> StrategicMergePatch(const Json& original, const Json& patch,
                                    const MessageType& type) {
  if (!patch.is_object()) {
    return BadRequest("json: cannot unmarshal into Go value of type map[string]interface {}");
  }
  Merger merger;
  Json result = original;
  if (!merger.MergeObject(result, patch, &type)) {
    return merger.error();
  }
  return result;
}

Json JsonMergePatch(Json original, const Json& patch) {
  original.merge_patch(patch);
  return original;
}

ApiResult<Json> JsonPatch(const Json& original, const Json& operations) {
  if (!operations.is_array()) {
    return BadRequest("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  }
  ApiError rejected{.code = 422,
                    .reason = "Invalid",
                    .message = "the server rejected our request due to an error in our request"};
  try {
    return original.patch(operations);
  } catch (const Json::parse_error& error) {  // not a list of operations
    rejected.message = std::string("malformed JSON patch: ") + error.what();
    rejected.code = 400;
    rejected.reason = "BadRequest";
  } catch (const Json::exception&) {
    // A path that is not there, or a test that fails.
  }
  return rejected;
}

}  // namespace otc::kubesim
