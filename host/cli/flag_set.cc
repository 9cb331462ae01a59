#include "host/cli/flag_set.h"

#include <cstdlib>
#include <optional>

#include "host/base/strings.h"

namespace otc::host::cli {
namespace {

std::optional<bool> ParseBool(const std::string& text) {
  for (const char* yes : {"1", "t", "T", "true", "True", "TRUE"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "false", "False", "FALSE"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::string DurationText(std::int64_t ms) {
  if (ms % 1000 != 0) return std::to_string(ms) + "ms";
  if (ms != 0 && ms % 3'600'000 == 0) return std::to_string(ms / 3'600'000) + "h";
  if (ms != 0 && ms % 60'000 == 0) return std::to_string(ms / 60'000) + "m";
  return std::to_string(ms / 1000) + "s";
}

std::string DoubleText(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

constexpr char kBoolAllowed[] = "allowed are true and false";
constexpr char kDurationAllowed[] = "a duration such as 500ms, 30s, 5m or 1h30m is needed";

}  // namespace

FlagSet::Flag& FlagSet::Add(const std::string& name, Form form, const std::string& placeholder,
                            const std::string& help) {
  Flag& flag = flags_[name];
  flag.form = form;
  flag.placeholder = placeholder;
  flag.help = help;
  return flag;
}

void FlagSet::String(const std::string& name, std::string* value, const std::string& help) {
  Flag& flag = Add(name, Form::kString, "text", help);
  flag.default_text = *value;
  flag.text = [value] { return *value; };
  flag.set = [value](const std::string& text) {
    *value = text;
    return std::string();
  };
}

void FlagSet::Bool(const std::string& name, bool* value, const std::string& help) {
  Flag& flag = Add(name, Form::kBool, "true|false", help);
  flag.text = [value] { return std::string(*value ? "true" : "false"); };
  flag.default_text = flag.text();
  flag.set = [value](const std::string& text) -> std::string {
    const auto parsed = ParseBool(text);
    if (!parsed) return kBoolAllowed;
    *value = *parsed;
    return "";
  };
}

void FlagSet::Int(const std::string& name, std::int64_t* value, std::int64_t min, std::int64_t max,
                  const std::string& help) {
  Flag& flag = Add(name, Form::kInt, "number", help);
  flag.text = [value] { return std::to_string(*value); };
  flag.default_text = flag.text();
  flag.set = [value, min, max](const std::string& text) -> std::string {
    const bool negative = !text.empty() && text[0] == '-';
    const auto parsed = ParseUint(negative ? text.substr(1) : text);
    std::string allowed =
        "a whole number from " + std::to_string(min) + " to " + std::to_string(max) + " is needed";
    if (!parsed || *parsed > 1'000'000'000) return allowed;
    const auto number = static_cast<std::int64_t>(*parsed) * (negative ? -1 : 1);
    if (number < min || number > max) return allowed;
    *value = number;
    return "";
  };
}

void FlagSet::Double(const std::string& name, double* value, double min, const std::string& help) {
  Flag& flag = Add(name, Form::kString, "number", help);
  flag.text = [value] { return DoubleText(*value); };
  flag.default_text = flag.text();
  flag.set = [value, min](const std::string& text) -> std::string {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(number >= min)) {
      return "a number of at least " + DoubleText(min) + " is needed";
    }
    *value = number;
    return "";
  };
}

void FlagSet::DurationMs(const std::string& name, std::int64_t* value, const std::string& help) {
  Flag& flag = Add(name, Form::kDuration, "duration", help);
  flag.text = [value] { return DurationText(*value); };
  flag.default_text = flag.text();
  flag.set = [value](const std::string& text) -> std::string {
    const auto parsed = ParseDurationMillis(text);
    if (!parsed) return kDurationAllowed;
    *value = *parsed;
    return "";
  };
}

void FlagSet::List(const std::string& name, std::vector<std::string>* value,
                   const std::string& help) {
  Flag& flag = Add(name, Form::kString, "a,b,…", help);
  flag.text = [value] { return Join(*value, ","); };
  flag.default_text = flag.text();
  // The first use replaces the default, later ones append (pflag's rule).
  flag.set = [value, first = true](const std::string& text) mutable {
    if (first) value->clear();
    first = false;
    for (const std::string& part : Split(text, ',')) {
      value->emplace_back(TrimSpace(part));
    }
    return std::string();
  };
}

void FlagSet::Ignored(const std::string& name, Form form, const std::string& why) {
  static constexpr const char* kPlaceholders[] = {"text", "true|false", "number", "duration"};
  Flag& flag = Add(name, form, kPlaceholders[static_cast<int>(form)], why);
  flag.no_effect = true;
  flag.text = [] { return std::string(); };
  flag.set = [form](const std::string& text) -> std::string {
    switch (form) {
      case Form::kString:
        return "";
      case Form::kBool:
        return ParseBool(text) ? "" : kBoolAllowed;
      case Form::kInt:
        return ParseUint(text) ? "" : "a whole number is needed";
      case Form::kDuration:
        return ParseDurationMillis(text) ? "" : kDurationAllowed;
    }
    return "";
  };
}

void FlagSet::Check(const std::string& name, std::function<std::string()> check) {
  flags_.at(name).checks.push_back(std::move(check));
}

std::vector<std::string> FlagSet::Parse(const std::vector<std::string>& args) {
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg.size() < 3 || arg.compare(0, 2, "--") != 0) {
      errors.push_back("argument \"" + arg + "\" is not a flag: flags begin with --");
      continue;
    }
    const auto equals = arg.find('=');
    const std::string name = arg.substr(2, equals == std::string::npos ? equals : equals - 2);
    const auto it = flags_.find(name);
    if (it == flags_.end()) {
      const auto nearest = Nearest(name, Names());
      errors.push_back("unknown flag --" + name +
                       (nearest ? ": did you mean --" + *nearest + "?" : "; see --help"));
      continue;
    }
    Flag& flag = it->second;
    std::string value;
    if (equals != std::string::npos) {
      value = arg.substr(equals + 1);
    } else if (flag.form == Form::kBool) {
      value = "true";
    } else if (i + 1 < args.size()) {
      value = args[++i];
    } else {
      errors.push_back("flag --" + name + " needs a value: --" + name + "=<" + flag.placeholder +
                       ">");
      continue;
    }
    flag.given = true;
    const std::string error = flag.set(value);
    if (!error.empty()) errors.push_back("flag --" + name + "=" + value + ": " + error);
  }
  for (auto& [name, flag] : flags_) {
    for (const auto& check : flag.checks) {
      const std::string error = check();
      if (!error.empty()) errors.push_back("flag --" + name + ": " + error);
    }
  }
  return errors;
}

bool FlagSet::Given(const std::string& name) const { return flags_.at(name).given; }

std::string FlagSet::Help() const {
  std::string out;
  for (const bool no_effect : {false, true}) {
    out += no_effect ? "\nAccepted for compatibility, without effect here:\n" : "Flags:\n";
    for (const auto& [name, flag] : flags_) {
      if (flag.no_effect != no_effect) continue;
      out += "  --" + name + "=<" + flag.placeholder + ">";
      if (!no_effect && !flag.default_text.empty()) out += " (default " + flag.default_text + ")";
      out += "\n      " + flag.help + "\n";
    }
  }
  return out;
}

std::map<std::string, std::string> FlagSet::Values() const {
  std::map<std::string, std::string> values;
  for (const auto& [name, flag] : flags_) {
    if (!flag.no_effect) values[name] = flag.text();
  }
  return values;
}

std::vector<std::string> FlagSet::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, flag] : flags_) names.push_back(name);
  return names;
}

}  // namespace otc::host::cli
