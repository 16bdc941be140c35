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
#include "kubelet/library_log.h"
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

gpr_timespec after(std::chrono::milliseconds time) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(time.count(), GPR_TIMESPAN));
}

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
class DevicePlugin::Service final : public v1beta1::DevicePlugin::CallbackService {
 public:
  Service(DevicePluginOptions options, Mailbox& mailbox, Resource& resource, Watched watched)
      : options_(std::move(options)),
        mailbox_(mailbox),
        resource_(resource),
        watched_(std::move(watched)),
        registration_(options_.resource),
        list_([this](bool now) { tell_watched(now); }) {}

  Status listen(const std::string& path) {
    grpc::ServerBuilder builder;
    int bound = 0;
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials(), &bound);
    builder.RegisterService(this);
    builder.RegisterService(&registration_);
    path_ = path;
    server_ = builder.BuildAndStart();
    if (server_ && bound != 0) return {};
    return Error{ErrorCode::unavailable, path + ": cannot serve the kubelet there"};
  }

  void publish(std::vector<Device> devices) { list_.publish(std::move(devices)); }

  /// Calls that wait for the mailbox are refused, and those that come now.
  void begin_end() {
    if (ends_) return;
    {
      const std::lock_guard lock(gate_->mutex);
      gate_->closed = true;
      for (auto* reactor : gate_->waiting) reactor->Finish(ending());
      gate_->waiting.clear();
    }
    list_.close();
    ends_ = after(kUntilCancelled);
    hang_up_.emplace(path_, kUntilHungUp);
  }

  /// Returns soon, whatever the kubelet does.
  void stop() {
    begin_end();
    if (server_) server_->Shutdown(*ends_);
    server_.reset();
    hang_up_.reset();
  }

  grpc::ServerUnaryReactor* GetDevicePluginOptions(grpc::CallbackServerContext* context,
                                                   const v1beta1::Empty* /*request*/,
                                                   v1beta1::DevicePluginOptions* answer) override {
    answer->set_pre_start_required(options_.pre_start_required);
    answer->set_get_preferred_allocation_available(options_.preferred_allocation);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListAndWatch(
      grpc::CallbackServerContext* /*context*/, const v1beta1::Empty* /*request*/) override {
    return list_.add_watcher();
  }

  grpc::ServerUnaryReactor* GetPreferredAllocation(
      grpc::CallbackServerContext* context, const v1beta1::PreferredAllocationRequest* request,
      v1beta1::PreferredAllocationResponse* answer) override {
    return decide(context, [this, request, answer] {
      for (const auto& one : request->container_requests()) {
        Preference preference{copy_of(one.available_deviceids()),
                              copy_of(one.must_include_deviceids()), 0};
        if (one.allocation_size() > 0) {
          preference.size = static_cast<std::size_t>(one.allocation_size());
        }
        auto& chosen = *answer->add_container_responses();
        for (auto& id : resource_.prefer(preference)) chosen.add_deviceids(std::move(id));
      }
      return grpc::Status::OK;
    });
  }

  grpc::ServerUnaryReactor* Allocate(grpc::CallbackServerContext* context,
                                     const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* answer) override {
    return decide(context, [this, request, answer] {
      for (const auto& one : request->container_requests()) {
        const auto grant = resource_.allocate(copy_of(one.devices_ids()));
        if (!grant) return failed(grant.error());
        fill(*answer->add_container_responses(), *grant);
      }
      return grpc::Status::OK;
    });
  }

  grpc::ServerUnaryReactor* PreStartContainer(
      grpc::CallbackServerContext* context, const v1beta1::PreStartContainerRequest* request,
      v1beta1::PreStartContainerResponse* /*answer*/) override {
    return decide(context, [this, request] {
      const auto may_start = resource_.pre_start(copy_of(request->devices_ids()));
      return may_start ? grpc::Status::OK : failed(may_start.error());
    });
  }

 private:
  /// The plugin watcher's interface, constant for the life of the socket.
  class Registration final : public pluginregistration::Registration::CallbackService {
   public:
    explicit Registration(std::string resource)
        : resource_(std::move(resource)) {}

    grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                      const pluginregistration::InfoRequest* /*request*/,
                                      pluginregistration::PluginInfo* answer) override {
      answer->set_type("DevicePlugin");
      answer->set_name(resource_);
      answer->add_supported_versions(kVersion);
      return done(context);
    }

    /// A refusal needs no answer: the kubelet tries the socket again by itself.
    grpc::ServerUnaryReactor* NotifyRegistrationStatus(
        grpc::CallbackServerContext* context,
        const pluginregistration::RegistrationStatus* /*request*/,
        pluginregistration::RegistrationStatusResponse* /*answer*/) override {
      return done(context);
    }

   private:
    static grpc::ServerUnaryReactor* done(grpc::CallbackServerContext* context) {
      auto* reactor = context->DefaultReactor();
      reactor->Finish(grpc::Status::OK);
      return reactor;
    }

    std::string resource_;
  };

  /// Runs `work` on the mailbox's thread and ends the call with what it returns. Request and answer
  /// live until then.
  template <typename Work>
  grpc::ServerUnaryReactor* decide(grpc::CallbackServerContext* context, Work work) {
    auto* reactor = context->DefaultReactor();
    const std::lock_guard lock(gate_->mutex);
    if (gate_->closed) {
      reactor->Finish(ending());
      return reactor;
    }
    gate_->waiting.insert(reactor);
    mailbox_.post([gate = gate_, reactor, work = std::move(work)] {
      if (gate->take(reactor)) reactor->Finish(work());
    });
    return reactor;
  }

  void tell_watched(bool now) {
    mailbox_.post([this, gate = gate_, now] {
      if (gate->is_open()) watched_(now);
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
    std::set<grpc::ServerUnaryReactor*> waiting;

    bool is_open() {
      const std::lock_guard lock(mutex);
      return !closed;
    }

    bool take(grpc::ServerUnaryReactor* reactor) {
      const std::lock_guard lock(mutex);
      return waiting.erase(reactor) != 0;
    }
  };

  DevicePluginOptions options_;
  Mailbox& mailbox_;
  Resource& resource_;
  Watched watched_;
  Registration registration_;
  WatchList list_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::string path_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<gpr_timespec> ends_;  ///< when calls are cancelled
  std::optional<DelayedHangUp> hang_up_;
};

DevicePlugin::DevicePlugin() = default;

DevicePlugin::~DevicePlugin() {
  if (service_) service_->stop();
}

Result<std::unique_ptr<DevicePlugin>> DevicePlugin::serve(const std::string& socket_path,
                                                          DevicePluginOptions options,
                                                          Mailbox& mailbox, Resource& resource,
                                                          Watched watched) {
  if (socket_path.size() > kMaxSocketPath) {
    return Error{ErrorCode::too_large, socket_path + ": longer than the " +
                                           std::to_string(kMaxSocketPath) +
                                           " bytes of a socket's path"};
  }
  silence_library_log();
  // gRPC replaces a socket, and nothing else.
  TRY_STATUS(remove_file(socket_path));
  std::unique_ptr<DevicePlugin> plugin(new DevicePlugin);
  plugin->service_ =
      std::make_unique<Service>(std::move(options), mailbox, resource, std::move(watched));
  const auto listening = plugin->service_->listen(socket_path);
  if (!listening) return listening.error();
  return plugin;
}

void DevicePlugin::begin_end() {
  service_->begin_end();
}

void DevicePlugin::publish(std::vector<Device> devices) {
  service_->publish(std::move(devices));
}

}  // namespace railhead::kubelet
