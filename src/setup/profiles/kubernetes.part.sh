# SPDX-License-Identifier: Apache-2.0
# Railhead is in no registry: ./dev image makes the image, push it to one of yours.
: "${IMAGE_REPOSITORY:?is the image of Railhead in a registry that the nodes reach, without its tag: registry.example.com/railhead}"
: "${IMAGE_TAG:=}"  # the chart's own version
: "${RAILHEAD_CHART:=./deploy/charts}"
[ -f "$RAILHEAD_CHART/Chart.yaml" ] || stop "there is no chart in $RAILHEAD_CHART: run this in a clone of Railhead, or set RAILHEAD_CHART"

# nodes SELECTOR: their names, a line each.
nodes() {
  kubectl get nodes --selector "$1" --output jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'
}

has_nodes() { [ -n "$(nodes "$1")" ]; }

# nodes_without RESOURCE SELECTOR: the names of nodes that cannot give any of it.
nodes_without() {
  kubectl get nodes --selector "$2" --output go-template="{{range .items}}{{.metadata.name}} {{index .status.allocatable \"$1\"}}{{\"\\n\"}}{{end}}" |
    awk '$2 == "<no" || $2 == "" || $2 == "0" { print $1 }'
}

is_offered() { [ -z "$(nodes_without "$@")" ]; }

# install_railhead RESOURCE SELECTOR ARGUMENT…: the chart with the values of this profile, until each node of the selector offers the resource.
install_railhead() {
  local resource=$1 selector=$2
  shift 2
  has_nodes "$selector" || stop "no node has the label $selector: kubectl get nodes --show-labels"
  helm upgrade --install railhead "$RAILHEAD_CHART" --namespace kube-system -f "$RAILHEAD_CHART/profiles/$PROFILE.yaml" \
    --set image.repository="$IMAGE_REPOSITORY" --set image.tag="$IMAGE_TAG" "$@" ||
    stop "helm did not install Railhead: its last lines say why"
  if kubectl --namespace kube-system get daemonset railhead-setup >/dev/null 2>&1; then
    kubectl --namespace kube-system rollout status daemonset/railhead-setup --timeout 30m ||
      stop "a node is not prepared: kubectl --namespace kube-system logs --selector app.kubernetes.io/name=railhead-setup --container setup --prefix"
  fi
  kubectl --namespace kube-system rollout status daemonset/railhead --timeout 10m ||
    stop "an agent is not ready: kubectl --namespace kube-system get pods --selector app.kubernetes.io/instance=railhead --output wide, then logs of the pod"
  wait_for 300 "not each node offers $resource: kubectl railhead fleet, and on such a node railhead pools -o wide" is_offered "$resource" "$selector"
}
