// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <ostream>
#include <thread>

#include "base/text.h"
#include "bench/client_addresses.h"
#include "bench/crypto.h"
#include "bench/listener.h"
#include "bench/options.h"
#include "bench/place.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/session.h"
#include "host/input_file.h"
#include "report/text_width.h"

namespace railhead::bench {
namespace {

int complain(const Surroundings& at, const Outcome& outcome) {
  at.err << "railhead bench: " << to_string(outcome.state) << ": " << report::printable(outcome.why)
         << '\n';
  return exit_code(outcome.state);
}

int complain(const Surroundings& at, const Error& error) {
  return complain(at, device_outcome(error));
}

std::unique_ptr<Endpoint> make_endpoint(const EndpointOptions& options, const Surroundings& at) {
  return std::make_unique<VerbsEndpoint>(at.host, at.clock, options);
}

std::uint64_t random_seed() {
  const auto nonce = random_nonce();
  std::uint64_t seed = 0;
  if (nonce) std::copy_n(nonce->begin(), sizeof seed / 2, reinterpret_cast<std::uint8_t*>(&seed));
  return seed;
}

/// Every kind of memory over one connection, then the report.
int measure(const Options& options, const Console& console, const Surroundings& at,
            const Work& work, Channel& channel) {
  BenchResult result;
  result.started = at.clock.calendar();
  result.required_share = options.require;
  Progress progress(at.err, at.clock, options.progress || at.err_is_terminal);
  for (const auto& plan : work.plans) {
    const auto endpoint = make_endpoint(endpoint_options(options), at);
    auto session =
        run_client(channel, *endpoint, plan, options.nics, work.steps,
                   [&](const Step& step, std::uint64_t moved) { progress.show(step, moved); });
    progress.clear();
    result.runs.push_back({plan.memory, plan.queue_pairs, std::move(session)});
    const auto state = result.runs.back().result.outcome.state;
    // Another route to a GPU's memory may work where this one does not.
    if (state != State::ok && state != State::unsupported) break;
  }
  const auto report = make_report(result);
  console.print(report, 0);
  if (!options.proof_file.empty()) {
    const auto written =
        host::write_output_file(options.proof_file, data::to_json_text(report.json));
    if (!written) return complain(at, {State::not_written, written.error().message});
  }
  const auto whole = overall(result);
  return whole.ok() ? 0 : complain(at, whole);
}

/// Before hours of measuring, not after them.
Outcome check_proof(const Options& options) {
  if (options.proof_file.empty()) return {};
  const auto writable = host::check_output_file(options.proof_file);
  if (writable) return {};
  return {State::not_written, "--proof " + writable.error().message};
}

/// What to type on the other machine.
void print_client_line(const Surroundings& at, const std::string& listening,
                       const std::string& key) {
  const auto addresses = client_addresses(listening, own_addresses());
  at.err << "railhead bench: on the other machine: "
         << (key.empty() ? "" : "RAILHEAD_BENCH_KEY=" + key + " ") << "railhead bench client "
         << addresses.front() << (key.empty() ? ", with the same key" : "") << '\n';
  if (addresses.size() == 1) return;
  at.err << "railhead bench: this machine is also "
         << join(std::vector(addresses.begin() + 1, addresses.end()), ", ") << '\n';
}

/// Says what clients cannot use, before they come.
Status check_served_nics(const Options& options, const Surroundings& at) {
  const auto allowed = server_endpoint_options(options);
  std::vector<std::string> left_out;
  const auto nics =
      served_nics(node::read_node(at.host), allowed.nics, allowed.gid_index, left_out);
  if (!nics) return nics.error();
  for (const auto& why : left_out) {
    at.err << "railhead bench: clients cannot use " << why << '\n';
  }
  return {};
}

}  // namespace

int run_pair_command(const Options& options, const Console& console, const Surroundings& at) {
  if (options.nics.size() != options.other_nics.size()) {
    return complain(
        at, {State::usage, "FROM has " + counted(options.nics.size(), "NIC") + ", and TO has " +
                               std::to_string(options.other_nics.size())});
  }
  const auto work = make_work(options, options.nics.size(), random_seed());
  if (!work) return complain(at, {State::usage, work.error().message});
  if (const auto proof = check_proof(options); !proof.ok()) return complain(at, proof);
  const auto key = generate_key();
  if (!key) return complain(at, key.error());
  std::array<int, 2> sockets{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return complain(at, {State::no_memory, "socketpair failed"});
  }
  host::UniqueFd ours(sockets[0]);
  std::thread server([&at, &options, &key, socket = sockets[1]] {
    auto channel =
        Channel::open(host::UniqueFd(socket), Role::server, *key, at.clock, at.interrupt);
    if (!channel) return;
    serve(*channel, [&] { return make_endpoint(endpoint_options(options), at); });
  });
  auto code = 0;
  {
    auto channel = Channel::open(std::move(ours), Role::client, *key, at.clock, at.interrupt);
    code = channel ? measure(options, console, at, *work, *channel)
                   : complain(at, channel_outcome(channel.error()));
  }
  server.join();
  return code;
}

int run_client_command(const Options& options, const Console& console, const Surroundings& at) {
  const auto where = HostPort::parse(options.address);
  if (!where) return complain(at, where.error().context("SERVER"));
  const auto key = given_key(options, at.environment);
  if (!key) return complain(at, {State::usage, key.error().message});
  if (!*key) {
    return complain(at, {State::usage,
                         "no key: give the server's with --key-file or in "
                         "RAILHEAD_BENCH_KEY"});
  }
  const auto lanes = std::max<std::size_t>(options.nics.size(), 1);
  const auto work = make_work(options, lanes, random_seed());
  if (!work) return complain(at, {State::usage, work.error().message});
  if (const auto proof = check_proof(options); !proof.ok()) return complain(at, proof);
  auto socket = connect_to(*where, kHandshakeLimit);
  if (!socket) return complain(at, {State::peer_lost, socket.error().message});
  auto channel = Channel::open(*std::move(socket), Role::client, **key, at.clock, at.interrupt);
  if (!channel) {
    const auto outcome = channel_outcome(channel.error());
    return complain(at, {outcome.state, options.address + ": " + outcome.why});
  }
  return measure(options, console, at, *work, *channel);
}

int run_server_command(const Options& options, const Console& /*console*/, const Surroundings& at) {
  const auto where = HostPort::parse(options.address);
  if (!where) return complain(at, where.error().context("--bind-address"));
  const auto limit = parse_duration_ms(options.idle_limit);
  if (!limit) return complain(at, limit.error().context("--idle-limit"));
  const auto given = given_key(options, at.environment);
  if (!given) return complain(at, {State::usage, given.error().message});
  const auto key = *given ? Result<std::string>(**given) : generate_key();
  if (!key) return complain(at, key.error());
  if (const auto served = check_served_nics(options, at); !served) {
    return complain(at, served.error());
  }
  auto listener = Listener::bind(*where, *key, at.clock, at.interrupt);
  if (!listener) {
    const bool is_usage = listener.error().code == ErrorCode::usage;
    return complain(at, {is_usage ? State::usage : State::no_address, listener.error().message});
  }
  at.err << "railhead bench: listening on " << listener->address() << '\n';
  print_client_line(at, listener->address(), *given ? "" : *key);
  auto code = 0;
  for (unsigned served = 0; options.clients == 0 || served < options.clients; ++served) {
    std::vector<std::string> dropped;
    auto channel = listener->accept(Limit(*limit), dropped);
    for (const auto& why : dropped)
      at.err << "railhead bench: dropped a connection: " << report::printable(why) << '\n';
    if (!channel) return complain(at, channel_outcome(channel.error()));
    const auto outcome =
        serve(*channel, [&] { return make_endpoint(server_endpoint_options(options), at); });
    at.err << "railhead bench: served a client: " << to_string(outcome.state)
           << (outcome.why.empty() ? "" : ": ") << report::printable(outcome.why) << '\n';
    code = exit_code(outcome.state);
  }
  return code;
}

}  // namespace railhead::bench
