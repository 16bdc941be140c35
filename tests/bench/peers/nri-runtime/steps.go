// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"

	"railhead/tests/bench/peers/workload"
)

// runSteps connects the one plugin, prints its process id, and then does one step for each line of
// standard input and prints what came of it, one JSON document a line:
//
//	ask REQUESTS gpu|plain            one after another
//	pace REQUESTS MICROSECONDS BYTES  of a container with a GPU, at fixed times, in a pod with so many
//	                                  bytes of annotations that mean nothing
//	usage                             memory and threads
func runSteps(s *settings) error {
	if len(s.plugins) != 1 || s.gpus == "" {
		return fmt.Errorf("need one -plugin and -gpus")
	}
	c, err := connect(s, s.plugins[0], nil, nil)
	if err != nil {
		return err
	}
	defer c.close()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]int{"pid": c.plugin.Pid()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		result, err := step(s, c, lines.Text())
		if err == nil {
			err = out.Encode(result)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; it printed:\n%s", lines.Text(), err, c.plugin.Output(10))
		}
	}
	return lines.Err()
}

func step(s *settings, c *session, line string) (any, error) {
	var requests, period, bytes int
	var gpus string
	if _, err := fmt.Sscanf(line, "ask %d %s", &requests, &gpus); err == nil {
		k := kind{}
		if gpus == "gpu" {
			k.gpus = s.gpus
		}
		err := block(s, c, &k, requests)
		return map[string]any{"answer": k.answer, "times": summarize(k.times)}, err
	}
	if _, err := fmt.Sscanf(line, "pace %d %d %d", &requests, &period, &bytes); err == nil {
		return pace(s, c, requests, time.Duration(period)*time.Microsecond, bytes)
	}
	if line == "usage" {
		return c.plugin.Usage()
	}
	return nil, fmt.Errorf("no such step")
}

const (
	tooLate  = 2 * time.Second // a runtime's patience with a plugin (pkg/adaptation, DefaultPluginRequestTimeout)
	hopeless = 4 * time.Second
)

// paced tells how requests fared that came at fixed times. Whoever holds up one answer holds up all
// that wait behind it, since a runtime asks with a lock held: their times count from when they came.
// One without its adjustment counts as too late, and those that could not even be sent `hopeless` after
// the last was to come.
type paced struct {
	Times  []float64 `json:"us"`
	Failed int       `json:"failed"` // without the adjustment: the plugin was dropped, or gave up
}

func pace(s *settings, c *session, requests int, period time.Duration, bytes int) (*paced, error) {
	pod := workload.HostPod(0)
	annotate(pod, bytes)
	containers := make([]*api.Container, requests)
	for i := range containers {
		containers[i] = workload.Container(i, pod, s.shape, s.gpus)
	}
	out := &paced{Times: make([]float64, 0, requests)}
	begin := time.Now()
	last := begin.Add(time.Duration(requests)*period + hopeless)
	for i, container := range containers {
		if time.Now().After(last) {
			out.Failed++
			out.Times = append(out.Times, float64(tooLate.Microseconds()))
			continue
		}
		came := begin.Add(time.Duration(i) * period)
		if wait := time.Until(came); wait > 0 {
			time.Sleep(wait)
			came = time.Now() // an alarm that rings late is not the plugin's fault
		}
		adjustment, err := c.runtime.Create(pod, container)
		took := time.Since(came)
		if err != nil || len(adjustment.GetLinux().GetDevices()) == 0 {
			out.Failed++
			took = max(took, tooLate)
		}
		out.Times = append(out.Times, float64(took.Nanoseconds())/1000)
	}
	return out, nil
}

// annotate adds about so many bytes, a kilobyte each; every second one is of Railhead's domain.
func annotate(pod *api.PodSandbox, bytes int) {
	domains := []string{"example.com", "rdma.railhead.io"}
	for i := range bytes / 1024 {
		pod.Annotations[fmt.Sprintf("%s/note-%04d", domains[i%2], i)] = strings.Repeat("x", 1000)
	}
}
