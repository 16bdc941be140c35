// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "usage/usage.h"

namespace railhead::proof {

/// Whose an RDMA object is.
struct Owner {
  enum class Kind : std::uint8_t {
    container,
    host,     ///< a process that is in no container
    kernel,   ///< NFS over RDMA, IP over InfiniBand…
    unknown,  ///< its thread ended, or is not for us to see, and nothing of the same context helps
  };
  Kind kind = Kind::unknown;
  std::string container;  ///< id

  friend bool operator==(const Owner&, const Owner&) = default;
};

/// Finds the owners of one device's objects. An object belongs to the process of the thread that
/// made it. Threads end before their process does (libraries make queue pairs in helper threads),
/// and then the kernel names none: all objects of one protection domain, and all domains of one
/// open context, are of one owner, so another object of the same tells. A thread that is younger
/// than the dump has the number of one that ended.
class Owners {
 public:
  Owners(const usage::RdmaDeviceUse& device, const usage::Usage& usage);

  [[nodiscard]] Owner of(const usage::ObjectOwner& made_by,
                         std::optional<std::uint32_t> domain) const;
  [[nodiscard]] Owner of_context(const usage::UserContext& context) const;

 private:
  [[nodiscard]] std::optional<Owner> living(const usage::ObjectOwner& made_by) const;
  void learn(const usage::ObjectOwner& made_by, std::optional<std::uint32_t> domain);

  const usage::Usage& usage_;
  std::map<std::uint32_t, std::uint32_t> context_of_domain_;
  std::map<std::uint32_t, Owner> of_domain_;
  std::map<std::uint32_t, Owner> of_context_;
};

}  // namespace railhead::proof
