// SPDX-License-Identifier: Apache-2.0
#include "cli/setup_turn.h"

#include <chrono>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "host/clock.h"
#include "host/local_socket.h"
#include "kube/client.h"
#include "kubelet/pod_resources.h"
#include "options/options.h"
#include "pools/resource_name.h"
#include "report/text_width.h"
#include "setup/lease_turn.h"
#include "setup/machine.h"
#include "system/system.h"

namespace railhead::cli {
namespace {

/// The limit of one question; a kubelet that does not answer is asked again.
constexpr std::chrono::milliseconds kUntilKubeletAnswers{10'000};
constexpr std::size_t kMaxLeases = 100;

/// Limits of a Lease, which has no more than its holder and the annotations of others.
constexpr kube::AnswerLimits kLeaseLimits{std::chrono::seconds(10), std::size_t{1} << 20};

Result<kube::LeaseName> parse_lease_name(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos || !pools::is_dns_label(text.substr(0, slash)) ||
      !pools::is_dns_subdomain(text.substr(slash + 1))) {
    return Error{ErrorCode::usage, "--lease " + in_quotes(text) + ": expected NAMESPACE/NAME"};
  }
  return kube::LeaseName{text.substr(0, slash), text.substr(slash + 1)};
}

/// That the runtime which the kubelet uses accepts connections, and the kubelet answers.
Status node_answers(const std::string& root, const std::string& kubelet) {
  const auto machine = TRY(setup::Machine::open(root));
  const auto system = system::read_system(*machine.host, node::Node{},
                                          system::Part::services | system::Part::runtime);
  const auto& runtime = system.runtime;
  if (!runtime.unknown.empty()) return Error{ErrorCode::unavailable, runtime.unknown};
  if (!runtime.socket.empty() && !TRY(host::is_listened_on(root + runtime.socket)))
    return Error{ErrorCode::unavailable, runtime.socket + ": nobody listens"};
  TRY(kubelet::ask_for_all(kubelet, kUntilKubeletAnswers));
  return {};
}

}  // namespace

void add_turn_options(CLI::App& app, Invocation& invocation, TurnOptions& options) {
  auto* lease =
      app.add_option(
             "--lease", options.leases,
             "steps of class R2 wait until this node holds one of these Leases, and it is "
             "given back once runtime and kubelet answer; refused while pods hold GPUs here")
          ->type_name("NAMESPACE/NAME")
          ->delimiter(',');
  app.add_flag("--beside-gpu-pods", options.beside_gpu_pods,
               "do steps of class R2 also while pods hold GPUs on this node")
      ->needs(lease);
  add_settings(app, invocation,
               {"node.name", "kubernetes.kubeconfig", "kubelet.rootDir", "injection.gpuResources"});
}

Result<std::unique_ptr<setup::Turn>> make_turn(const Invocation& invocation,
                                               const config::Config& config,
                                               const TurnOptions& options) {
  if (options.leases.empty()) return std::unique_ptr<setup::Turn>();
  const auto& settings = config.settings();
  setup::LeaseTurn::Rules rules{
      {}, options::kubernetes_node_name(settings), options.beside_gpu_pods};
  if (rules.node.empty()) return Error{ErrorCode::usage, "--lease needs --node-name"};
  if (options.leases.size() > kMaxLeases)
    return Error{ErrorCode::usage, "--lease: more than " + std::to_string(kMaxLeases)};
  for (const auto& text : options.leases) rules.leases.push_back(TRY(parse_lease_name(text)));
  const kube::AccessSource source{settings.kubernetes.kubeconfig, invocation.environment};
  TRY(kube::read_access(source, host::read_file_at_once));
  const std::string root = settings.host.root == "/" ? "" : settings.host.root;
  const std::string kubelet = root + settings.kubelet.root_dir + "/pod-resources/kubelet.sock";
  setup::LeaseTurn::Outside outside;
  outside.ask = [source](const kube::Request& request) -> Result<kube::Answer> {
    return kube::ask(TRY(kube::read_access(source, host::read_file_at_once)), request,
                     kLeaseLimits);
  };
  outside.gpu_pods =
      [kubelet, patterns = settings.injection.gpu_resources]() -> Result<std::vector<std::string>> {
    return setup::pods_with_gpus(TRY(kubelet::ask_for_all(kubelet, kUntilKubeletAnswers)),
                                 patterns);
  };
  outside.node_answers = [root, kubelet] {
    return node_answers(root.empty() ? "/" : root, kubelet);
  };
  outside.say = [&invocation](const std::string& text) {
    if (invocation.output == "table")
      invocation.out << "waiting: " << report::printable(text) << std::endl;
  };
  static host::SystemClock clock;
  return std::unique_ptr<setup::Turn>(
      std::make_unique<setup::LeaseTurn>(std::move(rules), std::move(outside), clock));
}

}  // namespace railhead::cli
