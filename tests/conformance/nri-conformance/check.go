// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"

	"railhead/tests/bench/peers/fakeruntime"
	"railhead/tests/bench/peers/process"
	"railhead/tests/bench/peers/workload"
)

// audience of a check: everybody, or only a plugin that promises more than the upstream stub does.
type audience int

const (
	everybody audience = iota
	railheadOnly
)

type check struct {
	name string
	who  audience
	why  string // what the upstream stub does instead
	run  func(*lab) error
}

var errSkipped = errors.New("nothing to run it with")

// lab is the private surroundings of one check; everything in it ends with it.
type lab struct {
	*settings
	folder  string
	cleanup []func()
	started []*process.Process
}

const patience = 15 * time.Second

func runAll(s *settings) bool {
	var passed, failed, skipped int
	for _, c := range allChecks() {
		if !strings.Contains(c.name, s.only) {
			continue
		}
		if s.upstream && c.who == railheadOnly {
			fmt.Printf("SKIP  %s (railhead only: %s)\n", c.name, c.why)
			skipped++
			continue
		}
		begin := time.Now()
		output, err := runOne(s, c)
		took := time.Since(begin).Round(time.Millisecond)
		switch {
		case errors.Is(err, errSkipped):
			fmt.Printf("SKIP  %s (%v)\n", c.name, err)
			skipped++
		case err != nil:
			fmt.Printf("FAIL  %s: %v (%v)\n", c.name, err, took)
			fmt.Print(indent(output))
			failed++
		default:
			fmt.Printf("PASS  %s (%v)\n", c.name, took)
			passed++
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return failed == 0
}

// runOne returns what the plugins printed last, too.
func runOne(s *settings, c check) (string, error) {
	folder, err := os.MkdirTemp("", "railhead-nri-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	l := &lab{settings: s, folder: folder}
	defer func() {
		for i := len(l.cleanup) - 1; i >= 0; i-- {
			l.cleanup[i]()
		}
	}()
	err = c.run(l)
	var output strings.Builder
	for _, p := range l.started {
		output.WriteString(p.Output(8) + "\n")
	}
	return output.String(), err
}

func indent(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return "      | " + strings.ReplaceAll(text, "\n", "\n      | ") + "\n"
}

func (l *lab) socket() string { return filepath.Join(l.folder, "nri.sock") }

func (l *lab) later(f func()) { l.cleanup = append(l.cleanup, f) }

// runtime starts one on the lab's socket.
func (l *lab) runtime(options fakeruntime.Options) (*fakeruntime.Runtime, error) {
	options.Socket, options.NoPlugins = l.socket(), filepath.Join(l.folder, "none")
	r, err := fakeruntime.Start(options)
	if err == nil {
		l.later(r.Stop)
	}
	return r, err
}

// start a child; it is killed at the end unless the check ended it.
func (l *lab) start(command string) (*process.Process, error) {
	log := filepath.Join(l.folder, fmt.Sprintf("%d.log", len(l.started)))
	p, err := process.Start(command, l.socket(), log)
	if err == nil {
		l.started = append(l.started, p)
		l.later(p.Kill)
	}
	return p, err
}

// connected is a runtime and the plugin under test, registered and synchronized.
func (l *lab) connected(options fakeruntime.Options) (*fakeruntime.Runtime, *process.Process, error) {
	return l.connectedWith(l.plugin, options)
}

func (l *lab) connectedWith(command string, options fakeruntime.Options) (*fakeruntime.Runtime, *process.Process, error) {
	r, err := l.runtime(options)
	if err != nil {
		return nil, nil, err
	}
	p, err := l.start(command)
	if err != nil {
		return nil, nil, err
	}
	_, err = r.WaitSynchronized(patience)
	return r, p, err
}

// create asks about a container with or without GPUs.
func create(r *fakeruntime.Runtime, number int, gpus string) (*api.ContainerAdjustment, error) {
	pod := workload.HostPod(number)
	return r.Create(pod, workload.Container(number, pod, workload.Typical, gpus))
}

// adjusts fails unless a container with GPUs gets at least one device.
func (l *lab) adjusts(r *fakeruntime.Runtime) error {
	adjustment, err := create(r, 1, l.gpus)
	if err != nil {
		return fmt.Errorf("creation failed: %w", err)
	}
	if len(adjustment.GetLinux().GetDevices()) == 0 {
		return errors.New("a container with a GPU got no device: the plugin is gone or did not answer")
	}
	return nil
}
