// SPDX-License-Identifier: Apache-2.0
#include "bench/command_line.h"
#include "base/version.h"

#include <functional>
#include <ostream>

#include "bench/options.h"
#include "bench/outcome.h"

namespace railhead::bench {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a problem was found, 2 cannot tell, 64 usage.\n"
    "Examples: railhead bench pair mlx5_0 mlx5_1 --op all --size all\n"
    "          railhead bench server --bind-address 10.0.0.1:7174\n"
    "          railhead bench client 10.0.0.1:7174 --nics mlx5_0 --duration 10s";

}  // namespace

int run_bench(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  CLI::App program("RDMA bandwidth and latency, with the data checked", "railhead bench");
  program.set_version_flag("--version", "railhead-bench " + std::string(version()));
  program.footer(kFooter);
  program.require_subcommand(1);
  Options options;
  std::function<int(const Options&, const Surroundings&)> run;

  auto* pair = program.add_subcommand("pair", "Between NICs of this machine");
  std::string from;
  std::string to;
  pair->add_option("from", from, "NIC or NIC:PORT, several with commas")->required();
  pair->add_option("to", to, "as many")->required();
  add_measuring_options(*pair, options);
  add_nic_options(*pair, options);
  pair->callback([&] {
    options.nics = CLI::detail::split(from, ',');
    options.other_nics = CLI::detail::split(to, ',');
    run = run_pair_command;
  });

  auto* client = program.add_subcommand("client", "From this machine to a server");
  client->add_option("server", options.address, "HOST:PORT of the server")->required();
  client->add_option("--nics", options.nics, "this side's, several with commas [the active one]")
      ->delimiter(',');
  client->add_option("--server-nics", options.other_nics, "as many there [the server's choice]")
      ->delimiter(',');
  add_key_option(*client, options);
  add_measuring_options(*client, options);
  add_nic_options(*client, options);
  client->callback([&] { run = run_client_command; });

  auto* server = program.add_subcommand("server", "Serves a client that holds the key");
  server->add_option("--bind-address", options.address, "HOST:PORT to listen on, port 0 picks one")
      ->required();
  server->add_option("--nics", options.nics, "those that clients may use [all active]")
      ->delimiter(',');
  server->add_option("--clients", options.clients, "ends after so many; 0: serves on")
      ->capture_default_str();
  server->add_option("--idle-limit", options.idle_limit, "ends when no client came so long")
      ->capture_default_str();
  add_key_option(*server, options);
  add_nic_options(*server, options);
  server->callback([&] { run = run_server_command; });

  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    if (!reversed.empty()) reversed.pop_back();  // the program's own name
    program.parse(std::move(reversed));
  } catch (const CLI::ParseError& problem) {
    return program.exit(problem, surroundings.out, surroundings.err) == 0 ? 0
                                                                          : exit_code(State::usage);
  }
  return run(options, surroundings);
}

}  // namespace railhead::bench
