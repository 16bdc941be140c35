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

/// An error names the option that it is about.
template <typename T>
Result<T> of_option(std::string_view option, Result<T> parsed) {
  return parsed ? std::move(parsed) : Result<T>(parsed.error().context(option));
}

}  // namespace

Result<Work> make_work(const Options& options, std::size_t lanes, std::uint64_t seed) {
  Work work;
  const auto operations = TRY(of_option(
      "--op", parse_list<Operation>(options.operations, "write,read,send", parse_operation)));
  const auto measures = TRY(of_option(
      "--measure", parse_list<Measure>(options.measures, "bandwidth,latency", parse_measure)));
  std::vector<std::uint64_t> sizes;
  if (!options.sizes.empty()) sizes = TRY(of_option("--size", parse_sizes(options.sizes)));
  Step like;
  like.iterations = options.iterations;
  like.warm_up = options.warm_up;
  like.depth = options.depth;
  like.seed = seed;
  if (!options.duration.empty()) {
    like.duration_ms = TRY(of_option("--duration", parse_duration_ms(options.duration)));
  }
  if (!options.rate_cap.empty()) {
    like.rate_cap_bps = TRY(of_option("--rate-cap", parse_rate_bps(options.rate_cap)));
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
  const auto memories = TRY(of_option("--memory", parse_memories(options.memory)));
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
