// SPDX-License-Identifier: Apache-2.0
#include "kubelet/device_plugin.h"

#include <grpcpp/grpcpp.h>

#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "deviceplugin.grpc.pb.h"
#include "host/hang_up.h"
#include "host/input_file.h"
#include "kubelet/channel.h"
#include "kubelet/enrolment.h"
#include "kubelet/plugin_call.h"
#include "kubelet/queue_thread.h"
#include "kubelet/watch_list.h"
#include "pluginregistration.grpc.pb.h"

namespace railhead::kubelet {
namespace {

constexpr const char* kVersion = "v1beta1";
/// A kubelet that lives reads the end of its calls within milliseconds.
constexpr std::chrono::milliseconds kUntilCancelled{250};
/// gRPC waits without a limit for a write that is under way (grpc 1.51, chttp2_transport.cc,
/// close_transport_locked), for ever where a kubelet was stopped.
constexpr std::chrono::milliseconds kUntilHungUp{500};

std::vector<std::string> copy_of(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

grpc::Status failed(const Error& error) {
  return {grpc::StatusCode::FAILED_PRECONDITION, "railhead: " + error.message};
}

void fill(v1beta1::ContainerAllocateResponse& answer, const Grant& grant) {
  for (const auto& [name, value] : grant.env) (*answer.mutable_envs())[name] = value;
  for (const auto& [key, value] : grant.annotations) (*answer.mutable_annotations())[key] = value;
  for (const auto& device : grant.devices) {
    auto& spec = *answer.add_devices();
    spec.set_host_path(device.host_path);
    spec.set_container_path(device.container_path);
    spec.set_permissions(device.permissions);
  }
  for (const auto& name : grant.cdi_devices) answer.add_cdi_devices()->set_name(name);
}

}  // namespace

/// Serves both interfaces; hands what has to be decided to the mailbox's thread.
class DevicePlugin::Service {
 public:
  Service(DevicePluginOptions options, loop::Mailbox& mailbox, Resource& resource, Watched watched,
          Refused refused)
      : options_(std::move(options)),
        mailbox_(mailbox),
        resource_(resource),
        watched_(std::move(watched)),
        refused_(std::move(refused)),
        list_([this](bool now) { tell_watched(now); }) {}

  Status listen(const std::string& path) {
    grpc::ServerBuilder builder;
    int bound = 0;
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials(), &bound);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.RegisterService(&plugin_);
    builder.RegisterService(&registration_);
    path_ = path;
    queue_ = builder.AddCompletionQueue();
    enrolments_.emplace(*queue_);
    server_ = builder.BuildAndStart();
    if (!server_ || bound == 0) {
      return Error{ErrorCode::unavailable, path + ": cannot serve the kubelet there"};
    }
    serve_all();
    thread_ = TRY(QueueThread::start(*queue_, "device-plugin"));
    return {};
  }

  void publish(std::vector<Device> devices) { list_.publish(std::move(devices)); }

  void enrol(const std::string& kubelet_socket, std::function<void(Status)> done) {
    enrolments_->begin(kubelet_socket, path_.substr(path_.rfind('/') + 1), options_,
                       [this, gate = gate_, done = std::move(done)](const Status& answer) {
                         mailbox_.post([gate, done, answer] {
                           if (gate->is_open()) done(answer);
                         });
                       });
  }

  /// Calls that wait for the mailbox are refused, and those that come now.
  void begin_end() {
    if (ends_) return;
    {
      const std::lock_guard lock(gate_->mutex);
      gate_->closed = true;
      for (auto* call : gate_->waiting) call->finish(ending());
      gate_->waiting.clear();
    }
    list_.close();
    if (enrolments_) enrolments_->cancel();
    ends_ = timespec_in(kUntilCancelled);
    hang_up_.emplace(path_, kUntilHungUp);
  }

  /// Returns soon, whatever the kubelet does.
  void stop() {
    begin_end();
    // Returns when every call has ended, so that nothing is begun on the queue any more.
    if (server_) server_->Shutdown(*ends_);
    if (queue_) queue_->Shutdown();
    if (!thread_ && queue_) serve_events(*queue_);
    thread_.reset();
    server_.reset();
    hang_up_.reset();
  }

 private:
  using Plugin = v1beta1::DevicePlugin::AsyncService;
  using Watcher = pluginregistration::Registration::AsyncService;
  template <typename Request, typename Answer>
  using Asked = PluginCall<Plugin, Request, Answer>;
  template <typename Request, typename Answer>
  using WatcherAsked = PluginCall<Watcher, Request, Answer>;
  using OptionsCall = Asked<v1beta1::Empty, v1beta1::DevicePluginOptions>;
  using PreferCall =
      Asked<v1beta1::PreferredAllocationRequest, v1beta1::PreferredAllocationResponse>;
  using AllocateCall = Asked<v1beta1::AllocateRequest, v1beta1::AllocateResponse>;
  using StartCall = Asked<v1beta1::PreStartContainerRequest, v1beta1::PreStartContainerResponse>;
  using InfoCall = WatcherAsked<pluginregistration::InfoRequest, pluginregistration::PluginInfo>;
  using NotifyCall = WatcherAsked<pluginregistration::RegistrationStatus,
                                  pluginregistration::RegistrationStatusResponse>;

  void serve_all() {
    list_.serve(plugin_, *queue_);
    OptionsCall::serve_all(plugin_, &Plugin::RequestGetDevicePluginOptions, *queue_,
                           [this](OptionsCall& call) {
                             call.answer.set_pre_start_required(options_.pre_start_required);
                             call.answer.set_get_preferred_allocation_available(true);
                             call.finish(grpc::Status::OK);
                           });
    PreferCall::serve_all(plugin_, &Plugin::RequestGetPreferredAllocation, *queue_,
                          [this](PreferCall& call) { decide(call, &Service::prefer); });
    AllocateCall::serve_all(plugin_, &Plugin::RequestAllocate, *queue_,
                            [this](AllocateCall& call) { decide(call, &Service::allocate); });
    StartCall::serve_all(plugin_, &Plugin::RequestPreStartContainer, *queue_,
                         [this](StartCall& call) { decide(call, &Service::pre_start); });
    InfoCall::serve_all(registration_, &Watcher::RequestGetInfo, *queue_, [this](InfoCall& call) {
      call.answer.set_type("DevicePlugin");
      call.answer.set_name(options_.resource);
      call.answer.add_supported_versions(kVersion);
      call.finish(grpc::Status::OK);
    });
    NotifyCall::serve_all(registration_, &Watcher::RequestNotifyRegistrationStatus, *queue_,
                          [this](NotifyCall& call) {
                            if (!call.request.plugin_registered())
                              tell_refused(call.request.error());
                            call.finish(grpc::Status::OK);
                          });
  }

  // On the mailbox's thread.

  grpc::Status prefer(PreferCall& call) {
    for (const auto& one : call.request.container_requests()) {
      Preference preference{copy_of(one.available_deviceids()),
                            copy_of(one.must_include_deviceids()), 0};
      if (one.allocation_size() > 0) {
        preference.size = static_cast<std::size_t>(one.allocation_size());
      }
      auto& chosen = *call.answer.add_container_responses();
      for (auto& id : resource_.prefer(preference)) chosen.add_deviceids(std::move(id));
    }
    return grpc::Status::OK;
  }

  grpc::Status allocate(AllocateCall& call) {
    for (const auto& one : call.request.container_requests()) {
      const auto grant = resource_.allocate(copy_of(one.devices_ids()));
      if (!grant) return failed(grant.error());
      fill(*call.answer.add_container_responses(), *grant);
    }
    return grpc::Status::OK;
  }

  grpc::Status pre_start(StartCall& call) {
    const auto may_start = resource_.pre_start(copy_of(call.request.devices_ids()));
    return may_start ? grpc::Status::OK : failed(may_start.error());
  }

  /// Runs one of those for the call and ends it with what that returns.
  template <typename Call>
  void decide(Call& call, grpc::Status (Service::*work)(Call&)) {
    const std::lock_guard lock(gate_->mutex);
    if (gate_->closed) return call.finish(ending());
    gate_->waiting.insert(&call);
    mailbox_.post([this, gate = gate_, &call, work] {
      if (gate->take(&call)) call.finish((this->*work)(call));
    });
  }

  void tell_watched(bool now) {
    mailbox_.post([this, gate = gate_, now] {
      if (gate->is_open()) watched_(now);
    });
  }

  void tell_refused(const std::string& why) {
    mailbox_.post([this, gate = gate_, why] {
      if (gate->is_open()) refused_(why);
    });
  }

  static grpc::Status ending() {
    return {grpc::StatusCode::UNAVAILABLE, "railhead: the agent is ending"};
  }

  /// Calls that wait for the mailbox. It outlives the service in what was posted; only the
  /// mailbox's thread closes it, so what finds it open there finds the service alive.
  struct Gate {
    std::mutex mutex;
    bool closed = false;
    std::set<OpenCall*> waiting;

    bool is_open() {
      const std::lock_guard lock(mutex);
      return !closed;
    }

    bool take(OpenCall* call) {
      const std::lock_guard lock(mutex);
      return waiting.erase(call) != 0;
    }
  };

  DevicePluginOptions options_;
  loop::Mailbox& mailbox_;
  Resource& resource_;
  Watched watched_;
  Refused refused_;
  WatchList list_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::string path_;
  Plugin plugin_;
  Watcher registration_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::optional<Enrolments> enrolments_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<QueueThread> thread_;
  std::optional<gpr_timespec> ends_;  ///< when calls are cancelled
  std::optional<host::DelayedHangUp> hang_up_;
};

DevicePlugin::DevicePlugin() = default;

DevicePlugin::~DevicePlugin() {
  if (service_) service_->stop();
}

Result<std::unique_ptr<DevicePlugin>> DevicePlugin::serve(const std::string& socket_path,
                                                          DevicePluginOptions options,
                                                          loop::Mailbox& mailbox,
                                                          Resource& resource, Watched watched,
                                                          Refused refused) {
  if (socket_path.size() > kMaxSocketPath) {
    return Error{ErrorCode::too_large, socket_path + ": longer than the " +
                                           std::to_string(kMaxSocketPath) +
                                           " bytes of a socket's path"};
  }
  TRY_STATUS(start_library());
  // gRPC replaces a socket, and nothing else.
  TRY_STATUS(host::remove_file(socket_path));
  std::unique_ptr<DevicePlugin> plugin(new DevicePlugin);
  plugin->service_ = std::make_unique<Service>(std::move(options), mailbox, resource,
                                               std::move(watched), std::move(refused));
  const auto listening = plugin->service_->listen(socket_path);
  if (!listening) return listening.error();
  return plugin;
}

void DevicePlugin::begin_end() {
  service_->begin_end();
}

void DevicePlugin::enrol(const std::string& kubelet_socket, std::function<void(Status)> done) {
  service_->enrol(kubelet_socket, std::move(done));
}

void DevicePlugin::publish(std::vector<Device> devices) {
  service_->publish(std::move(devices));
}

}  // namespace railhead::kubelet
