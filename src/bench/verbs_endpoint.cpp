// SPDX-License-Identifier: Apache-2.0
#include "bench/verbs_endpoint.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "bench/contents.h"
#include "bench/evidence.h"
#include "bench/others.h"
#include "bench/place.h"
#include "bench/run.h"

namespace railhead::bench {
namespace {

bool has_peer_client(host::Host& host) {
  for (const char* path :
       {"/sys/module/nvidia_peermem/version", "/sys/module/nvidia_peermem/refcnt",
        "/sys/module/nv_peer_mem/version", "/sys/kernel/mm/memory_peers/nv_mem/version"}) {
    const auto text = host.read(path);
    if (text && *text) return true;
  }
  return false;
}

}  // namespace

VerbsEndpoint::~VerbsEndpoint() {
  stop();
  for (auto& lane : lanes_) {
    if (lane->thread.joinable()) lane->thread.join();
  }
  lanes_.clear();
}

Result<std::vector<std::string>> VerbsEndpoint::choose(
    const std::vector<std::string>& wanted) const {
  const auto allowed = options_.nics.empty() ? active_nics(node_) : options_.nics;
  if (wanted.empty()) {
    if (allowed.size() < plan_.lanes) {
      return Error{ErrorCode::unavailable,
                   std::to_string(plan_.lanes) + " NICs are asked for, and " +
                       (allowed.empty() ? "none" : join(allowed, ", ")) + " can be used"};
    }
    return std::vector(allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(plan_.lanes));
  }
  for (const auto& nic : wanted) {
    const auto name = nic.substr(0, nic.find(':'));
    const bool fine =
        options_.nics.empty() || std::ranges::any_of(allowed, [&](const std::string& one) {
          return one == nic || one == name;
        });
    if (!fine) {
      return Error{ErrorCode::unavailable,
                   nic + " may not be used here, only " + join(allowed, ", ")};
    }
  }
  return wanted;
}

Status VerbsEndpoint::check_unused(const Place& place) {
  if (options_.force) return {};
  const auto others = queue_pairs_of_others(host_, place.nic);
  if (!others || !*others) {
    remarks_.push_back(place.nic + ": not known whether other processes use it" +
                       (others ? "" : ": " + others.error().message));
    return {};
  }
  if ((*others)->none()) return {};
  in_use_ = true;
  return Error{ErrorCode::unavailable, place.nic + " is in use: " + to_string(**others) +
                                           " (--force measures all the same)"};
}

Outcome VerbsEndpoint::make_lanes(const Plan& plan, const std::vector<std::string>& wanted) {
  plan_ = plan;
  const auto opened = open_lanes(wanted);
  if (opened) return {};
  return in_use_ ? Outcome{State::in_use, opened.error().message} : device_outcome(opened.error());
}

Status VerbsEndpoint::open_lanes(const std::vector<std::string>& wanted) {
  node_ = node::read_node(host_);
  done_ = host::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!done_) return Error{ErrorCode::internal, std::string("eventfd: ") + std::strerror(errno)};
  if (plan_.memory != Memory::host) {
    cuda_ = TRY(Cuda::load("libcuda.so.1", options_.gpu));
    TRY_STATUS(check_route(plan_.memory, cuda_->facts(), has_peer_client(host_)));
  }
  const auto names = TRY(choose(wanted));
  std::vector<Place> places;
  for (const auto& name : names) {
    auto place = TRY(find_place(node_, name, options_.gid_index));
    TRY_STATUS(check_unused(place));
    places.push_back(std::move(place));
  }
  for (const auto& place : places) TRY_STATUS(open_lane(place));
  return {};
}

Status VerbsEndpoint::open_lane(const Place& place) {
  auto lane = std::make_unique<Lane>();
  lane->place = place;
  lane->before = read_counters(host_, place);
  const auto length = Layout::of(plan_).length_bytes();
  Register how = [](const std::string& nic, ibv_pd* domain, Buffer& buffer) {
    return register_memory(nic, domain, buffer.address(), buffer.length());
  };
  if (plan_.memory == Memory::host) {
    lane->buffer = TRY(allocate_host(length, place.cpus));
  } else {
    lane->buffer = TRY(cuda_->allocate(length));
  }
  if (plan_.memory == Memory::gpu_dmabuf) {
    how = [this](const std::string& nic, ibv_pd* domain, Buffer& buffer) -> Result<Owned<ibv_mr>> {
      const auto descriptor = TRY(cuda_->export_dmabuf(buffer));
      return register_dmabuf(nic, domain, descriptor.get(), 0, buffer.address(), buffer.length());
    };
  }
  lane->verbs = TRY(VerbsLane::open(place, plan_, *lane->buffer, how));
  lanes_.push_back(std::move(lane));
  return {};
}

std::vector<LaneAddress> VerbsEndpoint::addresses() const {
  std::vector<LaneAddress> addresses;
  for (const auto& lane : lanes_) addresses.push_back(lane->verbs->address());
  return addresses;
}

Status VerbsEndpoint::connect(const std::vector<LaneAddress>& remote) {
  if (remote.size() != lanes_.size()) {
    return Error{ErrorCode::malformed, "the other side has " + std::to_string(remote.size()) +
                                           " lanes, not " + std::to_string(lanes_.size())};
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    TRY_STATUS(lanes_[i]->verbs->connect(remote[i]));
    lanes_[i]->place = lanes_[i]->verbs->place();
  }
  return {};
}

Status VerbsEndpoint::prepare(const Step& step, Part part) {
  stop_.store(false);
  moved_bytes_.store(0);
  const auto layout = Layout::of(plan_);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    auto& lane = *lanes_[i];
    TRY_STATUS(fill_contents(*lane.buffer, layout, step, i, part));
    lane.received_before.clear();
    for (unsigned pair = 0; pair < plan_.queue_pairs; ++pair) {
      lane.received_before.push_back(lane.verbs->received(pair));
    }
    if (step.operation == Operation::send) TRY_STATUS(lane.verbs->fill_receives(1));
  }
  return {};
}

void VerbsEndpoint::run_lane(Lane& lane, const Step& step, Part part) {
  lane.pinned = pin_thread(lane.place.cpus);
  const Run run{*lane.verbs, step, clock_, stop_, moved_bytes_, lanes_.size()};
  lane.result = part == Part::initiator ? initiate(run) : respond(run);
  // One that failed takes the others with it.
  if (!lane.result) stop();
  if (running_.fetch_sub(1) == 1) {
    const std::uint64_t one = 1;
    (void)!::write(done_.get(), &one, sizeof one);
  }
}

void VerbsEndpoint::start(const Step& step, Part part) {
  running_.store(static_cast<unsigned>(lanes_.size()));
  for (auto& lane : lanes_) {
    lane->thread = std::thread([this, &lane = *lane, step, part] { run_lane(lane, step, part); });
  }
}

Result<std::vector<LaneResult>> VerbsEndpoint::finish() {
  for (auto& lane : lanes_) {
    if (lane->thread.joinable()) lane->thread.join();
  }
  std::uint64_t count = 0;
  (void)!::read(done_.get(), &count, sizeof count);
  std::vector<LaneResult> results;
  // The first that failed by itself, rather than those that it stopped.
  const Error* error = nullptr;
  for (const auto& lane : lanes_) {
    if (lane->result) {
      results.push_back(*lane->result);
    } else if (error == nullptr || error->message == "stopped") {
      error = &lane->result.error();
    }
  }
  if (error != nullptr) return *error;
  return results;
}

Status VerbsEndpoint::validate(const Step& step, Part part) {
  const auto layout = Layout::of(plan_);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    auto& lane = *lanes_[i];
    std::vector<unsigned> first(plan_.queue_pairs, 0);
    for (unsigned pair = 0; step.operation == Operation::send && pair < first.size(); ++pair) {
      // A message that was not received is in no slot; whichever is looked at says so.
      const auto last = std::max<std::uint64_t>(lane.verbs->received(pair), 1) - 1;
      first[pair] =
          static_cast<unsigned>((step.ring ? lane.received_before.at(pair) : last) % layout.slots);
    }
    const auto status = check_contents(*lane.buffer, layout, step, i, part, first);
    if (!status) return status.error().context(lane.place.nic);
  }
  return {};
}

data::Json VerbsEndpoint::lane_evidence(Lane& lane) {
  data::Json json = place_json(lane.place);
  json["pinned"] = lane.pinned;
  json["pathMtu"] = lane.verbs->path_mtu_bytes();
  json["queuePairs"] =
      data::json_list(lane.verbs->address().pairs, [](const auto& pair) { return pair.number; });
  const auto after = read_counters(host_, lane.place);
  json["counters"] = changes(lane.before, after);
  const auto bytes = port_bytes(lane.before, after);
  json["portBytes"] = bytes ? data::Json{{"sent", bytes->sent}, {"received", bytes->received}}
                            : data::Json(nullptr);
  return json;
}

data::Json VerbsEndpoint::evidence() {
  data::Json json = {{"host", node_.name}, {"memory", to_string(plan_.memory)}};
  if (cuda_) json["gpu"] = gpu_json(cuda_->facts());
  json["lanes"] = data::json_list(lanes_, [&](const auto& lane) { return lane_evidence(*lane); });
  json["remarks"] = remarks_;
  return json;
}

}  // namespace railhead::bench
