// Stands in for `otc-host probe` in tests.
#include "host/plugin/probe.h"

int main(int argc, char** argv) {
  return otc::host::plugin_host::ProbeMain({argv + 1, argv + argc});
}
