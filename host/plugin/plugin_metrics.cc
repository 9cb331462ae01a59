#include "host/plugin/plugin_metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "host/base/strings.h"
#include "host/plugin/interfaces.h"
#include "otc/plugin/v1/services.pb.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::size_t kMaxLabels = 4;
constexpr std::size_t kMaxBuckets = 64;
constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxHelp = 1024;
constexpr std::size_t kMaxLabelValue = 256;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

// A plugin must not come near the host's own names, nor the series that a
// histogram writes besides its own.
bool IsReserved(const std::string& name) {
  static const std::set<std::string> names = {
      "otc_plugin_state",
      "otc_plugin_calls_total",
      "otc_plugin_bugs_total",
      "otc_plugin_call_seconds",
      "otc_plugin_log_lines_dropped_total",
      "otc_plugin_metric_samples_dropped_total",
      "otc_plugin_results_dropped_total",
  };
  if (names.count(name) != 0) return true;
  for (const std::string_view suffix : {"_bucket", "_count", "_sum"}) {
    if (name.size() <= suffix.size()) continue;
    if (std::string_view(name).substr(name.size() - suffix.size()) != suffix) continue;
    if (names.count(name.substr(0, name.size() - suffix.size())) != 0) return true;
  }
  return false;
}

std::string Prefix(const std::string& plugin_id) {
  std::string out = "otc_plugin_" + plugin_id + "_";
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return out;
}

bool IsValid(const plugin::v1::MetricDefinition& definition) {
  using plugin::v1::MetricKind_IsValid;
  const bool histogram = definition.kind() == plugin::v1::METRIC_KIND_HISTOGRAM;
  if (!IsName(definition.name()) || definition.help().size() > kMaxHelp) return false;
  if (definition.kind() == plugin::v1::METRIC_KIND_UNSPECIFIED ||
      !MetricKind_IsValid(definition.kind())) {
    return false;
  }
  if (static_cast<std::size_t>(definition.label_names_size()) > kMaxLabels) return false;
  std::set<std::string> labels;
  for (const std::string& label : definition.label_names()) {
    if (!IsName(label) || label.substr(0, 2) == "__" || label == "le") return false;
    if (!labels.insert(label).second) return false;
  }
  const auto& buckets = definition.buckets();
  if (!histogram) return buckets.empty();
  if (buckets.empty() || static_cast<std::size_t>(buckets.size()) > kMaxBuckets) return false;
  for (int i = 0; i < buckets.size(); ++i) {
    if (!std::isfinite(buckets[i]) || (i > 0 && buckets[i] <= buckets[i - 1])) return false;
  }
  return true;
}

}  // namespace

bool MetricNames::Claim(const std::string& name, const std::string& plugin_id) {
  if (IsReserved(name)) return false;
  const std::lock_guard lock(mutex_);
  return owners_.try_emplace(name, plugin_id).first->second == plugin_id;
}

// One metric and the series that were used so far.
struct PluginMetrics::Definition {
  std::string text;  // the definition, serialised: what "the same" means
  std::string name;  // with the prefix
  std::string help;
  plugin::v1::MetricKind kind{};
  std::vector<std::string> label_names;
  std::vector<double> buckets;

  std::mutex mutex;  // guards all below
  std::map<std::vector<std::string>, Counter*> counters;
  std::map<std::vector<std::string>, Gauge*> gauges;
  std::map<std::vector<std::string>, Histogram*> histograms;

  Labels LabelSet(const std::vector<std::string>& values) const {
    Labels labels;
    for (std::size_t i = 0; i < values.size(); ++i) labels[label_names[i]] = values[i];
    return labels;
  }
  // Null: a new label set above the limit.
  template <typename T, typename Make>
  static T* Series(std::map<std::vector<std::string>, T*>& known,
                   const std::vector<std::string>& values, const Make& make) {
    const auto it = known.find(values);
    if (it != known.end()) return it->second;
    if (known.size() >= Metrics::kMaxLabelSets) return nullptr;
    return known[values] = make();
  }
};

PluginMetrics::PluginMetrics(Metrics& metrics, MetricNames& names, std::string plugin_id)
    : metrics_(metrics),
      names_(names),
      plugin_id_(std::move(plugin_id)),
      prefix_(Prefix(plugin_id_)),
      dropped_(metrics.GetCounter("otc_plugin_metric_samples_dropped_total",
                                  "Samples of a plugin's metrics that were dropped: wrong labels, "
                                  "or more than 200 label sets.",
                                  {{"plugin", plugin_id_}})) {}

PluginMetrics::~PluginMetrics() = default;

std::int32_t PluginMetrics::Define(otc_bytes bytes, std::uint64_t* handle) {
  plugin::v1::MetricDefinition parsed;
  if (handle == nullptr || (bytes.len > 0 && bytes.ptr == nullptr) || bytes.len > 65'536 ||
      !parsed.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len)) || !IsValid(parsed)) {
    return OTC_INVALID_ARGUMENT;
  }
  const std::string name = prefix_ + parsed.name();
  const std::string text = parsed.SerializeAsString();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < definitions_.size(); ++i) {
    if (definitions_[i]->name != name) continue;
    if (definitions_[i]->text != text) return OTC_ALREADY_EXISTS;
    *handle = i + 1;
    return OTC_OK;
  }
  if (definitions_.size() >= kMaxDefinitions) return OTC_RESOURCE_EXHAUSTED;
  if (!names_.Claim(name, plugin_id_)) return OTC_ALREADY_EXISTS;
  auto definition = std::make_unique<Definition>();
  definition->text = text;
  definition->name = name;
  definition->help = ReplaceInvalidUtf8(parsed.help());
  definition->kind = parsed.kind();
  definition->label_names = {parsed.label_names().begin(), parsed.label_names().end()};
  definition->buckets = {parsed.buckets().begin(), parsed.buckets().end()};
  definitions_.push_back(std::move(definition));
  *handle = definitions_.size();
  return OTC_OK;
}

void PluginMetrics::Record(std::uint64_t handle, double value, const otc_str* label_values,
                           std::uint64_t label_count) {
  Definition* definition = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (handle >= 1 && handle <= definitions_.size()) definition = definitions_[handle - 1].get();
  }
  if (definition == nullptr || label_count != definition->label_names.size() ||
      (label_count > 0 && label_values == nullptr) || std::isnan(value)) {
    dropped_.Add();
    return;
  }
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i < label_count; ++i) {
    values.push_back(ReplaceInvalidUtf8(ToView(label_values[i]).substr(0, kMaxLabelValue)));
  }
  const std::lock_guard lock(definition->mutex);
  const auto& name = definition->name;
  const auto& help = definition->help;
  bool done = false;
  if (definition->kind == plugin::v1::METRIC_KIND_COUNTER) {
    auto* series = Definition::Series<Counter>(definition->counters, values, [&] {
      return &metrics_.GetCounter(name, help, definition->LabelSet(values));
    });
    // A counter never goes back.
    done = series != nullptr && value >= 0;
    if (done) series->Add(value);
  } else if (definition->kind == plugin::v1::METRIC_KIND_GAUGE) {
    auto* series = Definition::Series<Gauge>(definition->gauges, values, [&] {
      return &metrics_.GetGauge(name, help, definition->LabelSet(values));
    });
    done = series != nullptr;
    if (done) series->Set(value);
  } else {
    auto* series = Definition::Series<Histogram>(definition->histograms, values, [&] {
      return &metrics_.GetHistogram(name, help, definition->buckets, definition->LabelSet(values));
    });
    done = series != nullptr;
    if (done) series->Observe(value);
  }
  if (!done) dropped_.Add();
}

}  // namespace otc::host::plugin_host
