#include "tests/sim/kube/response_writer.h"

#include <algorithm>
#include <cstdio>

#include "tests/sim/kube/http_message.h"

namespace otc::kubesim {

bool ResponseWriter::Put(std::string_view bytes) {
  while (!bytes.empty() && !ended_) {
    std::size_t piece = bytes.size();
    if (fault_.cut_after) {
      if (sent_ >= *fault_.cut_after) {
        break;
      }
      piece = std::min<std::uint64_t>(piece, *fault_.cut_after - sent_);
    }
    if (fault_.drip_bytes > 0) {
      piece = std::min(piece, fault_.drip_bytes);
    }
    if (connection_.Write(bytes.substr(0, piece)) != WaitResult::kReady) {
      ended_ = true;
      return false;
    }
    sent_ += piece;
    bytes.remove_prefix(piece);
    if (fault_.drip_bytes > 0 &&
        connection_.WaitActivity(fault_.drip_interval_ms, -1) != WaitResult::kTimeout) {
      ended_ = true;
      return false;
    }
  }
  if (!ended_ && fault_.cut_after && sent_ >= *fault_.cut_after) {
    End(fault_.cut_style);
  }
  return !ended_;
}

std::string ResponseWriter::Head(int status, std::string_view content_type,
                                 const std::string& framing) const {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + ReasonPhrase(status) + "\r\n";
  if (!content_type.empty()) {
    head += "Content-Type: " + std::string(content_type) + "\r\n";
  }
  head += framing;
  for (const auto& [name, value] : headers_) {
    head += name + ": " + value + "\r\n";
  }
  if (fault_.close_after) {
    head += "Connection: close\r\n";
  }
  return head + "\r\n";
}

void ResponseWriter::TellStatus(int status) {
  if (on_status_) {
    on_status_(status);
  }
}

bool ResponseWriter::Send(int status, std::string_view content_type, std::string_view body) {
  TellStatus(status);
  const std::string head =
      Head(status, content_type, "Content-Length: " + std::to_string(body.size()) + "\r\n");
  // One write for small answers: one TCP segment, one TLS record.
  const bool sent = body.size() <= 8192 ? Put(head + std::string(body)) : Put(head) && Put(body);
  complete_ = sent;
  if (sent && fault_.swallow_end) {
    End(EndStyle::kSilent);
  }
  return sent;
}

bool ResponseWriter::BeginStream(int status, std::string_view content_type) {
  TellStatus(status);
  return Put(Head(status, content_type, "Transfer-Encoding: chunked\r\n"));
}

bool ResponseWriter::Chunk(std::string_view bytes) {
  if (bytes.empty()) {
    return !ended_;  // an empty chunk would end the stream
  }
  char size[32];
  std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
  std::string framed(size);
  framed.reserve(bytes.size() + framed.size() + 2);
  framed.append(bytes).append("\r\n");
  return Put(framed);
}

bool ResponseWriter::EndStream() {
  if (fault_.swallow_end) {
    End(EndStyle::kSilent);
    return false;
  }
  complete_ = Put("0\r\n\r\n");
  return complete_;
}

bool ResponseWriter::Raw(std::string_view bytes) {
  TellStatus(-1);
  const bool sent = Put(bytes);
  if (sent) {
    End(EndStyle::kFin);
  }
  return sent;
}

void ResponseWriter::End(EndStyle style) {
  if (ended_) {
    return;
  }
  ended_ = true;
  if (style == EndStyle::kSilent) {
    connection_.StaySilent();
  } else {
    connection_.Shutdown(style == EndStyle::kReset);
  }
}

WaitResult ResponseWriter::Wait(int timeout_ms, int other_fd) {
  return ended_ ? WaitResult::kClosed : connection_.WaitActivity(timeout_ms, other_fd);
}

}  // namespace otc::kubesim
