// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_kube.h"

#include <chrono>
#include <ostream>

#include "cluster/checks.h"
#include "host/clock.h"
#include "report/text_width.h"

namespace railhead::cli {
namespace {

/// --kubeconfig, else KUBECONFIG, else ~/.kube/config where it is there, else the pod's service
/// account.
Result<kube::Access> cluster_access(const Invocation& invocation, const std::string& kubeconfig) {
  kube::AccessSource source{kubeconfig, invocation.environment};
  const auto variable = [&](const char* name) {
    const auto at = invocation.environment.find(name);
    return at == invocation.environment.end() ? std::string() : at->second;
  };
  const auto home = variable("HOME");
  const bool is_named = !kubeconfig.empty() || !variable("KUBECONFIG").empty();
  const auto usual = home + "/.kube/config";
  if (!is_named && !home.empty() && host::input_file_exists(usual)) source.kubeconfig = usual;
  auto access = kube::read_access(source, host::read_file_at_once);
  const bool is_nowhere = !is_named && source.kubeconfig.empty() && !access &&
                          access.error().code == ErrorCode::unavailable &&
                          variable("KUBERNETES_SERVICE_HOST").empty();
  if (!is_nowhere) return access;
  return Error{ErrorCode::unavailable,
               "no API server is known: --kubeconfig and KUBECONFIG name no file, " +
                   (home.empty() ? "~/.kube/config" : usual) +
                   " is not there, and this is no pod (KUBERNETES_SERVICE_HOST is not set)"};
}

/// A server that takes longer is slow: whoever waits wants to see for what.
constexpr std::chrono::seconds kPatience(2);

Result<const cluster::ClusterCheck*> cluster_check_named(const std::string& id) {
  const auto* check = cluster::find_check(id);
  if (check != nullptr) return check;
  return shell::no_such("check of a cluster", id, cluster_check_ids(), "--kube --list names all");
}

}  // namespace

std::vector<std::string> cluster_check_ids() {
  std::vector<std::string> ids;
  for (const auto* check : cluster::all_checks()) ids.emplace_back(check->row.id);
  return ids;
}

void add_kube_options(CLI::App& app, KubeTarget& target) {
  app.add_flag("--kube", target.wanted,
               "look at the cluster in place of the node: nodes, operators, pods, manifests, logs");
  app.add_option("--kubeconfig", target.kubeconfig,
                 "how to reach the API server [KUBECONFIG, ~/.kube/config, or the pod's service "
                 "account]")
      ->type_name("FILE");
}

Result<int> run_kube_doctor(const Invocation& invocation, const KubeTarget& target,
                            const DoctorQuestion& question) {
  if (question.list) return invocation.print(cluster::list_of_checks(), kExitOk);
  if (!question.explain.empty()) {
    const auto* check = TRY(cluster_check_named(question.explain));
    return invocation.print(checks::explanation_of(check->row), kExitOk);
  }
  auto wanted = cluster::all_checks();
  if (!question.checks.empty()) {
    wanted.clear();
    for (const auto& id : question.checks) wanted.push_back(TRY(cluster_check_named(id)));
  }
  const auto access = TRY(cluster_access(invocation, target.kubeconfig));
  host::SystemClock clock;
  const auto start = clock.now();
  const cluster::Ask ask = [&](const kube::Request& request, kube::AnswerLimits limits) {
    if (clock.now() - start > kPatience) {
      invocation.err << "asking for "
                     << report::printable(request.target.substr(0, request.target.find('?')))
                     << std::endl;
    }
    return kube::ask(access, request, limits);
  };
  checks::Diagnosis diagnosis;
  diagnosis.limit = question.limit;
  cluster::ReadLimits limits;
  limits.time = diagnosis.limit;
  const auto read = cluster::read_cluster(access.host + ":" + access.port, ask, limits, clock);
  diagnosis.node = read.server;
  diagnosis.findings = cluster::run_checks(read, wanted);
  diagnosis.left_out = read.left_out;
  diagnosis.took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - start);
  return print_diagnosis(invocation, question, diagnosis);
}

}  // namespace railhead::cli
