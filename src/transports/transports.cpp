// SPDX-License-Identifier: Apache-2.0
#include "transports/transports.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "transports/nic_list.h"
#include "transports/ucx_transports.h"

namespace railhead::transports {
namespace {

constexpr std::size_t kShown = 8;  ///< names in one text
constexpr std::size_t kValueBytes = 64;

/// What becomes of a library without RDMA.
std::string outcome_of(Library library) {
  constexpr std::array<std::string_view, 3> kOutcomes = {"NCCL takes TCP", "UCX goes without RDMA",
                                                         "NVSHMEM goes without RDMA"};
  return std::string(kOutcomes[static_cast<std::size_t>(library)]);
}

/// As strtoll() with base 0, which takes 0x and leading zeros as C does and passes over what
/// follows the number; absent where it is empty or does not fit.
/// Source: NCCL 2.30.7 src/misc/param.cc (ncclLoadParam).
std::optional<long long> number_of(std::string_view value) {
  if (value.empty()) return std::nullopt;
  errno = 0;
  const long long number = std::strtoll(std::string(value.substr(0, 64)).c_str(), nullptr, 0);
  if (errno != 0) return std::nullopt;
  return number;
}

/// Source: NVSHMEM 3.4.5 src/include/bootstrap_host_transport/env_defs_internal.h
/// (nvshmemi_getenv_bool). An empty value is true there.
bool is_true(std::optional<std::string_view> value) {
  constexpr std::string_view kFalse = "0NnFf";
  return value && (value->empty() || kFalse.find(value->front()) == std::string_view::npos);
}

std::string shown(const std::vector<std::string>& names) {
  if (names.size() <= kShown) return join(names, ", ");
  return join({names.begin(), names.begin() + kShown}, ", ") + ", …";
}

/// A port that the container can use.
struct PortOf {
  const KnownNic* nic = nullptr;
  const KnownPort* port = nullptr;
};

std::vector<std::string> labels(const std::vector<PortOf>& ports) {
  std::vector<std::string> out;
  for (const PortOf& one : ports)
    out.push_back(std::string(one.nic->name) + ":" + std::to_string(one.port->number));
  return out;
}

class Reader {
 public:
  Reader(const Values& values, const std::vector<KnownNic>* nics)
      : values_(values),
        nics_(nics) {}

  Reading run() {
    read_nccl();
    read_ucx();
    read_nvshmem();
    return std::move(reading_);
  }

 private:
  LibraryUse& use(Library library) { return reading_.libraries[static_cast<std::size_t>(library)]; }

  void add(Library library, Variable variable, const std::string& what, bool nothing_left) {
    std::string text(name_of(variable));
    text += '=';
    append_in_quotes(text, values_.text(variable), kValueBytes);
    reading_.contradictions.push_back(
        {library, name_of(variable), text + " " + what, nothing_left});
  }

  void add_off(Library library, Variable variable, const std::string& what) {
    auto& off_by = use(library).off_by;
    if (off_by.empty()) off_by = name_of(variable);
    add(library, variable, what + ", and " + outcome_of(library) + ": leave it out", true);
  }

  [[nodiscard]] std::vector<PortOf> usable_ports(bool efa_too) const {
    std::vector<PortOf> out;
    if (nics_ == nullptr) return out;
    for (const KnownNic& nic : *nics_) {
      if (!nic.given) continue;
      for (const KnownPort& port : nic.ports) {
        if (port.usable && (efa_too || port.link != LinkKind::efa)) out.push_back({&nic, &port});
      }
    }
    return out;
  }

  [[nodiscard]] bool has_only_efa() const {
    const auto all = usable_ports(true);
    return !all.empty() && usable_ports(false).empty();
  }

  // NCCL takes the first network that starts: plugins, its own over RDMA ("IB"), sockets
  // ("Socket"). NCCL_NET names the only one that may be taken, in upper or lower case.
  // Source: NCCL 2.30.7 src/plugin/net.cc (initPluginLibsOnceFunc, ncclNetInit), src/init.cc.
  void read_nccl() {
    const std::string net = to_lower(values_.text(Variable::nccl_net));
    const std::string plugin = to_lower(values_.text(Variable::nccl_net_plugin));
    const bool no_plugin = plugin == "none";
    if (net == "socket") {
      add_off(Library::nccl, Variable::nccl_net, "leaves RDMA out");
    } else if (net != "ib" && (!net.empty() || (!plugin.empty() && !no_plugin))) {
      use(Library::nccl).known = false;
      return;
    }
    if (has_only_efa()) {
      // Only a plugin knows EFA, and what it makes of NCCL_IB_… is its own affair.
      if (no_plugin) {
        add_off(Library::nccl, Variable::nccl_net_plugin, "leaves out the plugin that EFA needs");
      }
      use(Library::nccl).known = false;
      return;
    }
    if (number_of(values_.text(Variable::nccl_ib_disable)).value_or(0) != 0) {
      add_off(Library::nccl, Variable::nccl_ib_disable, "turns RDMA off");
    }
    const auto ports =
        read_list(Library::nccl, Variable::nccl_ib_hca,
                  nccl_list(values_.text(Variable::nccl_ib_hca)), usable_ports(false));
    // NCCL_IB_GID_INDEX counts on Ethernet ports alone, and a number below 0 is none.
    // Source: NCCL 2.30.7 src/transport/net_ib/connect.cc (ncclIbGetGidIndex).
    finish(Library::nccl, read_gid_index(Library::nccl, Variable::nccl_ib_gid_index, ports));
  }

  void read_ucx() {
    const auto words = values_.find(Variable::ucx_tls);
    if (words && !has_rdma_transport(*words)) {
      add_off(Library::ucx, Variable::ucx_tls, "has no transport over RDMA (ib, rc, dc, ud)");
    }
    const auto value = values_.text(Variable::ucx_net_devices);
    const auto newest = ucx_list(value, UcxRelease::since_1_22);
    const auto ports = usable_ports(true);
    if (!agree_about(value, ports)) {
      use(Library::ucx).known = false;
      use(Library::ucx).chosen = !newest.excludes;
      // Notes what is wanted; what is not given depends on the release, too.
      if (!newest.excludes) {
        static_cast<void>(not_given(Library::ucx, Variable::ucx_net_devices, newest));
      }
      return;
    }
    finish(Library::ucx, read_list(Library::ucx, Variable::ucx_net_devices, newest, ports));
  }

  /// Whether all releases of UCX take the same of these ports; where not, that is noted.
  bool agree_about(std::string_view value, const std::vector<PortOf>& ports) {
    std::vector<std::string> texts;
    std::set<std::vector<std::string>> answers;
    for (const auto release : kUcxReleases) {
      const auto list = ucx_list(value, release);
      std::vector<PortOf> taken;
      std::ranges::copy_if(ports, std::back_inserter(taken), [&](const PortOf& one) {
        return list.takes(one.nic->name, one.port->number);
      });
      answers.insert(labels(taken));
      static constexpr std::array kNames = {"before UCX 1.21 ", "in 1.21 ", "since 1.22 "};
      texts.push_back(kNames[static_cast<std::size_t>(release)] +
                      (taken.empty() ? "none" : shown(labels(taken))));
    }
    if (answers.size() < 2) return true;
    reading_.by_release = std::string(name_of(Variable::ucx_net_devices)) + "=";
    append_in_quotes(reading_.by_release, value, kValueBytes);
    reading_.by_release += " means, of the ports that the container has, " + join(texts, ", ");
    return false;
  }

  // The lists are read by ibrc (the default), ibdevx and ibgda; ucx and libfabric have ways of
  // their own. Source: NVSHMEM 3.4.5 src/host/transport/transport.cpp (nvshmemi_transport_init),
  // src/modules/transport/{ibrc,ibdevx,ibgda}.
  void read_nvshmem() {
    const std::string remote = to_lower(values_.text(Variable::nvshmem_remote_transport));
    if (!is_true(values_.find(Variable::nvshmem_ib_enable_ibgda))) {
      if (remote == "none") {
        add_off(Library::nvshmem, Variable::nvshmem_remote_transport, "turns RDMA off");
      } else if (!remote.empty() && remote != "ibrc" && remote != "ibdevx") {
        use(Library::nvshmem).known = false;
        return;
      }
    }
    // Where both are there, NVSHMEM_HCA_LIST counts, unless it names nothing.
    auto variable = Variable::nvshmem_hca_list;
    NicList list = nvshmem_list(values_.text(variable));
    if (list.entries.empty()) {
      variable = Variable::nvshmem_hca_pe_mapping;
      list = nvshmem_mapping(values_.text(variable));
    }
    const auto ports = read_list(Library::nvshmem, variable, list, usable_ports(false));
    finish(Library::nvshmem,
           read_gid_index(Library::nvshmem, Variable::nvshmem_ib_gid_index, ports));
  }

  /// Which of these ports the list leaves; what it names and the container lacks.
  std::vector<PortOf> read_list(Library library, Variable variable, const NicList& list,
                                const std::vector<PortOf>& ports) {
    if (list.takes_nothing()) {
      add(library, variable, "leaves out every NIC, and " + outcome_of(library) + ": leave it out",
          true);
      return {};
    }
    if (list.takes_all || ports.empty()) return ports;
    std::vector<PortOf> taken;
    std::ranges::copy_if(ports, std::back_inserter(taken), [&](const PortOf& one) {
      return list.takes(one.nic->name, one.port->number);
    });
    const auto missing =
        list.excludes ? std::vector<std::string>() : not_given(library, variable, list);
    if (taken.empty()) {
      add(library, variable,
          (list.excludes ? "leaves out every usable port of the container's NICs ("
                         : "names no usable port of the container's NICs (") +
              shown(labels(ports)) + "), and " + outcome_of(library) +
              ": leave it out, or name one of these",
          true);
    } else if (!missing.empty()) {
      add(library, variable, "names " + shown(missing) + ", which the container is not given",
          false);
    }
    use(library).chosen = !list.excludes && !taken.empty();
    return taken;
  }

  /// The entries that name no NIC which is given. A word of UCX may be a netdev for TCP, and is not
  /// among them unless it has a port or is a NIC of the machine.
  std::vector<std::string> not_given(Library library, Variable variable, const NicList& list) {
    std::vector<std::string> out;
    for (const NicListEntry& entry : list.entries) {
      const auto is_named = [&](const KnownNic& nic) { return entry.names(nic.name); };
      const auto is_given = [&](const KnownNic& nic) { return nic.given && is_named(nic); };
      if (std::ranges::any_of(*nics_, is_given)) continue;
      const bool exists = want(entry, variable);
      if (library == Library::ucx && !exists && entry.text.find(':') == std::string_view::npos) {
        continue;
      }
      out.push_back(escaped(entry.text));
    }
    return out;
  }

  /// Notes which NICs an entry means: the one of that name, else those whose names begin so. False
  /// where there is none.
  bool want(const NicListEntry& entry, Variable variable) {
    std::vector<std::size_t> meant;
    for (std::size_t i = 0; i < nics_->size(); ++i) {
      const auto name = (*nics_)[i].name;
      if (name == entry.name) meant.clear();
      if (entry.names(name)) meant.push_back(i);
      if (name == entry.name) break;
    }
    auto& wanted = reading_.wanted;
    for (const std::size_t nic : meant) {
      const auto is_same = [&](const Wanted& one) { return one.nic == nic; };
      if (std::ranges::any_of(wanted, is_same)) continue;
      wanted.push_back({nic, name_of(variable)});
    }
    return !meant.empty();
  }

  static std::string escaped(std::string_view text) {
    const std::string quoted = in_quotes(text, 40);
    return quoted.substr(1, quoted.size() - 2);
  }

  /// Which of these ports have the GID.
  std::vector<PortOf> read_gid_index(Library library, Variable variable,
                                     const std::vector<PortOf>& ports) {
    const auto index = number_of(values_.text(variable));
    if (!index || *index < 0) return ports;
    std::vector<PortOf> having;
    std::vector<PortOf> lacking;
    for (const PortOf& one : ports) {
      (lacks_gid(*one.port, *index) ? lacking : having).push_back(one);
    }
    if (!lacking.empty()) {
      add(library, variable,
          "is a GID that " + shown(labels(lacking)) +
              (lacking.size() == 1 ? " does not have" : " do not have") +
              ", and no connection comes about there: leave it out",
          having.empty());
    }
    return having;
  }

  static bool lacks_gid(const KnownPort& port, long long index) {
    constexpr long long kHighest = 255;  // ibv_global_route.sgid_index has 8 bits
    if (port.link != LinkKind::ethernet) return false;
    if (index > kHighest) return true;
    return port.gids &&
           std::ranges::find(*port.gids, static_cast<unsigned>(index)) == port.gids->end();
  }

  void finish(Library library, const std::vector<PortOf>& ports) {
    if (use(library).off_by.empty()) use(library).ports = labels(ports);
    if (use(library).ports.empty()) use(library).chosen = false;
  }

  const Values& values_;
  const std::vector<KnownNic>* nics_;
  Reading reading_;
};

}  // namespace

const Contradiction* Reading::obstacle() const {
  const auto has_chosen = [](const LibraryUse& one) { return one.chosen; };
  if (std::ranges::any_of(libraries, has_chosen)) return nullptr;
  return find_where(contradictions, &Contradiction::nothing_left);
}

std::string Reading::off_rdma() const {
  std::vector<std::string> texts;
  for (const Contradiction& one : contradictions) {
    if (one.nothing_left) texts.push_back(one.text);
  }
  return join(texts, "; ");
}

Reading read_environment(const std::vector<std::string_view>& environment,
                         const std::vector<KnownNic>* nics) {
  const Values values(environment);
  if (values.empty()) return {};
  return Reader(values, nics).run();
}

}  // namespace railhead::transports
