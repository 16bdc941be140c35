// SPDX-License-Identifier: Apache-2.0
#include "system/container_root.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "gpu/vendors.h"

namespace railhead::system {
namespace {

constexpr std::size_t kMaxNodes = 4096;
constexpr std::size_t kMaxFolders = 64;
constexpr std::size_t kMaxGids = 1024;
constexpr std::size_t kMaxFiles = 256;  ///< of ld.so.conf.d
constexpr std::size_t kMaxLibraries = 1024;

/// Where the loader of glibc looks by itself: ld.so(8), and the multiarch folders that
/// Debian's loader has built in.
constexpr std::array<std::string_view, 10> kLoaderFolders = {
    "/lib",           "/usr/lib",        "/lib/x86_64-linux-gnu",  "/usr/lib/x86_64-linux-gnu",
    "/lib64",         "/usr/lib64",      "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib", "/usr/local/lib64"};
constexpr std::array<std::string_view, 8> kLibraries = {
    "libibverbs.so.1", "librdmacm.so.1", "libmlx5.so.1", "libnccl.so.2",
    "libnccl-net.so",  "libuct_ib.so.0", "libucp.so.0",  "libgdrapi.so.2"};
constexpr std::size_t kMaxUcx = 16;

class RootReader {
 public:
  RootReader(host::Host& root, const node::Node& node, Container& into)
      : root_(root),
        node_(node),
        into_(into) {}

  void read() {
    read_nodes("/dev/infiniband", into_.rdma_nodes, [](const std::string&) { return true; });
    read_gpus();
    read_gdrdrv();
    read_libraries();
    read_suffix();
    read_ucx();
    for (const auto& nic : node_.nics) {
      if (has_node_of(nic)) read_gids_of(nic);
    }
  }

 private:
  Fact<std::vector<std::string>> list(const std::string& path) {
    auto fact = fact_of(into_.root + path, root_.list(path));
    if (!fact.value && fact.error.empty()) fact.value.emplace();  // not there: nothing in it
    return fact;
  }

  template <typename Wanted>
  void read_nodes(const std::string& folder, Fact<std::vector<ContainerNode>>& into,
                  const Wanted& wanted) {
    const auto names = list(folder);
    if (into.path.empty()) into.path = names.path;
    if (!names.value) into.error = names.error;
    if (!names.value || !into.error.empty()) return;
    if (!into.value) into.value.emplace();
    for (const auto& name : *names.value) {
      const auto path = (folder + "/").append(name);
      if (!wanted(path) || into.value->size() == kMaxNodes) continue;
      const auto node = root_.device(path);
      if (node && *node) into.value->push_back({path, **node});
    }
  }

  void read_gpus() {
    const auto is_gpu = [](const std::string& path) { return gpu::gpu_node(path).has_value(); };
    read_nodes("/dev", into_.gpu_nodes, is_gpu);
    read_nodes("/dev/dri", into_.gpu_nodes, is_gpu);
  }

  [[nodiscard]] bool has_node_of(const node::Nic& nic) const {
    const auto& nodes = into_.rdma_nodes.value;
    return nodes && std::ranges::any_of(*nodes, [&](const ContainerNode& one) {
             return std::ranges::any_of(nic.uverbs, [&](const auto& device) {
               return device.major == one.node.major && device.minor == one.node.minor;
             });
           });
  }

  void read_gids_of(const node::Nic& nic) {
    const auto ports = "/sys/class/infiniband/" + nic.name + "/ports";
    for (const auto& port : list(ports).value.value_or(std::vector<std::string>())) {
      into_.gids[nic.name + "/" + port] = gids_in((ports + "/").append(port));
    }
  }

  Fact<std::vector<node::Gid>> gids_in(const std::string& port) {
    const auto names = list(port + "/gids");
    Fact<std::vector<node::Gid>> fact{names.path, {}, names.error};
    if (!names.value) return fact;
    fact.value.emplace();
    for (std::size_t i = 0; i < std::min(names.value->size(), kMaxGids); ++i) {
      const auto& name = (*names.value)[i];
      const auto index = parse_unsigned(name);
      const auto text = root_.read((port + "/gids/").append(name));
      if (!index || !text || !*text) continue;
      const std::string value(trim(**text));
      if (value.find_first_not_of("0:") == std::string::npos) continue;
      const auto type = root_.read((port + "/gid_attrs/types/").append(name));
      node::Gid gid{static_cast<unsigned>(*index), value, {}, {}};
      if (type && *type) gid.type = std::string(trim(**type));
      fact.value->push_back(std::move(gid));
    }
    return fact;
  }

  void add_folder(std::string_view folder, std::vector<std::string>& folders) {
    const bool usable = folder.starts_with('/') && folders.size() < kMaxFolders;
    if (usable && !contains(folders, folder)) folders.emplace_back(folder);
  }

  /// LD_LIBRARY_PATH, then what ld.so.conf names, then what is built in.
  std::vector<std::string> loader_folders() {
    std::vector<std::string> folders;
    constexpr std::string_view kVariable = "LD_LIBRARY_PATH=";
    for (const auto& entry : into_.environment.value.value_or(std::vector<std::string>())) {
      if (!entry.starts_with(kVariable)) continue;
      for (const auto folder : split(std::string_view(entry).substr(kVariable.size()), ':')) {
        add_folder(folder, folders);
      }
    }
    add_folders_of("/etc/ld.so.conf", folders);
    const auto more = list("/etc/ld.so.conf.d");
    std::size_t files = 0;
    for (const auto& name : more.value.value_or(std::vector<std::string>())) {
      if (!name.ends_with(".conf") || ++files > kMaxFiles) continue;
      add_folders_of("/etc/ld.so.conf.d/" + name, folders);
    }
    for (const auto folder : kLoaderFolders) add_folder(folder, folders);
    return folders;
  }

  void add_folders_of(const std::string& file, std::vector<std::string>& folders) {
    const auto text = root_.read(file);
    if (!text || !*text) return;
    for (const auto line : split(**text, '\n')) add_folder(trim(line), folders);
  }

  void read_libraries() {
    into_.libraries.path = into_.root;
    auto& found = into_.libraries.value.emplace();
    const auto folders = loader_folders();
    if (folders.size() == kMaxFolders) found.unreadable.emplace_back("more than 64 folders");
    for (const auto& folder : folders) {
      const auto names = fact_of(folder, root_.list(folder));
      if (!names.error.empty()) found.unreadable.push_back(folder + ": " + names.error);
      if (!names.value) continue;
      found.searched.push_back(folder);
      for (const auto library : kLibraries) {
        if (contains(*names.value, library))
          found.found.push_back(folder + "/" + std::string(library));
      }
      if (!contains(*names.value, "libibverbs")) continue;
      for (const auto& plugin :
           list(folder + "/libibverbs").value.value_or(std::vector<std::string>())) {
        if (plugin.find("-rdmav") != std::string::npos && found.found.size() < kMaxLibraries)
          found.found.push_back(folder + "/libibverbs/" + plugin);
      }
    }
  }

  void read_gdrdrv() {
    auto fact = fact_of("/dev/gdrdrv", root_.device("/dev/gdrdrv"));
    into_.gdrdrv = {into_.root + fact.path, fact.value, fact.error};
  }

  /// The paths of libraries that begin so: what a process has mapped first.
  [[nodiscard]] std::vector<std::string> named(std::string_view beginning) const {
    std::vector<std::string> paths;
    const auto add = [&](const std::vector<std::string>& from) {
      for (const auto& path : from) {
        const bool fits = host::base_name(path).starts_with(beginning);
        if (fits && !contains(paths, path)) paths.push_back(path);
      }
    };
    if (into_.mapped.value) add(*into_.mapped.value);
    if (into_.libraries.value) add(into_.libraries.value->found);
    return paths;
  }

  void read_suffix() {
    for (const auto& path : named("libibverbs.so")) {
      const auto bytes = fact_of(path, root_.read(path));
      into_.provider_suffix = {into_.root + path, {}, bytes.error};
      if (bytes.value) into_.provider_suffix.value = provider_suffix_in(*bytes.value);
      if (into_.provider_suffix.value) return;
    }
  }

  void read_ucx() {
    std::string folder;
    constexpr std::string_view kVariable = "UCX_MODULE_DIR=";
    for (const auto& entry : into_.environment.value.value_or(std::vector<std::string>())) {
      if (entry.starts_with(kVariable)) folder = entry.substr(kVariable.size());
    }
    for (const auto& path : named("libucp")) {
      if (into_.ucx.size() == kMaxUcx) return;
      UcxLibrary one{path, into_.mapped.value && contains(*into_.mapped.value, path),
                     folder.empty() ? path.substr(0, path.rfind('/')) + "/ucx" : folder};
      const auto names = list(one.modules);
      one.unreadable = names.error;
      const auto& there = names.value.value_or(std::vector<std::string>());
      one.has_verbs = std::ranges::any_of(there, [](const std::string& name) {
        return name.starts_with("libuct_ib.so") || name.starts_with("libuct_ib-");
      });
      into_.ucx.push_back(std::move(one));
    }
  }

  host::Host& root_;
  const node::Node& node_;
  Container& into_;
};

}  // namespace

void read_container_root(const Result<std::unique_ptr<host::Host>>& root, const node::Node& node,
                         Container& into) {
  if (root) {
    RootReader(**root, node, into).read();
    return;
  }
  const auto why = std::string(host::errno_name(host::errno_of(root.error())));
  into.rdma_nodes = {into.root, {}, why};
  into.gpu_nodes = {into.root, {}, why};
  into.libraries = {into.root, {}, why};
  into.gdrdrv = {into.root, {}, why};
}

}  // namespace railhead::system
