# SPDX-License-Identifier: Apache-2.0
# Channels and catalogs that were right on 2026-08-21: nfd and sriov-network-operator in openshift/openshift-docs (modules/
# psap-installing-node-feature-discovery-operator.adoc, nw-sriov-installing-operator.adoc) and openshift/cluster-nfd-operator (manifests/
# nfd.package.yaml); NVIDIA's in the bundles of the two versions above (bundle/metadata/annotations.yaml).

# subscribe NAMESPACE PACKAGE CHANNEL CATALOG: an operator, until it runs. Its first version is installed, and no other without you.
subscribe() {
  local namespace=$1 package=$2 channel=$3 catalog=$4
  oc apply -f - <<NAMESPACE
apiVersion: v1
kind: Namespace
metadata: {name: $namespace, labels: {openshift.io/cluster-monitoring: "true"}}
NAMESPACE
  # A second group in a namespace would keep its operators from being installed.
  if [ -z "$(oc --namespace "$namespace" get operatorgroups --output name)" ]; then
    oc apply -f - <<GROUP
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: $namespace, namespace: $namespace}
spec: {targetNamespaces: [$namespace]}
GROUP
  fi
  oc apply -f - <<SUBSCRIPTION
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: $package, namespace: $namespace}
spec:
  name: $package
  channel: $channel
  source: $catalog
  sourceNamespace: openshift-marketplace
  installPlanApproval: Manual
SUBSCRIPTION
  wait_for 900 "$package is not installed: oc --namespace $namespace get subscription $package --output yaml, under conditions; is channel $channel in oc get packagemanifest $package?" is_installed "$namespace" "$package"
}

# subscription NAMESPACE PACKAGE KEY: of its status.
subscription() { oc --namespace "$1" get subscriptions.operators.coreos.com "$2" --output "jsonpath={.status.$3}"; }

# Whether an operator runs; its first version is approved on the way.
is_installed() {
  local version plan
  version=$(subscription "$1" "$2" installedCSV)
  if [ -n "$version" ]; then
    [ "$(oc --namespace "$1" get clusterserviceversions.operators.coreos.com "$version" --output 'jsonpath={.status.phase}')" = Succeeded ]
    return
  fi
  plan=$(subscription "$1" "$2" installPlanRef.name)
  [ -z "$plan" ] || oc --namespace "$1" patch installplans.operators.coreos.com "$plan" --type merge --patch '{"spec":{"approved":true}}'
  return 1
}

# is_configured POOL MACHINE-CONFIG: whether all nodes of the pool have it.
is_configured() {
  local said
  said=$(oc get machineconfigpool "$1" --output 'jsonpath={.spec.configuration.name} {.status.configuration.name} {.status.conditions[?(@.type=="Updated")].status} {.status.configuration.source[*].name}')
  # shellcheck disable=SC2086  # words
  set -- "$2" $said
  [ $# -gt 4 ] && [ "$2" = "$3" ] && [ "$4" = True ] && [[ " ${*:5} " == *" $1 "* ]]
}

# Whether each node that the SR-IOV operator knows has what its policies say, and one has VFs.
has_functions() {
  local states
  states=$(oc --namespace openshift-sriov-network-operator get sriovnetworknodestates --output 'jsonpath={range .items[*]}{.status.syncStatus}{" "}{.spec.interfaces[*].numVfs}{"\n"}{end}')
  awk '$1 != "Succeeded" { late++ } NF > 1 { nodes++ } END { exit !(nodes > 0 && late == 0) }' <<<"$states"
}
