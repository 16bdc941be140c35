// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"google.golang.org/protobuf/proto"

	"railhead/tests/bench/peers/fakeruntime"
	"railhead/tests/bench/peers/workload"
)

func answerChecks() []check {
	return []check{
		{"adds RDMA devices, a limit and a variable to a container with a GPU", everybody, "", addsToGpu},
		{"adds nothing to a container without a GPU", everybody, "", leavesOthersAlone},
		{"answers 500 containers one after another", everybody, "", manyContainers},
		{"answers while eight threads ask", everybody, "", concurrentContainers},
		{"reads a request of 3.5 MB", everybody, "", largeRequest},
		{"an answer of more than 4096 bytes arrives", everybody, "", largeAnswer},
		{"leaves a variable that the user set", railheadOnly, "the reference does not look", keepsUserEnv},
		{"two instances at once make no conflict", railheadOnly, "both add the same", twoInstances},
		{"a plugin below that adds the same makes no conflict", railheadOnly, "both add the same", pluginBelow},
	}
}

func addsToGpu(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	adjustment, err := create(r, 1, l.gpus)
	if err != nil {
		return err
	}
	for _, device := range adjustment.GetLinux().GetDevices() {
		if !strings.HasPrefix(device.Path, "/dev/infiniband/") || device.Type != "c" {
			return fmt.Errorf("added %s of type %q", device.Path, device.Type)
		}
		if device.GetFileMode() == nil {
			return fmt.Errorf("%s has no mode: the container gets it with 0666", device.Path)
		}
	}
	devices, limits, env := len(adjustment.GetLinux().GetDevices()), adjustment.GetRlimits(), adjustment.GetEnv()
	if devices == 0 || len(limits) != 1 || len(env) == 0 {
		return fmt.Errorf("added %d devices, %d limits, %d variables", devices, len(limits), len(env))
	}
	if limits[0].Type != "RLIMIT_MEMLOCK" || limits[0].Hard < limits[0].Soft || limits[0].Soft == 0 {
		return fmt.Errorf("limit is %v", limits[0])
	}
	return nil
}

func leavesOthersAlone(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	adjustment, err := create(r, 2, "")
	if err != nil {
		return err
	}
	if proto.Size(adjustment) != 0 && !proto.Equal(adjustment, emptied(adjustment)) {
		return fmt.Errorf("got %v", adjustment)
	}
	return l.adjusts(r) // and it is still there
}

// emptied is an adjustment as the adaptation makes it when no plugin adds anything: its parts may
// exist, and hold nothing.
func emptied(*api.ContainerAdjustment) *api.ContainerAdjustment {
	return &api.ContainerAdjustment{Hooks: &api.Hooks{}, Linux: &api.LinuxContainerAdjustment{
		Resources: &api.LinuxResources{Memory: &api.LinuxMemory{}, Cpu: &api.LinuxCPU{}},
	}}
}

func manyContainers(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	for i := range 500 {
		if err := l.adjusts(r); err != nil {
			return fmt.Errorf("container %d: %w", i, err)
		}
	}
	return nil
}

func concurrentContainers(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	failures := make(chan error, 8)
	for range cap(failures) {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 50 {
				if err := l.adjusts(r); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	return <-failures
}

func largeRequest(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	pod := workload.HostPod(3)
	shape := workload.Shape{Env: 30, Mounts: 30, Filler: 3<<20 + 512<<10}
	adjustment, err := r.Create(pod, workload.Container(3, pod, shape, l.gpus))
	if err != nil {
		return err
	}
	if len(adjustment.GetLinux().GetDevices()) == 0 {
		return errors.New("no device: the plugin is gone or did not answer")
	}
	return l.adjusts(r)
}

func largeAnswer(l *lab) error {
	if l.large == "" {
		return fmt.Errorf("%w: no -large", errSkipped)
	}
	r, _, err := l.connectedWith(l.large, fakeruntime.Options{})
	if err != nil {
		return err
	}
	for i := range 3 {
		adjustment, err := create(r, i, l.largeGpus)
		if err != nil {
			return err
		}
		if size := proto.Size(adjustment); size <= 4096 {
			return fmt.Errorf("the adjustment has %d bytes and %d devices", size, len(adjustment.GetLinux().GetDevices()))
		}
	}
	return nil
}

func keepsUserEnv(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	pod := workload.HostPod(4)
	container := workload.Container(4, pod, workload.Typical, l.gpus)
	container.Env = append(container.Env, "NCCL_IB_HCA=mlx5_9")
	adjustment, err := r.Create(pod, container)
	if err != nil {
		return err
	}
	for _, variable := range adjustment.GetEnv() {
		if variable.Key == "NCCL_IB_HCA" {
			return fmt.Errorf("it was set to %q over the user's", variable.Value)
		}
	}
	return nil
}

func twoInstances(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	if _, err := l.start(l.plugin); err != nil {
		return err
	}
	if _, err := r.WaitSynchronized(patience); err != nil {
		return err
	}
	return l.adjusts(r)
}

// echo is a plugin that adds what another one added to an equal container.
type echo struct{ adjustment *api.ContainerAdjustment }

func (e echo) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return e.adjustment, nil, nil
}

func pluginBelow(l *lab) error {
	r, _, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	adjustment, err := create(r, 5, l.gpus)
	if err != nil {
		return err
	}
	same := &api.ContainerAdjustment{
		Env: adjustment.Env, Rlimits: adjustment.Rlimits,
		Linux: &api.LinuxContainerAdjustment{Devices: adjustment.Linux.GetDevices()},
	}
	below, err := stub.New(echo{same}, stub.WithPluginName("below"), stub.WithPluginIdx("10"),
		stub.WithSocketPath(l.socket()), stub.WithOnClose(func() {}))
	if err != nil {
		return err
	}
	if err := below.Start(context.Background()); err != nil {
		return err
	}
	defer below.Stop()
	if _, err := r.WaitSynchronized(5 * time.Second); err != nil {
		return err
	}
	return l.adjusts(r)
}
