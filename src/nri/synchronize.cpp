// SPDX-License-Identifier: Apache-2.0
#include "nri/synchronize.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/memory.h"
#include "nri/api.h"
#include "nri/request_view.h"
#include "nri/session.h"
#include "wire/protobuf_wire.h"

namespace railhead::nri {
namespace {

using wire::bytes_key;
using wire::varint_key;

// Above this much it is worth a call to give memory back.
constexpr std::size_t kTrimAboveBytes = std::size_t{256} << 10U;

}  // namespace

Result<Synchronize::Chunk> Synchronize::parse(std::string_view payload) {
  using Request = api::SynchronizeRequest;
  Chunk chunk;
  wire::FieldReader fields(payload);
  for (wire::Field field; fields.next(field);) {
    nri::clear(request_);
    switch (field.key) {
      case bytes_key(Request::kPodsFieldNumber): {
        TRY_STATUS(read_pod(field.bytes, request_));
        const auto id = TRY(read_pod_id(field.bytes));
        chunk.pods.emplace_back(id, field.bytes);
        break;
      }
      case bytes_key(Request::kContainersFieldNumber):
        TRY_STATUS(read_container(field.bytes, request_));
        chunk.containers.push_back(field.bytes);
        break;
      case varint_key(Request::kMoreFieldNumber): chunk.more = field.value != 0; break;
      default: break;
    }
  }
  if (fields.malformed()) return Error{ErrorCode::malformed, "nri: malformed synchronize request"};
  return chunk;
}

Result<bool> Synchronize::add(wire::Bytes& body, std::string_view payload) {
  if (bytes_ + body.size() > kSynchronizeMaxBytes) {
    return Error{ErrorCode::too_large, "nri: the runtime's state exceeds " +
                                           std::to_string(kSynchronizeMaxBytes) + " bytes"};
  }
  const Chunk chunk = TRY(parse(payload));
  bytes_ += body.size();
  bodies_.push_back(std::move(body));
  body = wire::Bytes();
  all_.pods.insert(all_.pods.end(), chunk.pods.begin(), chunk.pods.end());
  all_.containers.insert(all_.containers.end(), chunk.containers.begin(), chunk.containers.end());
  return chunk.more;
}

std::string_view Synchronize::Chunk::pod_with_id(std::string_view id) const {
  const auto found = std::partition_point(pods.begin(), pods.end(),
                                          [id](const auto& pod) { return pod.first < id; });
  return found != pods.end() && found->first == id ? found->second : std::string_view();
}

void Synchronize::deliver(Handler& handler) {
  const std::size_t pods = all_.pods.size();
  const std::size_t containers = all_.containers.size();
  const bool large = bytes_ > kTrimAboveBytes;
  delivering_ = true;
  deliver_containers(handler);
  if (large) give_back_free_memory();
  if (delivering_) handler.synchronized(pods, containers);
  delivering_ = false;
}

void Synchronize::deliver_containers(Handler& handler) {
  // Taken out, so that clear() from within a call is harmless.
  const std::vector<wire::Bytes> bodies = std::exchange(bodies_, {});
  Chunk all = std::exchange(all_, {});
  ContainerRequest request = std::exchange(request_, {});
  bytes_ = 0;
  std::sort(all.pods.begin(), all.pods.end());
  for (const std::string_view container : all.containers) {
    if (!delivering_) return;
    nri::clear(request);
    const auto pod_id = read_container_pod_id(container);
    const bool readable =
        pod_id && read_pod(all.pod_with_id(*pod_id), request) && read_container(container, request);
    if (readable) handler.existing(request);
  }
}

void Synchronize::clear() {
  delivering_ = false;
  all_ = {};
  bodies_ = {};
  bytes_ = 0;
  request_ = {};
}

}  // namespace railhead::nri
