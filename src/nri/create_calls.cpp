// SPDX-License-Identifier: Apache-2.0
#include "nri/create_calls.h"

#include <algorithm>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "nri/messages.h"
#include "nri/request_view.h"
#include "wire/ttrpc_envelope.h"

namespace railhead::nri {
namespace {

constexpr std::size_t kKeptCalls = 4;
// Far above what any runtime has in flight (one, today): a bound, not a tuning.
constexpr std::size_t kMaxCalls = 256;
constexpr std::size_t kKeptBodyBytes = std::size_t{64} << 10U;

std::string encode_answer(const CreateAnswer& answer) {
  if (answer.refusal) {
    return wire::encode_status(wire::StatusCode::failed_precondition, *answer.refusal);
  }
  std::string body;
  if (answer.adjustment) body = wire::encode_response(encode_create_response(*answer.adjustment));
  if (body.size() <= wire::kTtrpcMaxDataBytes) return body;
  return wire::encode_status(wire::StatusCode::resource_exhausted,
                             "railhead: the adjustment is larger than a message may be");
}

}  // namespace

std::chrono::milliseconds own_deadline(std::chrono::milliseconds request_timeout,
                                       std::int64_t timeout_nano, double share) {
  std::chrono::nanoseconds granted = request_timeout;
  if (timeout_nano > 0) granted = std::min(granted, std::chrono::nanoseconds(timeout_nano));
  const std::chrono::duration<double, std::nano> own = granted * share;
  return std::chrono::duration_cast<std::chrono::milliseconds>(own);
}

struct CreateCalls::Call {
  explicit Call(boost::asio::io_context& loop)
      : deadline(loop) {}

  container::Request request;  // views into body
  wire::Bytes body;
  std::uint32_t stream = 0;
  bool answered = false;
  bool timed = false;
  std::chrono::steady_clock::time_point came{};
  boost::asio::steady_timer deadline;
};

CreateCalls::CreateCalls(SessionParts session, Reply reply)
    : session_(session),
      reply_(std::move(reply)) {}

std::shared_ptr<CreateCalls::Call> CreateCalls::idle_call() {
  // Held by nobody else: neither its `done` nor its timer exists any more.
  const auto idle = [](const std::shared_ptr<Call>& call) { return call.use_count() == 1; };
  if (calls_.size() > kKeptCalls) std::erase_if(calls_, idle);
  const auto found = std::find_if(calls_.begin(), calls_.end(), idle);
  if (found != calls_.end()) return *found;
  if (calls_.size() >= kMaxCalls) return nullptr;
  return calls_.emplace_back(std::make_shared<Call>(session_.loop));
}

Status CreateCalls::start(std::uint32_t stream, wire::Bytes& body, std::string_view payload,
                          std::chrono::milliseconds deadline) {
  const auto call = idle_call();
  if (!call) return Error{ErrorCode::too_large, "nri: too many container requests in flight"};
  shrink(*call);  // where its answer came later
  TRY_STATUS(read_create_request(payload, call->request));
  std::swap(call->body, body);
  call->stream = stream;
  call->answered = false;
  call->timed = false;
  if (session_.options.now) call->came = session_.options.now();
  ++session_.stats.requests;
  session_.handler.create(call->request,
                          [self = weak_from_this(), call](const CreateAnswer& answer) {
                            const auto owner = self.lock();
                            if (owner) owner->finish(*call, answer);
                          });
  if (!call->answered && !closed_) wait_for_answer(call, deadline);
  constexpr long kOwners = 2;  // calls_ and this function: nobody looks at the request any more
  if (call.use_count() == kOwners) shrink(*call);
  return {};
}

/// A large request must not stay resident until the next one comes.
void CreateCalls::shrink(Call& call) {
  if (call.body.capacity() <= kKeptBodyBytes) return;
  call.body = wire::Bytes();
  call.request = container::Request();
}

void CreateCalls::wait_for_answer(const std::shared_ptr<Call>& call,
                                  std::chrono::milliseconds deadline) {
  call->timed = true;
  call->deadline.expires_after(deadline);
  call->deadline.async_wait([self = weak_from_this(), call](boost::system::error_code error) {
    const auto owner = self.lock();
    if (error || !owner || owner->closed_ || call->answered) return;
    ++owner->session_.stats.deadlines_missed;
    owner->finish(*call, owner->session_.handler.on_deadline(call->request));
  });
}

void CreateCalls::finish(Call& call, const CreateAnswer& answer) {
  if (closed_ || call.answered) return;
  call.answered = true;
  if (call.timed) call.deadline.cancel();
  reply_(call.stream, encode_answer(answer));
  const auto& now = session_.options.now;
  if (now) session_.handler.answered(now() - call.came);
}

void CreateCalls::close() {
  closed_ = true;
  for (const auto& call : calls_) call->deadline.cancel();
  calls_.clear();
}

}  // namespace railhead::nri
