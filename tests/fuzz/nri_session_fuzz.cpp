// SPDX-License-Identifier: Apache-2.0
// Anything a runtime could send, through the whole conversation. The first byte chooses the pieces;
// the rest is the trunk. Every frame that goes out is one a Go runtime can read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nri/conversation.h"

namespace {

using namespace railhead;
using namespace railhead::nri;

void require(bool condition) {
  if (!condition) std::abort();
}

// Answers now, later or never, by the request.
class FuzzHandler final : public Handler {
 public:
  void configured(const RuntimePeer& /*peer*/) override {}

  void existing(const container::Request& container) override { touch(container); }

  void synchronized(const nri::StateCounts& /*counts*/) override {}

  void create(const container::Request& request,
              std::function<void(const CreateAnswer&)> done) override {
    touch(request);
    CreateAnswer answer;
    if (request.env.size() % 3 == 1) answer.refusal = std::string(request.name);
    if (request.env.size() % 3 == 2) {
      answer.adjustment.emplace().env = {{std::string(request.id), "v"}};
      answer.adjustment->memlock_bytes = container::kUnlimited;
    }
    if (request.mounts.empty()) return done(answer);
    later_.push_back(std::move(done));
  }

  CreateAnswer on_deadline(const container::Request& request) override {
    touch(request);
    return {};
  }

  void disconnected(const Error& /*why*/, std::chrono::milliseconds /*retry_in*/) override {}

  void answer_all() {
    for (const auto& done : later_) done({});
  }

 private:
  void touch(const container::Request& request) {
    for (const std::string_view variable : request.env) bytes_ += variable.size();
    for (const auto& [key, value] : request.annotations) bytes_ += key.size() + value.size();
  }

  std::size_t bytes_ = 0;
  std::vector<std::function<void(const CreateAnswer&)>> later_;
};

void readable_by_go(const wire::FramedMessage& message) {
  require(message.body.size() <= wire::kTtrpcMaxDataBytes);
  const bool single = message.head_size == 18;
  require(single ? 10 + message.body.size() <= 4096 : message.head_size == 26);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  const std::string_view trunk(reinterpret_cast<const char*>(data) + 1, size - 1);
  boost::asio::io_context loop;
  const SessionOptions options;
  SessionStats stats;
  FuzzHandler handler;
  const auto conversation =
      std::make_shared<Conversation>(SessionParts{loop, options, handler, stats}, readable_by_go);
  conversation->begin(std::nullopt);
  for (std::size_t at = 0; at < trunk.size(); at += piece) {
    if (!conversation->receive(trunk.substr(at, piece))) break;
    loop.poll();
  }
  handler.answer_all();
  conversation->close();
  loop.poll();
  return 0;
}
