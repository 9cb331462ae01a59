#include "host/cloud/credential_guard.h"

#include "host/cloud/call_wait.h"

namespace otc::host::cloud {

Status CredentialGuard::Admit(const CallContext& context) {
  CallWait wait(mutex_, changed_, context);
  std::unique_lock lock(mutex_);
  OTC_RETURN_IF_ERROR(
      wait.Until(lock, [&] { return refusals_ >= kMaxRefusals || proven_ || in_flight_ == 0; }));
  if (refusals_ >= kMaxRefusals) {
    return Status(Code::kUnauthenticated, "CredentialsRefused",
                  "the cloud refused access-key and secret-key twice; nothing is sent until "
                  "cloud.conf changes, because five refusals lock the key");
  }
  ++in_flight_;
  return Status::Ok();
}

void CredentialGuard::Report(Answer answer) {
  std::lock_guard lock(mutex_);
  --in_flight_;
  if (answer == Answer::kAccepted) {
    proven_ = true;
    // A late success of another request does not lift the stop.
    if (refusals_ < kMaxRefusals) refusals_ = 0;
  } else if (answer == Answer::kRefused) {
    proven_ = false;
    ++refusals_;
  }
  changed_.notify_all();
}

bool CredentialGuard::stopped() const {
  std::lock_guard lock(mutex_);
  return refusals_ >= kMaxRefusals;
}

}  // namespace otc::host::cloud
