#include "host/plugin/plugin_thread.h"

#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "host/plugin/crash_handler.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::size_t kStackBytes = 2u << 20;

void* Main(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  const AlternateStack stack;
  (*body)();
  return nullptr;
}

// Crashes must reach the handler; everything else is main's.
sigset_t AsynchronousSignals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    sigdelset(&set, signal);
  }
  return set;
}

}  // namespace

PluginThread::~PluginThread() {
  if (running_) std::abort();
}

PluginThread::PluginThread(PluginThread&& other) noexcept
    : thread_(other.thread_), running_(std::exchange(other.running_, false)) {}

PluginThread& PluginThread::operator=(PluginThread&& other) noexcept {
  if (running_) std::abort();
  thread_ = other.thread_;
  running_ = std::exchange(other.running_, false);
  return *this;
}

Result<PluginThread> PluginThread::Start(const std::string& name, std::function<void()> body) {
  PluginThread thread;
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // The mask is inherited, so the thread never runs with a signal open.
  const sigset_t blocked = AsynchronousSignals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const int error = pthread_create(&thread.thread_, &attributes, Main, owned.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    return Status(Code::kResourceExhausted, "NoThread",
                  std::string("cannot start a thread: ") + std::strerror(error));
  }
  owned.release();
  thread.running_ = true;
  pthread_setname_np(thread.thread_, name.substr(0, 15).c_str());
  return thread;
}

void PluginThread::Join() {
  if (std::exchange(running_, false)) pthread_join(thread_, nullptr);
}

void PluginThread::Detach() {
  if (std::exchange(running_, false)) pthread_detach(thread_);
}

}  // namespace otc::host::plugin_host
