// MemoryConnection: a peer that sends a given text in given pieces, for tests and
// fuzzing of what reads answers. Swallows what is written.
#ifndef OTC_HOST_HTTP_TESTING_MEMORY_CONNECTION_H_
#define OTC_HOST_HTTP_TESTING_MEMORY_CONNECTION_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "host/http/connection.h"

namespace otc::host::http::testing {

class MemoryConnection final : public Connection {
 public:
  // `piece`: most bytes a Read gives.
  MemoryConnection(std::string text, std::size_t piece, bool clean_end = true)
      : text_(std::move(text)), piece_(piece), clean_end_(clean_end) {}

  Status Write(std::string_view data, const CallContext&) override {
    written_ += data.size();
    return Status::Ok();
  }
  Result<ReadResult> Read(char* buffer, std::size_t size, const CallContext&, MonoTime) override {
    const std::size_t count = std::min({size, piece_, text_.size() - position_});
    if (count == 0) return ReadResult{0, clean_end_};
    std::memcpy(buffer, text_.data() + position_, count);
    position_ += count;
    return ReadResult{count, true};
  }
  bool IsIdle() override { return position_ == text_.size(); }
  std::uint64_t bytes_written() const override { return written_; }
  void ResetCount() override { written_ = 0; }
  bool answered_early() const override { return false; }

 private:
  const std::string text_;
  const std::size_t piece_;
  const bool clean_end_;
  std::size_t position_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace otc::host::http::testing

#endif  // OTC_HOST_HTTP_TESTING_MEMORY_CONNECTION_H_
