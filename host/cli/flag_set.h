// FlagSet: command-line flags in the form that users of cloud controller
// managers know (Go's pflag): --name=value, --name value, --bool.
//
// Poco Util's processor is not used: it matches abbreviations, ignores case and
// does not know a boolean without a value (docs/decisions/0003-flags.md). Names
// match whole; everything unknown is an error with the nearest name; all errors
// of one command line are reported at once. Single-threaded, used once at start.
#ifndef OTC_HOST_CLI_FLAG_SET_H_
#define OTC_HOST_CLI_FLAG_SET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace otc::host::cli {

class FlagSet {
 public:
  void String(const std::string& name, std::string* value, const std::string& help);
  void Bool(const std::string& name, bool* value, const std::string& help);
  void Int(const std::string& name, std::int64_t* value, std::int64_t min, std::int64_t max,
           const std::string& help);
  void Double(const std::string& name, double* value, double min, const std::string& help);
  // Milliseconds; written as Go durations ("5m", "1h30m", "250ms").
  void DurationMs(const std::string& name, std::int64_t* value, const std::string& help);
  // Comma-separated; given again it is appended to.
  void List(const std::string& name, std::vector<std::string>* value, const std::string& help);

  // Accepted with a value of the given form and otherwise without effect.
  enum class Form { kString, kBool, kInt, kDuration };
  void Ignored(const std::string& name, Form form, const std::string& why);

  // An additional check of a flag that was given; the returned text, if not
  // empty, is an error.
  void Check(const std::string& name, std::function<std::string()> check);

  // The errors of `args` (without the program's name), each a full sentence
  // that names flag, value and what is allowed; empty if all is well.
  std::vector<std::string> Parse(const std::vector<std::string>& args);

  bool Given(const std::string& name) const;
  std::string Help() const;
  // name → text of the value in force, for /configz.
  std::map<std::string, std::string> Values() const;
  std::vector<std::string> Names() const;

 private:
  struct Flag {
    Form form = Form::kString;
    std::string placeholder;
    std::string help;
    bool no_effect = false;
    bool given = false;
    std::string default_text;
    std::function<std::string(const std::string&)> set;  // error text or ""
    std::function<std::string()> text;
    std::vector<std::function<std::string()>> checks;
  };

  Flag& Add(const std::string& name, Form form, const std::string& placeholder,
            const std::string& help);

  std::map<std::string, Flag> flags_;
};

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_FLAG_SET_H_
