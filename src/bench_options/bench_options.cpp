// SPDX-License-Identifier: Apache-2.0
#include "bench_options/bench_options.h"

namespace railhead::bench_options {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 wrong data, a failed transfer or less than --require, 2 cannot tell, "
    "64 usage.\n";

void add_measuring_options(CLI::App& app, shell::Console& console, Options& options) {
  app.add_option("--op", options.operations, "the operation, several with commas [write]")
      ->type_name("write|read|send|all");
  app.add_option("--measure", options.measures, "what is measured, several with commas [bandwidth]")
      ->type_name("bandwidth|latency|all");
  app.add_option("--size", options.sizes,
                 "bytes of a message (64KiB, 1MiB), several with commas, or all: 2 bytes to 8 MiB "
                 "[bandwidth 64KiB, latency 2]")
      ->type_name("SIZE");
  app.add_option("--duration", options.duration,
                 "measure each size so long (500ms, 10s, 5m; 1h at most)")
      ->type_name("TIME");
  app.add_option("--iterations", options.iterations,
                 "messages of each queue pair, instead of a duration [latency 1000, bandwidth "
                 "512 MiB's worth, 100 to 5000]")
      ->type_name("NUMBER");
  app.add_option("--warm-up", options.warm_up, "messages before, that do not count [50]")
      ->type_name("NUMBER");
  app.add_option("--qps", options.queue_pairs, "queue pairs between two NICs [1]")
      ->type_name("NUMBER");
  app.add_option("--depth", options.depth, "requests in flight on each queue pair [128]")
      ->type_name("NUMBER");
  app.add_option("--memory", options.memory,
                 "where the bytes are, several with commas; gpu: both routes, one after the other "
                 "[host]")
      ->type_name("host|gpu:dmabuf|gpu:peermem|gpu|all");
  app.add_option("--mtu", options.mtu, "largest path MTU to use [what both ports have]")
      ->check(shell::number_between(256, 4096))
      ->type_name("BYTES");
  app.add_option("--rate-cap", options.rate_cap,
                 "at most so many bits a second (10G), of all NICs together; of a latency both "
                 "directions count")
      ->type_name("RATE");
  app.add_option("--require", options.require,
                 "exit code 1 when messages of 64 KiB or more reach less than this share of what "
                 "the links can carry (0.9), 2 when that cannot be told")
      ->check([](const std::string& text) {
        // A word such as nan or inf is no share; and NaN is in every range of CLI11's.
        const bool is_plain = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
        double share = -1;
        return is_plain && CLI::detail::lexical_cast(text, share) && share >= 0 && share <= 1
                   ? std::string()
                   : text + " is no number from 0 to 1";
      })
      ->type_name("SHARE");
  app.add_option("--proof", options.proof_file,
                 "write the JSON document to this file as well; nothing is measured where it "
                 "cannot be written")
      ->type_name("FILE");
  app.add_flag("--progress", options.progress, "say what moves even if stderr is no terminal");
  shell::add_output_option(app, console);
}

void add_nic_options(CLI::App& app, Options& options) {
  app.add_option("--gid-index", options.gid_index,
                 "the GID that is used [the best RoCE v2 GID of the port; InfiniBand: 0 where a "
                 "port requires a global header]")
      ->type_name("NUMBER");
  app.add_option("--gpu", options.gpu, "whose memory, by CUDA's index [0]")->type_name("NUMBER");
  app.add_flag("--force", options.force, "use NICs on which others have queue pairs, too");
}

void add_key_option(CLI::App& app, Options& options) {
  app.add_option("--key-file", options.key_file,
                 "file with the key that both sides share [variable RAILHEAD_BENCH_KEY]")
      ->type_name("FILE");
}

void add_nics_option(CLI::App& app, const std::string& name, std::vector<std::string>& nics,
                     const std::string& help) {
  app.add_option(name, nics, help)->delimiter(',')->type_name("NIC");
}

void add_nics_argument(CLI::App& app, const std::string& name, std::vector<std::string>& nics,
                       const std::string& help) {
  const auto split = [&nics](const std::string& text) { nics = CLI::detail::split(text, ','); };
  app.add_option_function<std::string>(name, split, help)->required();
}

void add_pair_command(CLI::App& bench, shell::Console& console, Options& options,
                      const std::function<Result<int>()>& answer) {
  auto* app = bench.add_subcommand("pair", "Measure between NICs of this machine");
  add_nics_argument(*app, "FROM", options.nics, "NIC or NIC:PORT, several with commas");
  add_nics_argument(*app, "TO", options.other_nics, "as many");
  add_measuring_options(*app, console, options);
  add_nic_options(*app, options);
  app->footer(std::string(kExitCodes) +
              "Examples: railhead bench pair mlx5_0 mlx5_1\n"
              "          railhead bench pair mlx5_0 mlx5_1 --op all --size all");
  console.answer(*app, answer);
}

void add_client_command(CLI::App& bench, shell::Console& console, Options& options,
                        const std::function<Result<int>()>& answer) {
  auto* app = bench.add_subcommand("client", "Measure from this machine to a server");
  app->add_option("SERVER", options.address, "HOST:PORT of the server")->required();
  add_nics_option(*app, "--nics", options.nics,
                  "NICs of this side, several with commas [the active one]");
  add_nics_option(*app, "--server-nics", options.other_nics, "as many there [the server's choice]");
  add_key_option(*app, options);
  add_measuring_options(*app, console, options);
  add_nic_options(*app, options);
  app->footer(std::string(kExitCodes) +
              "Examples: RAILHEAD_BENCH_KEY=… railhead bench client 10.0.0.1:7174\n"
              "          railhead bench client 10.0.0.1:7174 --duration 10s --qps 4");
  console.answer(*app, answer);
}

void add_server_command(CLI::App& bench, shell::Console& console, Options& options,
                        const std::function<Result<int>()>& answer) {
  auto* app = bench.add_subcommand("server", "Serve a client that holds the key");
  app->add_option("--bind-address", options.address, "where to listen; port 0 picks one")
      ->type_name("HOST:PORT")
      ->required();
  add_nics_option(*app, "--nics", options.nics, "those that clients may use [all active]");
  app->add_option("--clients", options.clients, "ends after so many; 0: serves on [1]")
      ->type_name("NUMBER");
  app->add_option("--idle-limit", options.idle_limit, "ends when no client came so long [10m]")
      ->type_name("TIME");
  add_key_option(*app, options);
  add_nic_options(*app, options);
  app->footer(
      "Exit codes: 0 ok, 1 a client's transfer failed, 2 cannot tell, 64 usage.\n"
      "Examples: railhead bench server --bind-address 10.0.0.1:7174\n"
      "          railhead bench server --bind-address 10.0.0.1:7174 --clients 0");
  console.answer(*app, answer);
}

}  // namespace

void add_commands(CLI::App& bench, shell::Console& console, Options& options,
                  const Commands& commands) {
  bench.require_subcommand(1);
  bench.footer(
      "Exit codes: 0 ok, 1 a problem was found, 2 cannot tell, 64 usage.\n"
      "Example: railhead bench pair mlx5_0 mlx5_1");
  add_pair_command(bench, console, options, commands.pair);
  add_client_command(bench, console, options, commands.client);
  add_server_command(bench, console, options, commands.server);
}

}  // namespace railhead::bench_options
