// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <algorithm>

#include "base/text.h"
#include "bench/crypto.h"
#include "host/input_file.h"

namespace railhead::bench {
namespace {

template <typename T, typename Parse>
Result<std::vector<T>> parse_list(const std::string& text, const std::string& all, Parse parse) {
  std::vector<T> list;
  for (const auto word : split(text == "all" ? all : text, ',')) {
    list.push_back(TRY(parse(trim(word))));
  }
  return list;
}

Result<std::vector<Memory>> parse_memories(const std::string& text) {
  const std::string both = "gpu:dmabuf,gpu:peermem";
  return parse_list<Memory>(text == "gpu" ? both : text, "host," + both, parse_memory);
}

}  // namespace

void add_measuring_options(CLI::App& app, Options& options) {
  app.add_option("--op", options.operations, "write, read, send, several with commas, or all")
      ->capture_default_str();
  app.add_option("--measure", options.measures, "bandwidth, latency, or all")
      ->capture_default_str();
  app.add_option("--size", options.sizes,
                 "bytes of a message (64KiB, 1MiB), several with commas, or all: 2 bytes to 8 MiB "
                 "[bandwidth 64KiB, latency 2]");
  app.add_option("--duration", options.duration, "measure each size so long (10s, 500ms)");
  app.add_option("--iterations", options.iterations,
                 "messages of each queue pair, instead of a duration [latency 1000, bandwidth "
                 "512 MiB's worth, 100 to 5000]");
  app.add_option("--warm-up", options.warm_up, "messages before, that do not count")
      ->capture_default_str();
  app.add_option("--qps", options.queue_pairs, "queue pairs between two NICs")
      ->capture_default_str();
  app.add_option("--depth", options.depth, "requests in flight on each queue pair")
      ->capture_default_str();
  app.add_option("--memory", options.memory,
                 "host, gpu:dmabuf, gpu:peermem, gpu (both routes, one after the other), or all")
      ->capture_default_str();
  app.add_option("--mtu", options.mtu, "largest path MTU to use [what both ports have]");
  app.add_option("--rate-cap", options.rate_cap,
                 "at most so many bits a second (10G), of all NICs and of both directions of a "
                 "latency together");
  app.add_option("--require", options.require,
                 "exit code 1 when messages of 64 KiB or more reach less than this share of what "
                 "the links can carry (0.9), 2 when that cannot be told")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("-o,--output", options.output, "one of " + join(report::format_names(), ", "))
      ->capture_default_str();
  app.add_option("--proof", options.proof_file, "write the JSON document to this file as well");
  app.add_flag("--progress", options.progress, "say what moves even if stderr is no terminal");
}

void add_nic_options(CLI::App& app, Options& options) {
  app.add_option("--gid-index", options.gid_index,
                 "[the best RoCE v2 GID of the port; InfiniBand: 0 where a port "
                 "requires a global header]");
  app.add_option("--gpu", options.gpu, "whose memory, by CUDA's index")->capture_default_str();
  app.add_flag("--force", options.force, "use NICs on which others have queue pairs, too");
}

void add_key_option(CLI::App& app, Options& options) {
  app.add_option("--key-file", options.key_file,
                 "file with the key that both sides share [variable RAILHEAD_BENCH_KEY]");
}

Result<Work> make_work(const Options& options, std::size_t lanes, std::uint64_t seed) {
  Work work;
  const auto operations =
      TRY(parse_list<Operation>(options.operations, "write,read,send", parse_operation));
  const auto measures =
      TRY(parse_list<Measure>(options.measures, "bandwidth,latency", parse_measure));
  std::vector<std::uint64_t> sizes;
  if (!options.sizes.empty()) sizes = TRY(parse_sizes(options.sizes));
  Step like;
  like.iterations = options.iterations;
  like.warm_up = options.warm_up;
  like.depth = options.depth;
  like.seed = seed;
  if (!options.duration.empty()) like.duration_ms = TRY(parse_duration_ms(options.duration));
  if (!options.rate_cap.empty()) {
    const auto rate = parse_rate_bps(options.rate_cap);
    if (!rate) return rate.error().context("--rate-cap");
    like.rate_cap_bps = *rate;
  }
  if (like.duration_ms != 0 && like.iterations != 0) {
    return Error{ErrorCode::usage, "--duration and --iterations exclude each other"};
  }
  work.steps = make_steps(operations, measures, sizes, like);
  if (work.steps.size() > kMaxSteps) {
    return Error{ErrorCode::usage, "more than " + std::to_string(kMaxSteps) + " measurements"};
  }
  Plan plan;
  plan.lanes = lanes;
  plan.remote_nics = options.other_nics;
  plan.queue_pairs = options.queue_pairs;
  plan.depth = options.depth;
  plan.mtu_bytes = options.mtu;
  plan.max_size_bytes = 1;
  for (const auto& step : work.steps) {
    plan.max_size_bytes = std::max(plan.max_size_bytes, step.size_bytes);
  }
  const auto memories = TRY(parse_memories(options.memory));
  for (const auto memory : memories) {
    plan.memory = memory;
    TRY_STATUS(check(plan));
    work.plans.push_back(plan);
  }
  for (const auto& step : work.steps) TRY_STATUS(check(step, plan));
  return work;
}

EndpointOptions endpoint_options(const Options& options) {
  EndpointOptions endpoint;
  if (options.gid_index >= 0) endpoint.gid_index = static_cast<unsigned>(options.gid_index);
  endpoint.force = options.force;
  endpoint.gpu = options.gpu;
  return endpoint;
}

EndpointOptions server_endpoint_options(const Options& options) {
  auto endpoint = endpoint_options(options);
  endpoint.nics = options.nics;
  return endpoint;
}

Result<const report::Format*> output_format(const Options& options) {
  if (const auto* format = report::find_format(options.output)) return format;
  return Error{ErrorCode::usage, "--output " + railhead::in_quotes(options.output) +
                                     " is none of " + join(report::format_names(), ", ")};
}

Result<std::optional<std::string>> given_key(const Options& options,
                                             const host::Environment& environment) {
  constexpr std::size_t kMaxFile = 8192;
  if (!options.key_file.empty()) {
    const auto text = TRY(host::read_input_file(options.key_file, kMaxFile));
    auto key = check_key(text);
    if (!key) return key.error().context("--key-file " + options.key_file);
    return std::optional(*std::move(key));
  }
  const auto variable = environment.find("RAILHEAD_BENCH_KEY");
  if (variable == environment.end()) return std::optional<std::string>();
  auto key = check_key(variable->second);
  if (!key) return key.error().context("RAILHEAD_BENCH_KEY");
  return std::optional(*std::move(key));
}

}  // namespace railhead::bench
