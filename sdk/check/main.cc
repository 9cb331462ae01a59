// otc-plugin-check: judges a plugin file by the conformance rules.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "sdk/check/child.h"
#include "sdk/check/judge.h"
#include "sdk/check/report.h"
#include "sdk/inspect/file.h"
#include "sdk/inspect/rules.h"

namespace otc::check {
namespace {

constexpr char kUsage[] =
    R"(usage: otc-plugin-check [options] FILE.so…
       otc-plugin-check --manifest FILE.so

Judges plugin files by the rules of docs/reference/plugin-abi.md. The code of a
plugin runs in child processes only; a plugin that crashes, hangs or exits gets a
verdict like any other. Plugins with CSI interfaces get garbage as input too: run
those in a container.

  --manifest             print the manifest as YAML, run nothing
  -o text|json           form of the report (default text; json: one line a file)
  --config FILE          configuration document (JSON) for create
  --role ROLE            controllers, csi-controller, csi-node or all
                         (default: from the interfaces)
  --allow-debug-plugins  accept builds other than release
  --timeout SECONDS      for each step (default 10)
  -h, --help

exit codes: 0 no rule broken, 1 a rule broken, 2 wrong usage or unreadable file
)";

struct Options {
  JudgeOptions judge;
  bool manifest = false;
  bool json = false;
  std::vector<std::string> files;
};

int Usage(const std::string& problem) {
  std::cerr << "otc-plugin-check: " << problem << "\n" << kUsage;
  return 2;
}

bool ReadText(const std::string& path, std::string* out) {
  std::ifstream file(path, std::ios::binary);
  out->assign(std::istreambuf_iterator<char>(file), {});
  return file.good() || file.eof();
}

// An empty answer: go on. Otherwise what is wrong.
std::string Parse(const std::vector<std::string>& words, Options* options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&](std::string* out) {
      if (i + 1 >= words.size()) return false;
      *out = words[++i];
      return true;
    };
    std::string text;
    if (word == "--manifest") {
      options->manifest = true;
    } else if (word == "--allow-debug-plugins") {
      options->judge.allow_debug = true;
    } else if (word == "-o") {
      if (!value(&text) || (text != "text" && text != "json")) return "-o: allowed are text, json";
      options->json = text == "json";
    } else if (word == "--config") {
      if (!value(&text)) return "--config needs a file";
      if (!ReadText(text, &options->judge.config)) return "--config: cannot read " + text;
    } else if (word == "--role") {
      if (!value(&text) || (text != "controllers" && text != "csi-controller" &&
                            text != "csi-node" && text != "all")) {
        return "--role: allowed are controllers, csi-controller, csi-node, all";
      }
      options->judge.role = text;
    } else if (word == "--timeout") {
      if (!value(&text)) return "--timeout needs a number of seconds";
      char* end = nullptr;
      const long seconds = std::strtol(text.c_str(), &end, 10);
      if (end == text.c_str() || *end != '\0' || seconds < 1 || seconds > 3600) {
        return "--timeout " + text + ": wanted 1 to 3600 seconds";
      }
      options->judge.step_timeout_s = static_cast<int>(seconds);
    } else if (!word.empty() && word[0] == '-') {
      return "unknown option " + word;
    } else {
      options->files.push_back(word);
    }
  }
  if (options->files.empty()) return "no file given";
  return "";
}

int PrintManifest(const std::string& path) {
  const auto bytes = inspect::ReadPluginFile(path);
  if (!bytes.ok()) return Usage(bytes.status().message());
  const auto elf = inspect::ReadElf(*bytes);
  if (!elf.ok()) {
    std::cerr << path << ": " << elf.status().message() << "\n";
    return 1;
  }
  const auto notes = inspect::ManifestNotes(*elf);
  if (notes.size() != 1) {
    std::cerr << path << ": " << notes.size() << " manifest notes, wanted one\n";
    return 1;
  }
  const auto parsed = inspect::ParseManifestNote(notes[0]->desc);
  for (const inspect::ManifestError& error : parsed.errors) {
    std::cerr << path << ": manifest";
    if (error.line > 0) std::cerr << " line " << error.line;
    std::cerr << ": " << error.text << "\n";
  }
  if (!parsed.ok()) return 1;
  PrintManifestYaml(parsed.manifest, std::cout);
  return 0;
}

// --child GROUP FD FILE ROLE CONFIG, from this program only.
int Child(const std::vector<std::string>& words) {
  ChildOptions options;
  if (words.size() != 6 || !ParseGroup(words[1], &options.group)) return 2;
  options.wire_fd = std::atoi(words[2].c_str());
  options.path = words[3];
  options.role = words[4];
  options.config = words[5];
  return RunChild(options);
}

int Main(const std::vector<std::string>& words) {
  if (!words.empty() && words[0] == "--child") return Child(words);
  for (const std::string& word : words) {
    if (word == "-h" || word == "--help") {
      std::cout << kUsage;
      return 0;
    }
  }
  Options options;
  const std::string problem = Parse(words, &options);
  if (!problem.empty()) return Usage(problem);
  int exit_code = 0;
  for (const std::string& path : options.files) {
    if (options.manifest) {
      exit_code = std::max(exit_code, PrintManifest(path));
      continue;
    }
    const auto report = Judge(path, options.judge);
    if (!report.ok()) return Usage(report.status().message());
    options.json ? report->PrintJson(std::cout) : report->PrintText(std::cout);
    if (!report->ok()) exit_code = std::max(exit_code, 1);
  }
  return exit_code;
}

}  // namespace
}  // namespace otc::check

int main(int argc, char** argv) {
  return otc::check::Main(std::vector<std::string>(argv + 1, argv + argc));
}
