#include "plugins/node/server_list.h"

#include <unordered_set>

#include "plugins/node/decide.h"

namespace otc::node {
namespace {

// The host refused to take an answer of this size.
bool IsTooLarge(const pb::CloudResponse& response) {
  return response.outcome() != pb::OUTCOME_ANSWERED && response.http_status() == 0 &&
         response.code() == static_cast<std::int32_t>(Code::kResourceExhausted);
}

class Walker {
 public:
  Walker(const ReadPage& read, const Wanted& wanted, const TakeServer& take)
      : read_(read), wanted_(wanted), take_(take) {}

  ListWalk Run() {
    while (!done_ && walk_.status.ok()) walk_.status = Next();
    return walk_;
  }

 private:
  Status Next() {
    if (walk_.pages >= kMaxPages) {
      return Status(Code::kResourceExhausted, kLookupLimit,
                    "more than " + std::to_string(kMaxPages) + " pages of servers");
    }
    const auto response = read_(position_ / limit_ + 1, limit_);
    if (!response.ok()) return response.status();
    ++walk_.pages;
    if (IsTooLarge(*response) && limit_ / 2 >= kSmallestPageSize) {
      limit_ /= 2;  // position_ is a multiple of the old limit, so of the new one
      return Status::Ok();
    }
    if (Status problem = AnswerProblem(*response); !problem.ok()) {
      return problem.WithPrefix("list of servers: ");
    }
    const auto page = ParseServerPage(response->body(), wanted_);
    if (!page.ok()) return page.status().WithPrefix("list of servers: ");
    for (const Server& server : page->servers) OTC_RETURN_IF_ERROR(take_(server));
    position_ += limit_;
    Advance(*page);
    return Status::Ok();
  }

  // A full page means more, unless the cloud's count says that this was the last.
  // A short one is the end, unless there should be more (the cloud may cap the
  // page size). Nothing new is always the end.
  void Advance(const ServerPage& page) {
    const std::size_t before = seen_.size();
    seen_.insert(page.ids.begin(), page.ids.end());
    const bool all_counted = page.count && static_cast<std::int64_t>(seen_.size()) >= *page.count;
    const bool full = page.entries >= limit_;
    if (page.entries == 0 || seen_.size() == before) {
      done_ = true;
    } else if (full) {
      // On the first page the count may be that of the page alone.
      done_ = all_counted && walk_.pages > 1;
    } else {
      done_ = all_counted || !page.count;
    }
  }

  const ReadPage& read_;
  const Wanted& wanted_;
  const TakeServer& take_;
  ListWalk walk_;
  std::uint32_t limit_ = kPageSize;
  std::uint32_t position_ = 0;  // servers before the next page
  bool done_ = false;
  std::unordered_set<std::string> seen_;
};

}  // namespace

ListWalk WalkServers(const ReadPage& read, const Wanted& wanted, const TakeServer& take) {
  return Walker(read, wanted, take).Run();
}

}  // namespace otc::node
