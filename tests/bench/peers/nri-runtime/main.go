// SPDX-License-Identifier: Apache-2.0

// Command nri-runtime plays a container runtime for several plugins at once, each on a socket of its
// own, and times what they cost. Requests go to the plugins in turns of small blocks, so whatever
// else the machine does meets all of them alike. It prints one JSON document.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/version"

	"railhead/tests/bench/peers/fakeruntime"
	"railhead/tests/bench/peers/workload"
)

type settings struct {
	plugins    []subject
	requests   int
	block      int
	warmUp     int
	starts     int
	containers int
	settle     time.Duration
	gpus       string
	shape      workload.Shape
	folder     string
	sandbox    time.Duration
	justAsk    bool
}

// subject is one plugin under test.
type subject struct {
	Name    string `json:"name"`
	Command string `json:"command"`
}

// report of one plugin. Times are in microseconds unless the name says otherwise.
type report struct {
	subject
	Gpu             latencies `json:"gpu"`     // container that holds a GPU
	Plain           latencies `json:"plain"`   // container without one
	Sandbox         latencies `json:"sandbox"` // RunPodSandbox of the pods of both, where it is sent
	CPUGpu          float64   `json:"cpu_gpu_us"`
	CPUPlain        float64   `json:"cpu_plain_us"`
	Adjusted        answer    `json:"gpu_answer"`
	PlainAdjusted   answer    `json:"plain_answer"`
	Idle            usage     `json:"idle"`
	AfterRequests   usage     `json:"after_requests"`
	AfterSync       usage     `json:"after_sync"`
	AfterSyncSettle usage     `json:"after_sync_settled"`
	StartMs         []float64 `json:"start_ms"`
	StartSyncMs     []float64 `json:"start_with_state_ms"`
}

// Where a block is so long that its garbage would fill the machine, it is collected after all.
const memoryLimit = 1 << 30

func main() {
	s := settings{shape: workload.Typical}
	flag.Func("plugin", "NAME=COMMAND with the word {socket} in it; repeatable", func(text string) error {
		name, command, found := strings.Cut(text, "=")
		if !found {
			return fmt.Errorf("%q is not NAME=COMMAND", text)
		}
		s.plugins = append(s.plugins, subject{name, command})
		return nil
	})
	flag.IntVar(&s.requests, "requests", 5000, "CreateContainer requests of each kind for each plugin")
	flag.IntVar(&s.block, "block", 400, "requests before it is the next plugin's turn")
	flag.IntVar(&s.warmUp, "warm-up", 200, "requests that are not counted")
	flag.IntVar(&s.starts, "starts", 10, "process starts of each plugin")
	flag.IntVar(&s.containers, "containers", 3000, "containers of the large Synchronize")
	flag.DurationVar(&s.settle, "settle", time.Second, "pause before memory is read")
	flag.DurationVar(&s.sandbox, "sandbox", -1,
		"send RunPodSandbox so long before each CreateContainer; below zero: send none")
	flag.BoolVar(&s.justAsk, "just-ask", false, "leave out the process starts")
	stepwise := flag.Bool("steps", false, "do with the one plugin what standard input says, see steps.go")
	flag.StringVar(&s.gpus, "gpus", "", "NVIDIA_VISIBLE_DEVICES of the GPU container")
	flag.IntVar(&s.shape.Env, "env", s.shape.Env, "environment variables of a container")
	flag.IntVar(&s.shape.Mounts, "mounts", s.shape.Mounts, "mounts of a container")
	flag.Parse()
	fakeruntime.Silence()
	debug.SetMemoryLimit(memoryLimit)
	work := run
	if *stepwise {
		work = runSteps
	}
	if err := inFolder(&s, work); err != nil {
		fmt.Fprintln(os.Stderr, "nri-runtime:", err)
		os.Exit(1)
	}
}

// inFolder does the work with a folder for sockets and logs.
func inFolder(s *settings, work func(*settings) error) error {
	folder, err := os.MkdirTemp("", "railhead-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s.folder = folder
	return work(s)
}

func run(s *settings) error {
	if len(s.plugins) == 0 || s.gpus == "" || s.requests < s.block || s.block < 1 {
		return fmt.Errorf("need -plugin, -gpus, and at least one block of requests")
	}
	reports := make([]*report, len(s.plugins))
	for i, plugin := range s.plugins {
		reports[i] = &report{subject: plugin}
	}
	phases := []func(*settings, []*report) error{timeRequests, timeStarts, timeLargeStarts}
	if s.justAsk {
		phases = phases[:1]
	}
	for _, phase := range phases {
		if err := phase(s, reports); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(map[string]any{
		"go": runtime.Version(), "nri": version.GetFromBuildInfo(), "requests": s.requests,
		"block": s.block, "containers": s.containers, "starts": s.starts,
		"env": s.shape.Env, "mounts": s.shape.Mounts, "plugins": reports,
	})
}
