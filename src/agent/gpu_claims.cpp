// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <utility>

#include "host/input_file.h"

namespace railhead {

GpuClaims::GpuClaims(std::string socket, Mailbox& mailbox, Clock& clock)
    : socket_(std::move(socket)),
      answers_(clock),
      client_({"", socket_}, mailbox) {}

void GpuClaims::ask(const ContainerRequest& request, std::shared_ptr<const DecisionTable> table,
                    std::chrono::milliseconds timeout, std::function<void(KubeletWord)> done) {
  if (const auto* known = answers_.find(request.pod_uid, request.name)) {
    return done(word_on(request.name, *known, *table));
  }
  if (!input_file_exists(socket_)) return done(KubeletWord{});
  client_.holdings_of(
      std::string(request.pod_namespace), std::string(request.pod_name), timeout,
      [this, uid = std::string(request.pod_uid), name = std::string(request.name),
       table = std::move(table), done = std::move(done)](const Result<PodHoldings>& holdings) {
        if (holdings) answers_.keep(uid, name, *holdings);
        done(word_on(name, holdings, *table));
      });
}

void GpuClaims::ask_all(std::chrono::milliseconds timeout,
                        std::function<void(Result<std::vector<PodHoldings>>)> done) {
  if (!input_file_exists(socket_)) {
    return done(Error{ErrorCode::unavailable, socket_ + ": no such socket"});
  }
  client_.all_holdings(timeout, std::move(done));
}

}  // namespace railhead
