// SPDX-License-Identifier: Apache-2.0
#include "nri/synchronize.h"

#include <utility>

#include "host/memory.h"
#include "nri/api.h"
#include "nri/records.h"
#include "nri/request_view.h"
#include "nri/session.h"
#include "wire/protobuf_wire.h"

namespace railhead::nri {
namespace {

constexpr std::uint32_t kPods = wire::bytes_key(api::SynchronizeRequest::kPodsFieldNumber);
constexpr std::uint32_t kContainers =
    wire::bytes_key(api::SynchronizeRequest::kContainersFieldNumber);
constexpr std::uint32_t kMore = wire::varint_key(api::SynchronizeRequest::kMoreFieldNumber);

// Above this much it is worth a call to give memory back.
constexpr std::size_t kTrimAboveBytes = std::size_t{256} << 10U;
// A larger buffer is not kept for the next pod or container.
constexpr std::size_t kKeptItemBytes = std::size_t{64} << 10U;
// What a record costs besides its bytes: two strings, a node of the map, the allocator.
constexpr std::size_t kRecordOverheadBytes = 160;

std::size_t cost(std::string_view pod_id, std::string_view record) {
  return kRecordOverheadBytes + pod_id.size() + record.size();
}

}  // namespace

Synchronize::Synchronize(Handler& handler)
    : handler_(handler) {}

void Synchronize::take(std::string_view piece) {
  bytes_ += piece.size();
  for (wire::FieldPart part; !failure_ && !stopped_ && fields_.next(piece, part);) {
    if (auto taken = take_part(part); !taken) failure_ = std::move(taken).error();
  }
  if (stopped_) reset();
}

Status Synchronize::take_part(const wire::FieldPart& part) {
  if (part.key == kMore) more_ = part.value != 0;
  if (part.key != kPods && part.key != kContainers) return {};
  if (part.whole()) return take_item(part.key, part.bytes);
  item_.append(part.bytes);
  if (part.left > 0) return {};
  auto taken = take_item(part.key, item_);
  item_.clear();
  if (item_.capacity() > kKeptItemBytes) item_ = std::string();
  return taken;
}

Status Synchronize::take_item(std::uint32_t key, std::string_view message) {
  nri::clear(request_);
  return key == kPods ? take_pod(message) : take_container(message);
}

Status Synchronize::take_pod(std::string_view message) {
  TRY_STATUS(read_pod(message, request_));
  const auto id = TRY(read_pod_id(message));
  ++counts_.pods;
  // No container names a pod without an id.
  if (id.empty() || pods_.contains(id)) return {};
  drop_unread_annotations(request_.pod_annotations);
  if (!keep(pods_, id, pod_record(request_))) {
    lacks_pods_ = true;
    return {};
  }
  const auto [from, to] = waiting_.equal_range(id);
  hand_on_waiting(from, to);
  return {};
}

Status Synchronize::take_container(std::string_view message) {
  TRY_STATUS(read_container(message, request_));
  const auto pod_id = TRY(read_container_pod_id(message));
  ++counts_.containers;
  const auto pod = pods_.find(pod_id);
  if (pod == pods_.end() && !pod_id.empty()) {
    drop_unread_annotations(request_.annotations);
    if (!keep(waiting_, pod_id, container_record(request_))) ++counts_.passed_over;
    return {};
  }
  if (pod != pods_.end()) TRY_STATUS(read_pod(pod->second, request_));
  call_existing();
  return {};
}

bool Synchronize::keep(Records& records, std::string_view pod_id, std::string record) {
  const auto bytes = cost(pod_id, record);
  if (bytes > kSynchronizeMaxKeptBytes - kept_bytes_) return false;
  kept_bytes_ += bytes;
  record.shrink_to_fit();
  records.emplace(pod_id, std::move(record));
  return true;
}

void Synchronize::drop_unread_annotations(container::KeyValues& annotations) {
  std::erase_if(annotations,
                [this](const auto& entry) { return !handler_.reads_annotation(entry.first); });
}

void Synchronize::hand_on_waiting(Records::iterator from, Records::iterator to) {
  while (from != to && !stopped_) {
    const auto& [pod_id, container] = *from;
    const auto pod = pods_.find(pod_id);
    nri::clear(request_);
    if (pod == pods_.end() && lacks_pods_) {
      ++counts_.passed_over;
    } else if ((pod == pods_.end() || read_pod(pod->second, request_)) &&
               read_container(container, request_)) {
      call_existing();
    }
    kept_bytes_ -= cost(pod_id, container);
    from = waiting_.erase(from);
  }
}

void Synchronize::call_existing() {
  calling_ = true;
  handler_.existing(request_);
  calling_ = false;
}

Result<bool> Synchronize::end_chunk() {
  if (!failure_ && !fields_.at_border()) {
    failure_ = Error{ErrorCode::malformed, "nri: malformed synchronize request"};
  }
  if (failure_) {
    Error why = *std::move(failure_);
    reset();
    return why;
  }
  fields_ = {};
  return std::exchange(more_, false);
}

void Synchronize::finish() {
  hand_on_waiting(waiting_.begin(), waiting_.end());
  const auto counts = counts_;
  const bool large = bytes_ > kTrimAboveBytes;
  reset();
  if (large) {
    host::give_back_free_memory();
    host::give_back_code_pages();
  }
  if (!stopped_) handler_.synchronized(counts);
}

void Synchronize::clear() {
  stopped_ = calling_;
  if (!calling_) reset();
}

void Synchronize::reset() {
  fields_ = {};
  failure_.reset();
  more_ = false;
  item_ = std::string();
  request_ = {};
  pods_.clear();
  waiting_.clear();
  counts_ = {};
  lacks_pods_ = false;
  bytes_ = kept_bytes_ = 0;
}

}  // namespace railhead::nri
