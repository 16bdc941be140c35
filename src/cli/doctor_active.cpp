// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_active.h"

#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "host/program.h"

namespace railhead::cli {
namespace {

constexpr double kCapGbps = 10;
constexpr std::chrono::seconds kLimit(30);  ///< of one NIC: connecting, a second, comparing

checks::Loopback measure(const std::string& nic, const Result<std::string>& program) {
  const std::vector<std::string> arguments = {
      "pair",  nic,          nic,  "--op",       "write", "--measure", "bandwidth", "--size",
      "64KiB", "--duration", "1s", "--rate-cap", "10G",   "-o",        "json"};
  checks::Loopback one{nic, "railhead-bench " + join(arguments, " ")};
  one.cap_gbps = kCapGbps;
  if (!program) {
    one.why = program.error().message;
    return one;
  }
  const auto answer = host::run_program(*program, arguments, kLimit);
  if (answer) {
    checks::read_bench(answer->output, one);
  } else {
    one.why = answer.error().message;
  }
  return one;
}

}  // namespace

std::vector<checks::Loopback> run_loopbacks(const checks::Machine& machine,
                                            const host::Environment& environment,
                                            std::ostream& progress) {
  const auto program = host::find_program("railhead-bench", environment);
  std::vector<checks::Loopback> all;
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    const bool up = std::ranges::any_of(
        nic.ports, [](const node::Port& port) { return port.state == node::PortState::active; });
    if (!nic.registered || nic.elsewhere || !up) continue;
    progress << "measuring " << nic.name << std::endl;
    all.push_back(measure(nic.name, program));
  }
  return all;
}

}  // namespace railhead::cli
