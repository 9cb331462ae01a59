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
  return PlainError("unknown patch type: " + directive);
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

// The order that the real server gives a merged list: elements named in `order`
// in that order; of the others and these, what stood first before the patch comes
// first, and a named one when that cannot be told.
void Reorder(Json& list, const Json& order, const Json& before, std::string_view merge_key) {
  const auto key_of = [&](const Json& element) -> Json {
    const Json* key = merge_key.empty() ? &element : KeyOf(element, merge_key);
    return key != nullptr ? *key : Json();
  };
  const auto position = [&](const Json& in, const Json& element) -> std::size_t {
    std::size_t at = 0;
    while (at < in.size() && key_of(in[at]) != key_of(element)) {
      ++at;
    }
    return at;
  };
  std::vector<Json> named;
  std::vector<Json> others;
  for (const Json& element : list) {
    (position(order, element) < order.size() ? named : others).push_back(element);
  }
  const auto sort_by = [&](std::vector<Json>& elements, const Json& in) {
    std::stable_sort(elements.begin(), elements.end(), [&](const Json& a, const Json& b) {
      return position(in, a) < position(in, b);
    });
  };
  sort_by(named, order);
  sort_by(others, before);
  Json merged = Json::array();
  std::size_t next_named = 0;
  for (const Json& other : others) {
    while (next_named < named.size() &&
           (position(before, named[next_named]) == before.size() ||
            position(before, named[next_named]) < position(before, other))) {
      merged.push_back(named[next_named++]);
    }
    merged.push_back(other);
  }
  while (next_named < named.size()) {
    merged.push_back(named[next_named++]);
  }
  list = std::move(merged);
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
    const Json before = target;
    for (const auto& [key, value] : patch.items()) {
      if (!key.empty() && key[0] == '$') {
        continue;
      }
      const bool order_given = patch.contains(std::string(kOrderPrefix) + key);
      if (!MergeField(target, key, value, type, order_given)) {
        return false;
      }
    }
    return ApplyDirectives(target, before, patch, type);
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

  // `order_given`: a $setElementOrder puts the list in order later.
  bool MergeField(Json& target, const std::string& key, const Json& value, const MessageType* type,
                  bool order_given) {
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
        return MergeKeyedList(list, value, *field, order_given);
      }
      if (field->merge_as_set) {
        const Json before = list;
        for (const Json& element : value) {
          if (!Contains(list, element)) {
            list.push_back(element);
          }
        }
        if (!order_given) {
          Reorder(list, value, before, "");
        }
        return true;
      }
    }
    target[key] = value;
    return true;
  }

  bool MergeKeyedList(Json& list, const Json& patch, const FieldInfo& field, bool order_given) {
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
    const Json before = list;
    for (const Json& element : patch) {
      const Json* key = KeyOf(element, field.merge_key);
      if (key == nullptr) {
        return Fail(
            PlainError("map: " + DumpJson(element) +
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
    if (!order_given) {
      Reorder(list, patch, before, field.merge_key);
    }
    return true;
  }

  bool ApplyDirectives(Json& target, const Json& before, const Json& patch,
                       const MessageType* type) {
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
        const Json* list_before = Find(before, {name});
        Reorder(*list, value, list_before != nullptr ? *list_before : Json::array(),
                field != nullptr ? field->merge_key : std::string_view());
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
    return BadRequest(
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "[]handlers.jsonPatchOp");
  }
  try {
    return original.patch(operations);
  } catch (const Json::exception&) {
    // Not an operation, a path that is not there, or a test that fails.
    return ApiError{.code = 422,
                    .reason = "Invalid",
                    .message = "the server rejected our request due to an error in our request",
                    .details = Json::object()};
  }
}

}  // namespace otc::kubesim
