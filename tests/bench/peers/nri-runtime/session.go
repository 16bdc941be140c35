// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/containerd/nri/pkg/api"

	"railhead/tests/bench/peers/fakeruntime"
	"railhead/tests/bench/peers/process"
)

type usage = process.Usage

const patience = 20 * time.Second

// session is one plugin connected to a runtime of its own.
type session struct {
	runtime *fakeruntime.Runtime
	plugin  *process.Process
	start   time.Duration // from before fork to synchronized
}

// connect starts a runtime that holds the given state, then the plugin, and waits until it is
// synchronized.
func connect(s *settings, plugin subject, pods []*api.PodSandbox, containers []*api.Container) (*session, error) {
	socket := filepath.Join(s.folder, plugin.Name+".sock")
	runtime, err := fakeruntime.Start(fakeruntime.Options{
		Socket: socket, NoPlugins: filepath.Join(s.folder, "none"), Pods: pods, Containers: containers,
	})
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	child, err := process.Start(plugin.Command, socket, filepath.Join(s.folder, plugin.Name+".log"))
	if err != nil {
		runtime.Stop()
		return nil, err
	}
	at, err := runtime.WaitSynchronized(patience)
	if err != nil {
		runtime.Stop()
		child.Kill()
		return nil, fmt.Errorf("%s: %w; it printed:\n%s", plugin.Name, err, child.Output(10))
	}
	return &session{runtime, child, at.Sub(begin)}, nil
}

func (c *session) close() {
	_ = c.plugin.Stop(2 * time.Second)
	c.runtime.Stop()
}
