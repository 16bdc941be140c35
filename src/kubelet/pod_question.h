// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kubelet/pod_resources.h"
#include "podresources.grpc.pb.h"

namespace railhead::kubelet {

/// One try to have a question answered: what gRPC needs until it is done.
struct Try {
  grpc::ClientContext context;
  grpc::Status status;

  virtual ~Try() = default;

  /// Size of the answer, as it came.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// A question to the kubelet on its way. As the tag of a completion queue it says that its alarm
/// rang, or that its try is done. Belongs to the thread of the queue.
class Question {
 public:
  using Stub = v1::PodResourcesLister::Stub;
  using Work = std::function<void()>;

  explicit Question(std::chrono::steady_clock::time_point end)
      : deadline(end) {}

  virtual ~Question() = default;

  /// Starts the next try, which must end at `until`.
  virtual void begin(Stub& stub, grpc::CompletionQueue& queue, gpr_timespec until,
                     bool has_get) = 0;

  /// The last try used Get, in place of List.
  [[nodiscard]] virtual bool uses_get() const { return false; }

  /// Asked until its time is over, whoever breaks off or has gone meanwhile.
  [[nodiscard]] virtual bool is_patient() const { return false; }

  /// What is to be done on the asker's thread; of the last try, which went well.
  virtual Work answered() = 0;
  virtual Work failed(Error error) = 0;

  const std::chrono::steady_clock::time_point deadline;
  std::optional<grpc::Alarm> alarm;  ///< none at first: one would start gRPC
  std::unique_ptr<Try> attempt;      ///< under way, or done and not looked at yet
  std::optional<Error> limit;        ///< the kubelet's words, where it limited a try
  bool is_for_list = false;          ///< Get said nothing
  std::uint64_t connection = 0;      ///< that the try uses
};

std::unique_ptr<Question> pod_question(std::chrono::steady_clock::time_point deadline,
                                       const std::string& pod_namespace, const std::string& name,
                                       PodResources::Done<container::PodHoldings> done);
std::unique_ptr<Question> all_question(
    std::chrono::steady_clock::time_point deadline,
    PodResources::Done<std::vector<container::PodHoldings>> done);
std::unique_ptr<Question> allocatable_question(
    std::chrono::steady_clock::time_point deadline,
    PodResources::Done<std::vector<container::Holding>> done);

}  // namespace railhead::kubelet
