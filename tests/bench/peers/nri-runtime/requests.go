// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/containerd/nri/pkg/api"

	"railhead/tests/bench/peers/workload"
)

// answer counts what a plugin adds, so that a figure can be read together with the work behind it.
type answer struct {
	Devices int `json:"devices"`
	Rlimits int `json:"rlimits"`
	Env     int `json:"env"`
}

// kind of request: where its figures go.
type kind struct {
	gpus      string
	times     []time.Duration
	sandboxes []time.Duration // of RunPodSandbox, where it is sent
	cpu       time.Duration   // of both
	answer    answer
}

// timeRequests sends CreateContainer to all plugins in turns and reads their memory before and after.
func timeRequests(s *settings, reports []*report) error {
	sessions := make([]*session, len(s.plugins))
	defer func() {
		for _, c := range sessions {
			if c != nil {
				c.close()
			}
		}
	}()
	for i, plugin := range s.plugins {
		var err error
		if sessions[i], err = connect(s, plugin, nil, nil); err != nil {
			return err
		}
	}
	if err := readUsage(s, sessions, func(i int) *usage { return &reports[i].Idle }); err != nil {
		return err
	}
	kinds, err := takeTurns(s, sessions)
	if err != nil {
		return err
	}
	for i := range reports {
		gpu, plain := &kinds[i][0], &kinds[i][1]
		reports[i].Gpu, reports[i].Plain = summarize(gpu.times), summarize(plain.times)
		reports[i].Sandbox = summarize(slices.Concat(gpu.sandboxes, plain.sandboxes))
		reports[i].CPUGpu, reports[i].CPUPlain = perRequest(gpu), perRequest(plain)
		reports[i].Adjusted, reports[i].PlainAdjusted = gpu.answer, plain.answer
	}
	return readUsage(s, sessions, func(i int) *usage { return &reports[i].AfterRequests })
}

func takeTurns(s *settings, sessions []*session) ([][2]kind, error) {
	kinds := make([][2]kind, len(sessions))
	for i := range kinds {
		for _, gpus := range []string{s.gpus, ""} {
			warm := kind{gpus: gpus}
			if err := block(s, sessions[i], &warm, s.warmUp); err != nil {
				return nil, fmt.Errorf("%s: %w", s.plugins[i].Name, err)
			}
		}
		kinds[i][0].gpus = s.gpus
	}
	for done := 0; done+s.block <= s.requests; done += s.block {
		for turn := range sessions {
			i := (turn + done/s.block) % len(sessions) // nobody is always first
			for k := range kinds[i] {
				if err := block(s, sessions[i], &kinds[i][k], s.block); err != nil {
					return nil, fmt.Errorf("%s: %w", s.plugins[i].Name, err)
				}
			}
		}
	}
	return kinds, nil
}

// block sends requests one after another, as a runtime does: it holds one lock over all of them.
func block(s *settings, c *session, k *kind, requests int) error {
	pods := make([]*api.PodSandbox, requests) // each its own: a pod has no two containers of one name
	containers := make([]*api.Container, requests)
	for i := range containers {
		pods[i] = workload.HostPod(len(k.times) + i)
		containers[i] = workload.Container(len(k.times)+i, pods[i], s.shape, k.gpus)
	}
	// This program's garbage is no plugin's fault. It is collected here and not among the requests:
	// its heap is so small that one in a hundred would meet a collection, and p99 would show that.
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before, err := c.plugin.CPU()
	if err != nil {
		return err
	}
	for i, container := range containers {
		if err := runSandbox(s, c, k, pods[i]); err != nil {
			return err
		}
		begin := time.Now()
		adjustment, err := c.runtime.Create(pods[i], container)
		k.times = append(k.times, time.Since(begin))
		if err != nil {
			return err
		}
		k.answer = answer{
			len(adjustment.GetLinux().GetDevices()), len(adjustment.GetRlimits()), len(adjustment.GetEnv()),
		}
	}
	time.Sleep(120 * time.Millisecond) // what a plugin does later is its cost, too: a log is written each 100 ms
	after, err := c.plugin.CPU()
	k.cpu += after - before
	return err
}

// runSandbox tells of the pod, where that is wanted, and lets the time until its container pass.
func runSandbox(s *settings, c *session, k *kind, pod *api.PodSandbox) error {
	if s.sandbox < 0 {
		return nil
	}
	begin := time.Now()
	err := c.runtime.Run(pod)
	k.sandboxes = append(k.sandboxes, time.Since(begin))
	time.Sleep(s.sandbox)
	return err
}

func perRequest(k *kind) float64 {
	return float64(k.cpu.Nanoseconds()) / float64(len(k.times)) / 1000
}

func readUsage(s *settings, sessions []*session, into func(int) *usage) error {
	time.Sleep(s.settle)
	for i, c := range sessions {
		read, err := c.plugin.Usage()
		if err != nil {
			return err
		}
		*into(i) = read
	}
	return nil
}
