// SPDX-License-Identifier: Apache-2.0
//
// The agent as a list of services: what it is made of, the order in which it starts and ends, and
// how it takes on another configuration. Everything here runs on the deciding thread, which never
// waits (docs/design/0005-an-agent-that-never-waits.md).
#include "agent/agent.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include "agent/config_service.h"
#include "agent/feature_file.h"
#include "agent/hosted_service.h"
#include "agent/kube_events.h"
#include "agent/kubelet_service.h"
#include "agent/log.h"
#include "agent/lost_nics.h"
#include "agent/machine_service.h"
#include "agent/metrics.h"
#include "agent/node_conditions_service.h"
#include "agent/node_doctor.h"
#include "agent/nri_service.h"
#include "agent/options.h"
#include "agent/pages_service.h"
#include "agent/pods_service.h"
#include "agent/ports_service.h"
#include "agent/startup_taint_service.h"
#include "base/text.h"
#include "base/version.h"
#include "config/config.h"
#include "host/environment.h"
#include "host/ethtool.h"
#include "host/line_writer.h"
#include "host/memory.h"
#include "host/program.h"
#include "host/tree.h"
#include "loop/call_after.h"
#include "loop/mail_loop.h"

namespace railhead::agent {
namespace {

/// For each thread that ends. What is not over by then waits for a driver or a dead file server.
constexpr std::chrono::milliseconds kPatience{1000};
/// From a signal to the end, at most; Kubernetes waits 30 s by default.
constexpr std::chrono::seconds kLongestEnd{8};
/// Of the loop, at the end: far more than a runtime has asked by then.
constexpr int kLastTurns = 1000;
constexpr std::chrono::milliseconds kEndStep{10};
/// A configuration that waits longer than this for the machine is logged.
constexpr std::chrono::milliseconds kConfigWaitWorthSaying{1000};

/// A snapshot never changes by events; a directory tree and the live machine do.
MachineSource machine_source(const options::MachineOrigin& origin) {
  MachineSource source;
  source.open = [origin] { return options::open_machine(origin); };
  if (origin.snapshot.empty())
    source.open_watch = [root = origin.root] { return host::Watch::open(root); };
  return source;
}

/// Whether what the kernel that we run on says is of the machine that is read.
bool is_this_machine(const options::MachineOrigin& origin) {
  if (!origin.snapshot.empty()) return false;
  const auto tree = host::Tree::open(origin.root);
  return tree && (*tree)->is_live();
}

class Agent {
 public:
  struct Parts {
    const config::Config& config;
    options::Policies policies;  ///< what it says
    ConfigReader reader;
    Log& log;
    std::unique_ptr<loop::Mailbox> mailbox;
  };

  explicit Agent(Parts parts)
      : config_(parts.config),
        policies_(std::move(parts.policies)),
        reader_(std::move(parts.reader)),
        log_(parts.log),
        mail_(std::move(parts.mailbox), loop_),
        runtime_(settings().nri.enabled ? settings().nri.socket : ""),
        pod_resources_(settings().kubelet.root_dir + "/pod-resources/kubelet.sock", mail_.box()),
        signals_(loop_, SIGTERM, SIGINT),
        hang_ups_(loop_, SIGHUP) {
    host::let_signals_in();
    metrics_.build_info.set(1, label::Version(version()));
  }

  Status run() {
    for (auto step :
         {&Agent::start_pages, &Agent::start_events, &Agent::start_conditions,
          &Agent::start_machine, &Agent::start_following, &Agent::start_startup_taint}) {
      outcome_ = (this->*step)();
      if (outcome_) continue;
      end_services();
      return outcome_;
    }
    end_on_signals();
    loop_.run();
    loop_.restart();
    // What the runtime has asked already is answered. Who floods the port must not hold up the end.
    for (int turn = 0; turn < kLastTurns && loop_.poll_one() > 0; ++turn) {
    }
    end_services();
    return outcome_;
  }

 private:
  [[nodiscard]] const config::Settings& settings() const { return config_.settings(); }

  /// The first one ends the loop in good order, a second one at once.
  void end_on_signals() {
    signals_.async_wait([this](const auto& failure, int signal) {
      if (failure) return;
      log_.write(config::LogLevel::info, "stopping", {{"signal", std::to_string(signal)}});
      signals_.async_wait([this](const auto& failed, int) {
        if (!failed) loop_.stop();
      });
      runtime_.end();
      end_owing_nothing(clock_.now() + kLongestEnd);
    });
  }

  /// A container whose start was granted would have a slot and no nodes without us.
  void end_owing_nothing(std::chrono::steady_clock::time_point latest) {
    const auto now = clock_.now();
    if (now >= latest || !runtime_.owes(now)) return loop_.stop();
    loop::call_after(ending_, kEndStep, [this, latest] { end_owing_nothing(latest); });
  }

  Status start_pages() {
    const auto& [bind_address, socket, token_file, ports] = settings().metrics;
    if (!policies_.pages && socket.empty()) return {};
    return start(std::make_unique<PagesService>(
        context_, PagesOptions{policies_.pages, socket, token_file}, services_, documents_));
  }

  Status start_events() {
    const auto options = kube_events_options(settings(), host::read_environment());
    if (!options) return {};
    events_.emplace(outbox_, options->node);
    return start(make_hosted<KubeEvents>(context_, "events", *options, std::ref(outbox_)));
  }

  /// They wait for the doctor's first look.
  Status start_conditions() {
    const auto options = node_conditions_options(settings(), host::read_environment());
    if (!options) return {};
    return start(std::make_unique<NodeConditionsService>(context_, *options, conditions_));
  }

  /// Null where no Events are posted.
  [[nodiscard]] PodEvents* events() { return events_ ? &*events_ : nullptr; }

  Status start_machine() {
    for (const auto& warning : policies_.warnings) {
      log_.write(config::LogLevel::warn, "configuration", {{"what", warning}});
    }
    for (const auto& resource : policies_.left_out) {
      log_.write(config::LogLevel::warn, "resource left out", {{"why", resource}});
    }
    pools_ = policies_.settings.policy.pools;
    log_differences(log_, options::logged_differences(config_));
    const auto origin = TRY(options::machine_origin(settings()));
    auto machine = std::make_unique<MachineService>(
        context_, tables_,
        MachineOptions{machine_source(origin), std::move(policies_.settings),
                       read_times(settings())},
        FirstReading{.done = [this](const Status& first) { start_others(first); },
                     .late = [this] { start_without_machine(); }});
    machine_ = machine.get();
    return start(std::move(machine));
  }

  /// What needs a machine, once it has been read.
  void start_others(const Status& first) {
    outcome_ = first;
    for (auto step : {&Agent::start_nri, &Agent::start_kubelet, &Agent::start_ports,
                      &Agent::start_pods, &Agent::start_features, &Agent::start_doctor}) {
      if (outcome_) outcome_ = (this->*step)();
    }
    if (!outcome_) loop_.stop();
  }

  /// A driver hangs. Containers whose pod says `required` must not start without their NICs.
  void start_without_machine() {
    log_.write(config::LogLevel::error, "node not read yet, containers get no NICs until it is");
    outcome_ = start_nri();
    if (!outcome_) loop_.stop();
  }

  Status start_nri() {
    if (!settings().nri.enabled || std::exchange(has_nri_, true)) return {};
    return start(std::make_unique<NriService>(
        context_, NriOptions{session_options(settings()), settings().host.proc},
        NriService::Links{*machine_, tables_, runtime_, has_pods() ? &containers_ : nullptr,
                          pod_resources_, events()}));
  }

  Status start_kubelet() {
    auto options = TRY(kubelet_options(settings()));
    if (!options) return {};
    return start(std::make_unique<KubeletService>(
        context_, *std::move(options), PoolPublisher::Links{tables_, runtime_, pod_resources_}));
  }

  Status start_ports() {
    const auto every = settings().metrics.ports;
    if (every.count() == 0) return {};
    return start(std::make_unique<PortsService>(
        context_, tables_, every,
        [open = TRY(opener()), origin = TRY(options::machine_origin(settings()))] {
          return PortCounters::Source{
              open, is_this_machine(origin) ? host::ask_driver_counters : nullptr};
        }));
  }

  Status start_features() {
    const auto options = feature_file_options(settings());
    if (!options) return {};
    return start(
        make_hosted<FeatureFile>(context_, "features", *options, std::ref(tables_), TRY(opener())));
  }

  /// Whether anybody looks who uses RDMA.
  [[nodiscard]] bool has_pods() const { return settings().pods.sample.count() != 0; }

  Status start_pods() {
    if (!has_pods()) return {};
    lost_nics_.look(tables_.latest());
    tables_.follow(mail_.box(), [this] { lost_nics_.look(tables_.latest()); });
    return start(std::make_unique<PodsService>(
        context_, pods_options(settings()), TRY(opener()),
        PodsMonitor::Links{tables_, containers_, documents_.pods, events()}));
  }

  Status start_doctor() {
    if (settings().doctor.every.count() == 0) return {};
    in_force_.set(std::make_shared<const config::Config>(config_));
    const NodeDoctor::Links links{TRY(opener()),
                                  [this] { return options::doctor_wishes(*in_force_.get()); },
                                  documents_.doctor, conditions_};
    return start(
        make_hosted<NodeDoctor>(context_, "doctor", node_doctor_options(settings()), links));
  }

  Status start_following() {
    reader_.recheck = settings().host.rescan;
    return start(std::make_unique<ConfigService>(
        context_, std::move(reader_), policies_.left_out,
        [this](config::Config fresh, const ConfigFollower::Done& done) {
          take_on(std::move(fresh), done);
        }));
  }

  Status start_startup_taint() {
    const auto options = startup_taint_options(settings(), host::read_environment());
    if (!options) return {};
    return start(std::make_unique<StartupTaintService>(context_, *options, services_));
  }

  /// For a thread that may wait for the machine.
  [[nodiscard]] Result<OpenMachine> opener() const {
    return OpenMachine([origin = TRY(options::machine_origin(settings()))] {
      return options::open_machine(origin);
    });
  }

  Status start(std::unique_ptr<Service> service) {
    return services_.emplace_back(std::move(service))->start();
  }

  void end_services() {
    tables_.close();
    // Nobody answers the runtime from now on, so it must not be left waiting while others end.
    std::stable_partition(services_.begin(), services_.end(),
                          [](const auto& service) { return service->name() != "nri"; });
    std::vector<std::string> left;
    for (std::size_t i = services_.size(); i-- > 0;) {
      if (!services_[i]->stop(kPatience)) left.emplace_back(services_[i]->name());
    }
    if (left.empty()) return;
    log_.write(config::LogLevel::warn,
               "stopped, and threads that wait for the machine are left behind",
               {{"services", join(left, ",")}});
    log_.flush();
    host::end_process(outcome_ ? 0 : 2);
  }

  /// All that can fail comes first: a configuration takes effect as a whole. What keeps an agent
  /// from starting makes it unfit for a running one, too.
  void take_on(config::Config fresh, const ConfigFollower::Done& done) {
    auto reload = std::make_shared<config::Reload>(config::reload_of(config_, std::move(fresh)));
    auto policies = options::agent_policies(reload->config, pools_);
    if (!policies) return done(policies.error());
    auto pools = policies->settings.policy.pools;
    if (!std::ranges::equal(pools_, pools, pools::is_same_pool)) {
      reload->changed.emplace_back("pools");
      reload->concerns_machine = true;
    }
    ConfigNews news{reload->changed, reload->restart, std::move(policies->warnings),
                    std::move(policies->left_out), options::logged_differences(reload->config)};
    for (const auto& one : options::logged_differences(config_)) {
      std::erase_if(news.differences, [&](const auto& other) { return one.id == other.id; });
    }
    if (!reload->concerns_machine) {
      policies_.left_out = news.left_out;
      if (!news.changed.empty()) put_in_force(std::move(reload->config));
      return done(news);
    }
    loop::call_after(config_waits_, kConfigWaitWorthSaying, [this] {
      log_.write(
          config::LogLevel::warn, "configuration waits",
          {{"why", "the machine or topology.file is being read; what was in force before counts"}});
    });
    machine_->reconfigure(std::move(policies->settings), read_times(reload->config.settings()),
                          [this, reload, pools, news, done](const Status& taken) {
                            config_waits_.cancel();
                            if (!taken) return done(taken.error());
                            pools_ = pools;
                            policies_.left_out = news.left_out;
                            put_in_force(std::move(reload->config));
                            done(news);
                          });
  }

  void put_in_force(config::Config config) {
    config_ = std::move(config);
    if (in_force_.get()) in_force_.set(std::make_shared<const config::Config>(config_));
    log_.set_level(settings().log.level);
    for (const auto& service : services_) service->reconfigure(settings());
  }

  config::Config config_;
  options::Policies policies_;  ///< of the configuration at the start; `left_out` is that in force
  std::vector<pools::PoolSpec> pools_;  ///< in force
  ConfigReader reader_;
  Log& log_;
  host::SystemClock clock_;
  Metrics metrics_;
  boost::asio::io_context loop_{1};
  loop::MailLoop mail_;  // outlives all that post
  Context context_{loop_, mail_.box(), clock_, log_, metrics_};
  TableFeed tables_;
  RuntimeLink runtime_;
  kubelet::PodResources pod_resources_;
  ContainerCache containers_;
  LostNics lost_nics_{containers_, log_};
  EventOutbox outbox_{metrics_, clock_};
  std::optional<PodEvents> events_;
  Documents documents_;
  loop::Shared<checks::LatestConditions> conditions_;  ///< from the doctor's thread
  loop::Shared<std::shared_ptr<const config::Config>>
      in_force_;  ///< for the doctor's thread; null: off
  boost::asio::signal_set signals_;
  /// Those that come before the configuration is followed end nothing: its files are read then.
  boost::asio::signal_set hang_ups_;
  boost::asio::steady_timer config_waits_{loop_};
  boost::asio::steady_timer ending_{loop_};
  Status outcome_;
  bool has_nri_ = false;
  MachineService* machine_ = nullptr;  ///< in services_
  /// In the order of their start; they end the other way round.
  std::vector<std::unique_ptr<Service>> services_;
};

}  // namespace

Status run_agent(const config::Config& config, ConfigReader reader) {
  host::ignore_broken_pipes();
  host::share_heap();
  host::give_back_code_pages();  // what initialised the libraries and read the command line
  const auto& said = config.settings().log;
  Log log(said.level, said.format);
  log.write(config::LogLevel::info, "starting", {{"version", std::string(version())}});
  auto policies = options::agent_policies(config);
  if (!policies) return Error{ErrorCode::usage, policies.error().message};
  auto mailbox = TRY(loop::Mailbox::open());
  try {
    Agent agent({config, std::move(policies).value(), std::move(reader), log, std::move(mailbox)});
    return agent.run();
  } catch (const boost::system::system_error& failure) {  // Asio's, for a lack of descriptors
    return Error{ErrorCode::unavailable, std::string("event loop: ") + failure.what()};
  }
}

}  // namespace railhead::agent
