// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the objects of SR-IOV and network operators (schema.h has the notation). A key that any
// release has is in them; one that the newest has not is marked with the release that took it away.
// Sources: k8snetworkplumbingwg/sriov-network-operator config/crd/bases (v1.0.0 to v1.6.0,
// 249e200), Mellanox/network-operator config/crd/bases (v0.3.0 to v26.4.1, b06827e),
// Mellanox/nic-configuration-operator config/crd/bases (v1.3.1).
#include <array>

#include "lint/schema.h"

namespace railhead::lint {
namespace {

constexpr std::string_view kSriov = "sriovnetwork.openshift.io";
constexpr std::string_view kSriovRelease = "sriov-network-operator 1.6.0";
constexpr std::string_view kMellanox = "mellanox.com";
constexpr std::string_view kMellanoxRelease = "NVIDIA's network operator 26.4.1";
constexpr std::string_view kNicRelease = "nic-configuration-operator 1.3.1";

constexpr Fragment kFragments[] = {
    // Network operator
    {"container", "containerResources=[{name=s limits=<q> requests=<q>}]"},
    {"image", "image=s repository=s version=s imagePullSecrets=[s] &container"},
    {"nicProbe", "failureThreshold=i initialDelaySeconds!=i periodSeconds!=i timeoutSeconds=i"},
    {"tolerations", "tolerations=[{effect=s key=s operator=s tolerationSeconds=i value=s}]"},
    // plugin.env says that `env` has no effect.
    {"devicePlugin", "&image config=s useCdi=b env=*"},
    {"env", "env=[{name=s value=s valueFrom=*}]"},
    {"drain", "deleteEmptyDir=b enable=b force=b podSelector=s timeoutSeconds=i(0..)"},
    {"upgrade",
     "autoUpgrade=b maxParallelUpgrades=i(0..) drain={&drain} "
     "waitForCompletion={podSelector=s timeoutSeconds=i(0..)}"},
    {"nodePlugins",
     "ofedDriver={&image &env certConfig={name=s} repoConfig={name=s} forcePrecompiled=b "
     "livenessProbe={&nicProbe} readinessProbe={&nicProbe} startupProbe={&nicProbe} "
     "terminationGracePeriodSeconds=i(0..) upgradePolicy={&upgrade safeLoad=b}} "
     "rdmaSharedDevicePlugin={&devicePlugin} sriovDevicePlugin={&devicePlugin}"},
    {"network", "capabilities=s ipam=s metaPlugins=s networkNamespace=s resourceName=s"},
    // GPU operator
    {"gpuEnv", "env=[{name=s value=s valueFrom=*}]"},
    {"gpuImage", "image=s repository=s version=s imagePullPolicy=s imagePullSecrets=[s]"},
    {"gpuManager", "&gpuImage &gpuEnv"},
    {"gpuPart",
     "&gpuImage &gpuEnv args=[s] enabled=b hostNetwork=b resources={limits=<q> requests=<q> "
     "claims=*}"},
    {"gpuProbe",
     "failureThreshold=i(1..) initialDelaySeconds=i periodSeconds=i(1..) successThreshold=i(1..) "
     "timeoutSeconds=i(1..)"},
    {"gpuProbes", "livenessProbe={&gpuProbe} readinessProbe={&gpuProbe} startupProbe={&gpuProbe}"},
    {"gpuUpgrade",
     "upgradePolicy={&upgrade maxUnavailable=q podDeletion={deleteEmptyDir=b force=b "
     "timeoutSeconds=i(0..)}}"},
    {"gpuDriver",
     "rdma={enabled=b useHostMofed=b} kernelModuleConfig={name=s} "
     "kernelModuleType=s(auto|open|proprietary) useOpenKernelModules=b usePrecompiled=b "
     "secretEnv=s certConfig={name=s} manager={&gpuManager} &gpuProbes &gpuUpgrade"},
    {"serviceMonitor",
     "serviceMonitor={enabled=b interval=s scrapeTimeout=s honorLabels=b additionalLabels=<s> "
     "relabelings=*}"},
};

constexpr Schema kSriovSchemas[] = {
    {"SriovNetworkNodePolicy", kSriov, kSriovRelease,
     "{resourceName!=s numVfs!=i(0..) mtu=i(1..) priority=i(0..99) isRdma=b needVhostNet=b "
     "excludeTopology=b externallyManaged=b deviceType=s(netdevice|vfio-pci) "
     "eSwitchMode=s(legacy|switchdev) linkType=s(eth|ETH|ib|IB) vdpaType=s(virtio|vhost) "
     "nodeSelector!=<s> "
     "nicSelector!={vendor=s deviceID=s pfNames=[s] rootDevices=[s] netFilter=s} "
     "bridge={ovs={bridge={datapathType=s externalIDs=<s> failMode=s otherConfig=<s>} "
     "uplink={interface={type=s externalIDs=<s> mtuRequest=i options=<s> otherConfig=<s>}}}}}"},
    {"SriovNetwork", kSriov, kSriovRelease,
     "{&network linkState=s(auto|enable|disable) logFile=s "
     "logLevel=s(panic|error|warning|info|debug|) maxTxRate=i(0..) minTxRate=i(0..) "
     "spoofChk=s(on|off) trust=s(on|off) vlan=i(0..4096) "
     "vlanProto=s(802.1q|802.1Q|802.1ad|802.1AD) vlanQoS=i(0..7)}"},
    {"SriovIBNetwork", kSriov, kSriovRelease, "{&network linkState=s(auto|enable|disable)}"},
    {"OVSNetwork", kSriov, kSriovRelease,
     "{&network bridge=s interfaceType=s mtu=i vlan=i(0..4095) "
     "trunk=[{id=i(0..4095) minID=i(0..4095) maxID=i(0..4095)}]}"},
    {"SriovNetworkPoolConfig", kSriov, kSriovRelease,
     "{maxUnavailable=q rdmaMode=s(shared|exclusive) ovsHardwareOffloadConfig={name=s} "
     "nodeSelector={matchLabels=<s> matchExpressions=[{key=s operator=s values=[s]}]}}"},
    {"SriovOperatorConfig", kSriov, kSriovRelease,
     "{configDaemonNodeSelector=<s> configDaemonEnvVars=<s> configurationMode=s(daemon|systemd) "
     "disableDrain=b disablePlugins=[s(mellanox)] enableInjector=b enableOperatorWebhook=b "
     "enableOvsOffload=b featureGates=<b> logLevel=i(0..2) useCDI=b}"},
};

constexpr Schema kNicSchemas[] = {
    {"NicClusterPolicy", kMellanox, kMellanoxRelease,
     "{&nodePlugins &tolerations nodeAffinity=* deploymentNodeAffinity=* "
     "deploymentTolerations=* global={imagePullSecrets=[s] repository=s version=s} "
     "docaTelemetryService={&image config={fromConfigMap=s}} "
     "ibKubernetes={&image pKeyGUIDPoolRangeStart!=s pKeyGUIDPoolRangeEnd!=s "
     "periodicUpdateSeconds=i(0..) ufmSecret!=s} "
     "nicConfigurationOperator={&env logLevel=s(info|debug) operator={&image} "
     "configurationDaemon={&image} nicFirmwareStorage={create=b pvcName=s storageClassName=s "
     "availableStorageSize=s}} "
     "nicFeatureDiscovery={&image} nvIpam={&image enableWebhook=b config-24.1.0=*} "
     "secondaryNetwork={cniPlugins={&image} ipoib={&image} multus={&image config=s} "
     "ipamPlugin-25.10.0=*} "
     "spectrumXOperator={&image xPlane={&image} spectrumXConfig-25.7.0=* "
     "sriovObjNamespace-25.7.0=*} "
     "devicePlugin-0.4.0=* nvPeerDriver-23.7.0=* psp-24.1.0=*}"},
    {"NicNodePolicy", kMellanox, kMellanoxRelease,
     "{&nodePlugins &tolerations nodeSelector=<s> labels=<s> annotations=<s>}"},
    {"HostDeviceNetwork", kMellanox, kMellanoxRelease,
     "{ipam=s metaPlugins=s networkNamespace=s resourceName=s}"},
    {"MacvlanNetwork", kMellanox, kMellanoxRelease,
     "{ipam=s metaPlugins=s networkNamespace=s master=s mode=s(bridge|private|vepa|passthru) "
     "mtu=i(0..)}"},
    {"IPoIBNetwork", kMellanox, kMellanoxRelease, "{ipam=s networkNamespace=s master=s}"},
    {"NicConfigurationTemplate", "configuration.net.nvidia.com", kNicRelease,
     "{nodeSelector=<s> resetToDefault=b "
     "nicSelector={nicType=s pciAddresses=[s] serialNumbers=[s]} "
     "template={linkType=s(Ethernet|Infiniband) numVfs=i rawNvConfig=[{name=s value=s}] "
     "gpuDirectOptimized={enabled=b env=s} "
     "pciPerformanceOptimized={enabled=b maxAccOutRead=i maxReadRequest=i} "
     "roceOptimized={enabled=b qos={pfc=s tos=i trust=s}} "
     "spectrumXOptimized={enabled=b multiplaneMode=s(none|swplb|hwplb|uniplane) numberOfPlanes=i "
     "overlay=s(l3|none) version=s}}}"},
    {"NetworkAttachmentDefinition", "k8s.cni.cncf.io", "network-attachment-definition 1.7",
     "{config=s}"},
};

}  // namespace

std::span<const Fragment> fragments() {
  return kFragments;
}

std::span<const Schema> sriov_schemas() {
  return kSriovSchemas;
}

std::span<const Schema> nic_schemas() {
  return kNicSchemas;
}

}  // namespace railhead::lint
