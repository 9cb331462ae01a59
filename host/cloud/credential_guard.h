// CredentialGuard: keeps one access key from being locked by its own clients.
//
// The gateway locks a key for minutes, for everybody, after five wrong signatures
// in a row. So: while a key has not been accepted yet, or was just refused, only
// one signed request is under way at a time; after two refusals none is sent any
// more until the credentials change (which makes a new guard). A refusal that
// the clock explains may be repeated once with the corrected time.
//
// Thread-safe; Admit may wait, on the injected clock, and wakes on cancellation.
#ifndef OTC_HOST_CLOUD_CREDENTIAL_GUARD_H_
#define OTC_HOST_CLOUD_CREDENTIAL_GUARD_H_

#include <condition_variable>
#include <mutex>

#include "host/base/cancellation.h"

namespace otc::host::cloud {

class CredentialGuard {
 public:
  // What became of an admitted request.
  enum class Answer {
    kAccepted,  // any answer that shows a good signature
    kRefused,   // 401
    kNone,      // not sent, lost, or no word about the signature
  };

  // OK: send now, then Report exactly once. UNAUTHENTICATED "CredentialsRefused":
  // stopped; else the call's own end.
  Status Admit(const CallContext& context);
  void Report(Answer answer);

  bool stopped() const;

 private:
  static constexpr int kMaxRefusals = 2;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool proven_ = false;
  int in_flight_ = 0;
  int refusals_ = 0;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_CREDENTIAL_GUARD_H_
