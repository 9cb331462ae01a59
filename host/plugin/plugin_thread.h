// PluginThread: a thread that runs code of plugins: 2 MiB of stack (the ABI
// promises 1), an alternate signal stack, every asynchronous signal blocked.
//
// Owned by whoever started it, who must Join or Detach. Detached is for threads
// that a plugin never gave back: nothing else can be done with them.
#ifndef OTC_HOST_PLUGIN_PLUGIN_THREAD_H_
#define OTC_HOST_PLUGIN_PLUGIN_THREAD_H_

#include <pthread.h>

#include <functional>
#include <string>

#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

class PluginThread {
 public:
  PluginThread() = default;
  ~PluginThread();  // aborts if neither joined nor detached, as std::thread
  PluginThread(PluginThread&& other) noexcept;
  PluginThread& operator=(PluginThread&& other) noexcept;

  // `name` is cut to 15 characters, for ps and gdb. RESOURCE_EXHAUSTED with
  // reason "NoThread" if the system has none.
  static Result<PluginThread> Start(const std::string& name, std::function<void()> body);

  void Join();
  void Detach();

 private:
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PLUGIN_THREAD_H_
