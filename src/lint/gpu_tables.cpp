// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the GPU operator's objects and of its chart's values (schema.h has the notation). Words
// that one release takes and another not are left open, and operator.chart-value is of `nfd`.
// Source: NVIDIA/gpu-operator config/crd/bases and deployments/gpu-operator/values.yaml (v22.9.0 to
// v26.7.0).
#include "lint/schema.h"

namespace railhead::lint {
namespace {

constexpr std::string_view kGroup = "nvidia.com";
constexpr std::string_view kRelease = "GPU operator 26.7.0";

constexpr Schema kGpuSchemas[] = {
    {"ClusterPolicy", kGroup, kRelease,
     "{ccManager={&gpuPart defaultMode=s(on|off|devtools)} "
     "cdi={default=b enabled=b nriPluginEnabled=b} "
     "daemonsets={annotations=<s> labels=<s> podSecurityContext=* priorityClassName=s "
     "rollingUpdate={maxUnavailable=s} &tolerations updateStrategy=s(RollingUpdate|OnDelete)} "
     "dcgm={&gpuPart hostPort=i} "
     "dcgmExporter={&gpuPart annotations=<s> config={name=s} enablePodLabels=b enablePodUID=b "
     "hostPID=b hpcJobMapping={directory=s enabled=b} podLabelAllowlistRegex=[s] "
     "service={internalTrafficPolicy=s type=s} &serviceMonitor} "
     "devicePlugin={&gpuPart config={default=s name=s} mps={root=s}} "
     "driver={&gpuPart &gpuDriver licensingConfig={configMapName=s nlsEnabled=b secretName=s} "
     "repoConfig={configMapName=s} useNvidiaDriverCRD=b virtualTopology={config=s}} "
     "gdrcopy={&gpuPart} gds={&gpuPart} gfd={&gpuPart} "
     "hostPaths={driverInstallDir=s kubeletRootDir=s rootFS=s} "
     "kataManager={&gpuPart config={artifactsDir=s runtimeClasses=[{name=s nodeSelector=<s> "
     "artifacts={pullSecret=s url=s}}]}} "
     "kataSandboxDevicePlugin={&gpuPart} mig={strategy=s(none|single|mixed)} "
     "migManager={&gpuPart config={default=s name=s} gpuClientsConfig={name=s}} "
     "nfd=* nodeStatusExporter={&gpuPart} "
     "operator={annotations=<s> labels=<s> defaultRuntime=s initContainer={&gpuImage} "
     "metrics={&serviceMonitor} runtimeClass=s use_ocp_driver_toolkit=b} "
     "psa={enabled=b} psp={enabled=b} sandboxDevicePlugin={&gpuPart} "
     "sandboxWorkloads={defaultWorkload=s(container|vm-passthrough|vm-vgpu) enabled=b mode=s} "
     "toolkit={&gpuPart installDir=s} "
     "validator={&gpuPart cuda={&gpuEnv} driver={&gpuEnv} plugin={&gpuEnv} toolkit={&gpuEnv} "
     "vfioPCI={&gpuEnv} vgpuDevices={&gpuEnv} vgpuManager={&gpuEnv} ccManager={&gpuEnv}} "
     "vfioManager={&gpuPart driverManager={&gpuManager}} "
     "vgpuDeviceManager={&gpuPart config={default=s name=s}} "
     "vgpuManager={&gpuPart driverManager={&gpuManager} kernelModuleConfig={name=s}}}"},
    {"NVIDIADriver", kGroup, kRelease,
     "{&gpuPart &gpuDriver &tolerations annotations=<s> labels=<s> default=b "
     "driverType=s(gpu|vgpu|vgpu-host-manager) gdrcopy={&gpuPart} gds={&gpuPart} "
     "licensingConfig={name=s nlsEnabled=b secretName=s} nodeAffinity=* nodeSelector=<s> "
     "podSecurityContext=* priorityClassName=s repoConfig={name=s} "
     "virtualTopologyConfig={name=s}}"},
};

}  // namespace

std::span<const Schema> gpu_schemas() {
  return kGpuSchemas;
}

std::string_view gpu_operator_values() {
  return "{nfd={enabled=b nodefeaturerules=b} platform={openshift=b} node-feature-discovery=* "
         "global=* extraObjects=* draDriver=* "
         "operator={&gpuManager affinity=* tolerations=* nodeSelector=* priorityClassName=s "
         "cleanupCRD=b upgradeCRD=b logging=* resources=* args=*} "
         "driver={nvidiaDriverCRD=* version=s virtualTopology=*} "
         "devicePlugin={config=*} migManager={config=* gpuClientsConfig=*} "
         "dcgmExporter={config=*} vgpuDeviceManager={config=*}}";
}

}  // namespace railhead::lint
