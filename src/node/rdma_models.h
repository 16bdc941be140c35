// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"

namespace railhead::node {

/// Whether a function of a model has an RDMA device where its drivers are loaded.
enum class RdmaPromise : std::uint8_t {
  made_for_it,    ///< always: it is of no use without
  can,            ///< an Ethernet NIC that has it as sold
  may,            ///< by its firmware, its licence or its operator
  without_verbs,  ///< it does RDMA by a character device of its own, which is none of libibverbs
};

/// PCI functions of one kind, by device ids.
struct RdmaModel {
  std::uint16_t vendor;
  std::uint16_t first;
  std::uint16_t last;
  std::string_view driver;  ///< of the function
  std::string_view module;  ///< that makes its RDMA device; the same where the driver does
  RdmaPromise promise;
  unsigned gbps = 0;  ///< of the fastest port of the usual cards; 0: not known
};

std::span<const RdmaModel> rdma_models();

/// nullptr: no NIC that is known for RDMA.
const RdmaModel* rdma_model_of(const PciDevice& function);
const RdmaModel* rdma_model_of(std::uint16_t vendor, std::uint16_t device);

/// The module that makes RDMA devices for functions of a driver; "" where none is known to.
std::string_view rdma_module_of(std::string_view driver);

/// The Ethernet functions that can or may do RDMA, or do it without verbs, and have no RDMA device:
/// no virtual ones, and none that has another driver than its own. None of them is among the NICs
/// of a node.
std::vector<const PciDevice*> rdma_candidates(const Node& node);

/// "made-for-it", "can", "may", "without-verbs"
std::string_view to_string(RdmaPromise promise);

/// "0000:41:00.0 can do RDMA (bnxt_en; its module is bnxt_re)", of a function whose model is known.
std::string promise_text(const PciDevice& function);

}  // namespace railhead::node
