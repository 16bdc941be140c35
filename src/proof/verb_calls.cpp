// SPDX-License-Identifier: Apache-2.0
//
// Which function asks a device for what.
#include <array>

#include "base/text.h"
#include "proof/verb_errors.h"

namespace railhead::proof {
namespace {

/// Beginnings of functions; the first row that fits counts.
struct CallVerb {
  std::string_view name;
  Verb verb;
};

/// rdma-core libibverbs/verbs.h, providers/mlx5/mlx5dv.h, librdmacm/rdma_cma.h; ofiwg/libfabric
/// include/rdma/fi_domain.h.
constexpr std::array kCalls = {CallVerb{"ibv_reg_", Verb::register_memory},
                               CallVerb{"mlx5dv_reg_", Verb::register_memory},
                               CallVerb{"mlx5dv_devx_umem_reg", Verb::register_memory},
                               CallVerb{"mlx5dv_create_mkey", Verb::register_memory},
                               CallVerb{"fi_mr_reg", Verb::register_memory},
                               CallVerb{"ibv_open_device", Verb::open_device},
                               CallVerb{"mlx5dv_open_device", Verb::open_device},
                               CallVerb{"ibv_alloc_pd", Verb::protection_domain},
                               CallVerb{"ibv_alloc_parent_domain", Verb::protection_domain},
                               CallVerb{"ibv_alloc_td", Verb::protection_domain},
                               CallVerb{"ibv_create_ah", Verb::address_handle},
                               CallVerb{"ibv_create_", Verb::create_queue},
                               CallVerb{"mlx5dv_create_", Verb::create_queue},
                               CallVerb{"mlx5dv_devx_create_", Verb::create_queue},
                               CallVerb{"mlx5dv_devx_obj_create", Verb::create_queue},
                               CallVerb{"ibv_modify_qp", Verb::modify_queue},
                               CallVerb{"mlx5dv_devx_obj_modify", Verb::modify_queue},
                               CallVerb{"mlx5dv_devx_qp_modify", Verb::modify_queue},
                               CallVerb{"ibv_query_gid", Verb::query_gid},
                               CallVerb{"ibv_query_device", Verb::query_device},
                               CallVerb{"ibv_query_port", Verb::query_device},
                               CallVerb{"mlx5dv_query_device", Verb::query_device},
                               CallVerb{"mlx5dv_devx_alloc_uar", Verb::map_registers},
                               CallVerb{"mlx5dv_devx_uar", Verb::map_registers},
                               CallVerb{"rdma_create_event_channel", Verb::connection_manager},
                               CallVerb{"rdma_create_id", Verb::connection_manager},
                               CallVerb{"rdma_bind_addr", Verb::connection_manager},
                               CallVerb{"rdma_listen", Verb::connection_manager},
                               CallVerb{"rdma_resolve_addr", Verb::connection_manager},
                               CallVerb{"rdma_resolve_route", Verb::connection_manager},
                               CallVerb{"rdma_connect", Verb::connection_manager},
                               CallVerb{"rdma_accept", Verb::connection_manager},
                               CallVerb{"rdma_establish", Verb::connection_manager}};

}  // namespace

Verb verb_of_call(std::string_view line) {
  auto verb = Verb::none;
  auto first = line.size();
  for (const auto& call : kCalls) {
    const auto at = line.find(call.name);
    const bool begins =
        at != std::string_view::npos && (at == 0 || !is_letter_or_digit(line[at - 1]));
    if (!begins || at >= first) continue;
    first = at;
    verb = call.verb;
  }
  return verb;
}

}  // namespace railhead::proof
