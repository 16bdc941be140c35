// SPDX-License-Identifier: Apache-2.0

// Package fakeruntime plays a container runtime with the real NRI adaptation, the code that is
// inside containerd and CRI-O. Only the pods and containers are invented.
package fakeruntime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/log"
	"github.com/containerd/ttrpc"
	"github.com/sirupsen/logrus"
)

// Synced is one finished plugin synchronization.
type Synced struct {
	At  time.Time
	Err error
}

// Runtime listens for plugins on a socket of its own.
type Runtime struct {
	adaptation *adaptation.Adaptation
	synced     chan Synced
	starting   atomic.Bool
	pods       []*api.PodSandbox
	containers []*api.Container
}

// Options of a runtime.
type Options struct {
	Socket     string
	NoPlugins  string // an empty folder: no pre-installed plugins
	Version    string // as containerd's, "v2.4.2" when empty
	Pods       []*api.PodSandbox
	Containers []*api.Container
	Observe    ttrpc.UnaryClientInterceptor // sees every call to a plugin
}

// Start listens. Plugins may connect as soon as it returns.
func Start(options Options) (*Runtime, error) {
	if options.Version == "" {
		options.Version = "v2.4.2"
	}
	r := &Runtime{
		synced: make(chan Synced, 64), pods: options.Pods, containers: options.Containers,
	}
	r.starting.Store(true)
	settings := []adaptation.Option{
		adaptation.WithSocketPath(options.Socket),
		adaptation.WithPluginPath(options.NoPlugins),
		adaptation.WithPluginConfigPath(options.NoPlugins),
	}
	if options.Observe != nil {
		settings = append(settings, adaptation.WithTTRPCOptions(
			[]ttrpc.ClientOpts{ttrpc.WithUnaryClientInterceptor(options.Observe)}, nil))
	}
	var err error
	r.adaptation, err = adaptation.New("containerd", options.Version, r.synchronize, noUpdates, settings...)
	if err != nil {
		return nil, err
	}
	return r, r.adaptation.Start()
}

func noUpdates(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	return nil, errors.New("this runtime takes no unsolicited updates")
}

func (r *Runtime) synchronize(ctx context.Context, relay adaptation.SyncCB) error {
	if r.starting.CompareAndSwap(true, false) { // for pre-installed plugins, of which there are none
		_, err := relay(ctx, nil, nil)
		return err
	}
	_, err := relay(ctx, r.pods, r.containers)
	r.synced <- Synced{At: time.Now(), Err: err}
	return err
}

// WaitSynchronized waits until one more plugin is registered, configured and synchronized, and
// returns when that was.
func (r *Runtime) WaitSynchronized(patience time.Duration) (time.Time, error) {
	select {
	case synced := <-r.synced:
		if synced.Err == nil {
			// The plugin joins the list just after the call; this returns when it has.
			r.adaptation.BlockPluginSync().Unblock()
		}
		return synced.At, synced.Err
	case <-time.After(patience):
		return time.Time{}, fmt.Errorf("no plugin synchronized within %v", patience)
	}
}

// Run tells the plugins that a pod's sandbox runs, and waits for their answers, as a runtime does.
func (r *Runtime) Run(pod *api.PodSandbox) error {
	return r.adaptation.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: pod})
}

// Create asks the plugins about a new container.
func (r *Runtime) Create(pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, error) {
	reply, err := r.adaptation.CreateContainer(context.Background(),
		&api.CreateContainerRequest{Pod: pod, Container: container})
	if err != nil {
		return nil, err
	}
	return reply.GetAdjust(), nil
}

// Stop closes the listener. The adaptation leaves connections to external plugins open.
func (r *Runtime) Stop() { r.adaptation.Stop() }

// Silence drops what the adaptation logs, and what ttrpc and older stubs write by logrus.
func Silence() {
	log.Set(silent{})
	logrus.SetOutput(io.Discard)
}

type silent struct{}

func (silent) Debugf(context.Context, string, ...any) {}
func (silent) Infof(context.Context, string, ...any)  {}
func (silent) Warnf(context.Context, string, ...any)  {}
func (silent) Errorf(context.Context, string, ...any) {}
