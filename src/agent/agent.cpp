// SPDX-License-Identifier: Apache-2.0
//
// One thread decides; what gRPC's own threads bring from the kubelet waits in a mailbox for it. The
// order on the loop does not matter for correctness: a decision looks itself
// whether the machine changed (Machine::table), and the rescan timer covers what no event tells.
#include "agent/agent.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <list>
#include <random>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/gpu_claims.h"
#include "agent/kubelet_face.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/metric_list.h"
#include "agent/nri_face.h"
#include "agent/pods_face.h"
#include "agent/version.h"
#include "base/text.h"
#include "config/reload.h"
#include "host/directory_host.h"
#include "host/input_file.h"
#include "host/line_writer.h"
#include "loop/mail_loop.h"
#include "metrics/bearer.h"
#include "metrics/http_server.h"
#include "nri/session.h"

namespace railhead {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxTokenBytes = 4096;

nri::SessionOptions session_options(const Config& config) {
  nri::SessionOptions options;
  options.socket_path = config.text("nri.socket");
  options.plugin_name = config.text("nri.pluginName");
  options.plugin_index = config.text("nri.pluginIndex");
  options.fail_request = config.enabled("nri.failRequest");
  options.random = [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
  return options;
}

PodsFaceOptions pods_options(const Config& config) {
  PodsFaceOptions options;
  options.node_name = config.text("node.name");
  options.every = std::chrono::seconds(config.number("pods.sampleSeconds"));
  options.proof.grace_seconds = static_cast<double>(config.number("pods.graceSeconds"));
  options.proof.ignore = config.list("pods.ignore");
  options.usage.proc_dir = config.text("host.proc");
  return options;
}

HttpOptions http_options(const Config& config, Log& log) {
  HttpOptions options;
  options.address = config.text("metrics.bindAddress");
  options.socket = config.text("metrics.socket");
  options.report = [&log](const HttpNews& news) {
    switch (news.kind) {
      case HttpNews::Kind::listening:
        return log.write(LogLevel::info, "listening", {{"address", news.address}});
      case HttpNews::Kind::not_listening:
        return log.write(LogLevel::warn, "not listening, trying again",
                         {{"address", news.address}, {"why", news.why}});
      case HttpNews::Kind::pausing:
        return log.write(LogLevel::warn, "accepting no connections for a while",
                         {{"address", news.address}, {"why", news.why}});
    }
  };
  return options;
}

/// "" where no file is named, or it cannot be used: then nobody gets /pods over TCP.
std::string read_pods_token(const Config& config, Log& log) {
  const std::string& path = config.text("metrics.tokenFile");
  if (path.empty()) return "";
  const auto text = read_input_file(path, kMaxTokenBytes);
  std::string token(text ? trim(*text) : "");
  if (token.empty()) {
    log.write(LogLevel::warn, "no token for /pods",
              {{"why", text ? path + ": is empty" : text.error().message}});
  }
  return token;
}

/// What decisions are made by, of a configuration that can be used.
struct Policies {
  std::vector<RoleOverride> roles;
  InjectionPolicy injection;
  std::vector<std::string> warnings;
};

Result<Policies> policies_of(const Config& config) {
  Policies policies;
  policies.roles = TRY(role_overrides(config));
  auto pools = TRY(pool_specs(config));
  policies.warnings = config.warnings();
  policies.warnings.insert(policies.warnings.end(), pools.warnings.begin(), pools.warnings.end());
  for (const auto& spec : pools.specs) {
    if (spec.origin.where.empty() || config.enabled("devicePlugin.enabled")) continue;
    policies.warnings.push_back(spec.origin.where + ": pool " + spec.name +
                                " is not reported: devicePlugin.enabled is false");
  }
  policies.injection = injection_policy(config);
  policies.injection.pools = std::move(pools.specs);
  return policies;
}

bool is_same(const std::vector<PoolSpec>& a, const std::vector<PoolSpec>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_pool);
}

Machine::ReadTopologyFile topology_reader(const Config& config) {
  return [path = config.text("topology.file")] { return read_topology_file(path); };
}

/// What keeps an agent from starting makes a configuration unfit for a running one, too.
Status check_start(const Config& config) {
  TRY(machine_origin(config));
  TRY(kubelet_face_options(config));
  return {};
}

class Agent {
 public:
  Agent(Config config, ConfigReader reader, Log& log, std::unique_ptr<Host> live, Machine& machine,
        Clock& clock, MetricRegistry& metrics, std::unique_ptr<Mailbox> mailbox,
        MachineOrigin origin)
      : config_(std::move(config)),
        origin_(std::move(origin)),
        log_(log),
        live_(std::move(live)),
        machine_(machine),
        clock_(clock),
        metrics_(metrics),
        mail_(std::move(mailbox), loop_),
        face_(
            machine, *live_, config_.text("host.proc"), config_.enabled("nri.failRequest"), log,
            metrics,
            [this](const auto& request, auto table, auto timeout, auto done) {
              claims_->ask(request, std::move(table), timeout, std::move(done));
            },
            &book_,
            [this](auto table, auto timeout, auto done) {
              claims_->ask_all(std::move(table), timeout, std::move(done));
            }),
        signals_(loop_, SIGTERM, SIGINT),
        rescan_(loop_),
        port_check_(loop_),
        follower_(
            loop_, std::move(reader), [this](Config fresh) { return take_on(std::move(fresh)); },
            clock, log, metrics) {}

  Status run() {
    pods_token_ = read_pods_token(config_, log_);
    server_ = TRY(HttpServer::open(loop_, http_options(config_, log_),
                                   [this](const HttpRequest& request) { return page(request); }));
    if (config_.enabled("nri.enabled")) {
      claims_.emplace(config_.text("kubelet.rootDir") + "/pod-resources/kubelet.sock",
                      config_.list("injection.gpuResources"), mail_.box(), clock_);
      session_.emplace(loop_, session_options(config_), face_);
      session_->start();
    }
    if (auto options = TRY(kubelet_face_options(config_))) {
      kubelet_.emplace(
          std::move(*options), [this] { return may_start(); }, loop_, mail_.box(), machine_, clock_,
          log_, metrics_);
      kubelet_->start();
    }
    TRY_STATUS(start_pods());
    signals_.async_wait([this](const auto& failure, int signal) {
      if (!failure) stop(signal);
    });
    for (const int descriptor : machine_.descriptors())
      await(watched_.emplace_back(loop_, descriptor));
    schedule_rescan();
    schedule_port_check();
    follower_.start();
    loop_.run();
    return {};
  }

 private:
  using Descriptor = asio::posix::stream_descriptor;

  Status start_pods() {
    if (config_.number("pods.sampleSeconds") == 0) return {};
    pods_.emplace(
        pods_options(config_), [origin = origin_] { return open_machine(origin); }, loop_,
        mail_.box(), machine_, book_, log_, metrics_);
    pods_->start();
    return {};
  }

  void stop(int signal) {
    log_.write(LogLevel::info, "stopping", {{"signal", std::to_string(signal)}});
    if (pods_) pods_->stop();
    if (kubelet_) kubelet_->stop();
    if (session_) session_->stop();
    server_->stop();
    rescan_.cancel();
    port_check_.cancel();
    follower_.stop();
    for (auto& descriptor : watched_) descriptor.release();
    signals_.cancel();
    loop_.stop();
  }

  void await(Descriptor& descriptor) {
    descriptor.async_wait(Descriptor::wait_read, [this, &descriptor](const auto& failure) {
      if (failure) return;
      machine_.table();
      if (kubelet_) kubelet_->look();
      await(descriptor);
    });
  }

  void schedule_rescan() {
    rescan_.expires_after(std::chrono::seconds(config_.number("host.rescanSeconds")));
    rescan_.async_wait([this](const auto& failure) {
      if (failure) return;
      look_at(machine_.read("timer"));
      follower_.check();
      schedule_rescan();
    });
  }

  /// Of ports that go down and come up without an event.
  void schedule_port_check() {
    const auto seconds = config_.number("host.portCheckSeconds");
    port_check_.cancel();
    if (seconds == 0) return;
    port_check_.expires_after(std::chrono::seconds(seconds));
    port_check_.async_wait([this](const auto& failure) {
      if (failure) return;
      look_at(machine_.look_at_ports());
      schedule_port_check();
    });
  }

  void look_at(const Status& done) {
    if (!done) log_.write(LogLevel::error, "node not read", {{"error", done.error().message}});
    if (kubelet_) kubelet_->look();
  }

  /// All that can fail comes first: a configuration takes effect as a whole.
  Result<ConfigNews> take_on(Config fresh) {
    TRY_STATUS(check_start(fresh));
    auto reload = reload_of(config_, std::move(fresh));
    auto policies = TRY(policies_of(reload.config));
    const auto before = TRY(pool_specs(config_));
    const bool same_pools = is_same(before.specs, policies.injection.pools);
    if (!same_pools) reload.changed.emplace_back("pools");
    ConfigNews news{std::move(reload.changed), std::move(reload.restart),
                    std::move(policies.warnings)};
    if (news.changed.empty()) return news;
    TRY_STATUS(machine_.reconfigure(std::move(policies.roles), std::move(policies.injection),
                                    topology_reader(reload.config)));
    config_ = std::move(reload.config);
    log_.set_level(parse_log_level(config_.text("log.level")));
    if (pods_) pods_->ignore(config_.list("pods.ignore"));
    if (claims_) claims_->set_resources(config_.list("injection.gpuResources"));
    if (kubelet_) kubelet_->look();
    schedule_rescan();
    schedule_port_check();
    return news;
  }

  HttpAnswer page(const HttpRequest& request) {
    const auto target = request.target;
    if (target == "/healthz") return {200, "ok\n"};
    if (target == "/readyz") return readiness();
    if (target == "/metrics") {
      publish_session();
      publish_own();
      if (kubelet_) kubelet_->publish_metrics();
      return {200, metrics_.expose(), "text/plain; version=0.0.4; charset=utf-8"};
    }
    if (target == "/pods" && pods_) {
      if (!may_read_pods(request, pods_token_)) {
        return {403,
                "/pods is served on the Unix socket (metrics.socket), and here only with the "
                "bearer token of metrics.tokenFile\n"};
      }
      return {200, pods_->page(), "application/json"};
    }
    return {404, "pages: /metrics /healthz /readyz /pods\n"};
  }

  [[nodiscard]] Readiness nri_readiness() const {
    if (!session_) return {true, "nri: off"};
    if (session_->stats().connected) return {true, "nri: connected"};
    return {false, "nri: not connected to " + config_.text("nri.socket")};
  }

  /// 200 where every face that is on does what it is for.
  [[nodiscard]] HttpAnswer readiness() const {
    const Readiness nri = nri_readiness();
    const Readiness kubelet = kubelet_ ? kubelet_->readiness() : Readiness{true, "kubelet: off"};
    std::string text = nri.text + "\n" + kubelet.text + "\n";
    for (const auto& place : server_->places()) {
      if (!place.problem.empty()) {
        text += "pages: not served on " + place.address + ": " + place.problem + "\n";
      }
    }
    return {nri.ready && kubelet.ready ? 200U : 503U, std::move(text)};
  }

  /// A container that holds a slot gets its nodes from us, through NRI.
  [[nodiscard]] Status may_start() const {
    const Readiness nri = nri_readiness();
    if (nri.ready) return {};
    return Error{ErrorCode::unavailable, "the agent cannot give this container its RDMA devices (" +
                                             nri.text + "); the start is tried again"};
  }

  void publish_own() {
    metrics_.set("railhead_log_lines_dropped_total", static_cast<double>(log_.dropped()));
    for (const auto& place : server_->places()) {
      metrics_.set("railhead_http_listening", place.problem.empty() ? 1 : 0,
                   {{"place", place.kind}});
    }
  }

  void publish_session() {
    if (!session_) return;
    const auto& stats = session_->stats();
    const auto set = [&](std::string_view name, std::uint64_t value) {
      metrics_.set(name, static_cast<double>(value));
    };
    set("railhead_nri_connected", stats.connected ? 1 : 0);
    set("railhead_nri_registrations_total", stats.registrations);
    set("railhead_nri_protocol_errors_total", stats.protocol_errors);
    set("railhead_nri_requests_total", stats.requests);
    set("railhead_nri_deadlines_missed_total", stats.deadlines_missed);
  }

  Config config_;
  MachineOrigin origin_;
  Log& log_;
  std::unique_ptr<Host> live_;
  Machine& machine_;
  Clock& clock_;
  MetricRegistry& metrics_;
  asio::io_context loop_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
  MailLoop mail_;  // outlives all that post
  ContainerBook book_;
  NriFace face_;
  asio::signal_set signals_;
  asio::steady_timer rescan_;
  asio::steady_timer port_check_;
  ConfigFollower follower_;
  std::list<Descriptor> watched_;
  std::string pods_token_;
  std::unique_ptr<HttpServer> server_;
  std::optional<GpuClaims> claims_;
  std::optional<nri::Session> session_;
  std::optional<KubeletFace> kubelet_;
  std::optional<PodsFace> pods_;
};

/// A snapshot never changes by events; a directory tree and the live machine do.
Result<std::unique_ptr<Watch>> make_watch(const MachineOrigin& origin) {
  if (!origin.snapshot.empty()) return std::unique_ptr<Watch>();
  return Watch::open(origin.root);
}

}  // namespace

Status run_agent(const Config& config, ConfigReader reader) {
  ignore_broken_pipes();
  Log log(parse_log_level(config.text("log.level")), parse_log_format(config.text("log.format")));
  log.write(LogLevel::info, "starting", {{"version", std::string(kVersion)}});
  auto policies = TRY(policies_of(config));
  for (const auto& warning : policies.warnings) {
    log.write(LogLevel::warn, "configuration", {{"what", warning}});
  }
  const auto origin = TRY(machine_origin(config));
  MetricRegistry metrics(metric_list());
  metrics.set("railhead_build_info", 1, {{"version", std::string(kVersion)}});
  SystemClock clock;
  auto watch = make_watch(origin);
  if (!watch) log.write(LogLevel::warn, "no events", {{"why", watch.error().message}});
  Machine machine([origin] { return open_machine(origin); },
                  watch ? std::move(watch).value() : nullptr, std::move(policies.roles),
                  std::move(policies.injection), clock, log, metrics, topology_reader(config));
  TRY_STATUS(machine.read("start"));
  const auto table = machine.table();
  const auto& conflicts = table->pools().conflicts;
  if (!conflicts.empty()) return Error{ErrorCode::malformed, conflicts.front()};
  auto live = TRY(DirectoryHost::open("/"));
  auto mailbox = TRY(Mailbox::open());
  Agent agent(config, std::move(reader), log, std::move(live), machine, clock, metrics,
              std::move(mailbox), origin);
  return agent.run();
}

}  // namespace railhead
