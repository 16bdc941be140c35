// SPDX-License-Identifier: Apache-2.0

// Package workload makes pods and containers as large as those of a real GPU cluster.
package workload

import (
	"fmt"
	"strings"

	"github.com/containerd/nri/pkg/api"
)

// Shape of the containers: how much a plugin has to read before it can decide.
type Shape struct {
	Env    int
	Mounts int
	Filler int // bytes of one more environment variable, to make a state as large as wanted
}

// Typical is a container of an operator-made training job.
var Typical = Shape{Env: 30, Mounts: 30}

// HostPod is a pod that shares the node's network: its namespaces are known and lack "network".
func HostPod(number int) *api.PodSandbox {
	id := fmt.Sprintf("%064x", number)
	return &api.PodSandbox{
		Id: id, Name: fmt.Sprintf("worker-%d", number), Namespace: "training",
		Uid:    fmt.Sprintf("3f2c9a54-7d1e-4c57-9f43-%012x", number),
		Labels: map[string]string{"app": "worker", "job-name": "pretrain"},
		Annotations: map[string]string{
			"kubernetes.io/config.source": "api", "kubernetes.io/config.seen": "2026-01-01T00:00:00Z",
		},
		Linux: &api.LinuxPodSandbox{
			CgroupParent: "/kubepods/besteffort/pod" + id[:32],
			Namespaces:   []*api.LinuxNamespace{{Type: "pid"}, {Type: "ipc"}, {Type: "uts"}, {Type: "mount"}},
		},
	}
}

// Container of a pod. `gpus` becomes NVIDIA_VISIBLE_DEVICES, one of the shape's variables; without
// it the container is as large and holds no GPU.
func Container(number int, pod *api.PodSandbox, shape Shape, gpus string) *api.Container {
	container := &api.Container{
		Id: fmt.Sprintf("%064x", 1<<32+number), PodSandboxId: pod.Id, Name: "main",
		State:       api.ContainerState_CONTAINER_CREATED,
		Labels:      map[string]string{"io.kubernetes.container.name": "main"},
		Annotations: map[string]string{"io.kubernetes.cri.container-type": "container"},
		Args:        []string{"python3", "-m", "torch.distributed.run", "train.py"},
		Env:         environment(shape, gpus),
		Linux: &api.LinuxContainer{
			Namespaces: []*api.LinuxNamespace{{Type: "pid"}, {Type: "network", Path: "/proc/1/ns/net"}},
			Resources:  &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(uint64(1024))}},
		},
	}
	for i := range shape.Mounts {
		container.Mounts = append(container.Mounts, &api.Mount{
			Destination: fmt.Sprintf("/usr/local/share/volume-%02d", i), Type: "bind",
			Source:  fmt.Sprintf("/var/lib/kubelet/pods/%s/volumes/kubernetes.io~empty-dir/v%02d", pod.Uid, i),
			Options: []string{"rbind", "rprivate", "ro"},
		})
	}
	return container
}

func environment(shape Shape, gpus string) []string {
	env := []string{"PATH=/usr/local/nvidia/bin:/usr/local/bin:/usr/bin:/bin"}
	if gpus != "" {
		env = append(env, "NVIDIA_VISIBLE_DEVICES="+gpus)
	}
	for i := len(env); i < shape.Env; i++ {
		env = append(env, fmt.Sprintf("WORKER_SERVICE_PORT_%02d=tcp://10.96.%d.17:29500", i, i))
	}
	if shape.Filler > 0 {
		env = append(env, "FILLER="+strings.Repeat("x", shape.Filler))
	}
	return env
}

// State is what a runtime holds already when a plugin connects: one container a pod.
func State(containers int, shape Shape) ([]*api.PodSandbox, []*api.Container) {
	var pods []*api.PodSandbox
	var all []*api.Container
	for i := range containers {
		pod := HostPod(i)
		container := Container(i, pod, shape, "")
		container.State = api.ContainerState_CONTAINER_RUNNING
		pods, all = append(pods, pod), append(all, container)
	}
	return pods, all
}
