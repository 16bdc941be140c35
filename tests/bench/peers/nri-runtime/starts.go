// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"time"

	"github.com/containerd/nri/pkg/adaptation"

	"railhead/tests/bench/peers/workload"
)

const largeStarts = 3

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// timeStarts measures from before the plugin's process exists until it is synchronized with a
// runtime that holds no container.
func timeStarts(s *settings, reports []*report) error {
	for range s.starts {
		for i, plugin := range s.plugins {
			runtime.GC()
			c, err := connect(s, plugin, nil, nil)
			if err != nil {
				return err
			}
			reports[i].StartMs = append(reports[i].StartMs, milliseconds(c.start))
			c.close()
		}
	}
	return nil
}

// timeLargeStarts does the same with many containers, and reads the memory right after and later.
func timeLargeStarts(s *settings, reports []*report) error {
	// A machine that is busy with other work may need more than a runtime's two seconds for this.
	adaptation.SetPluginRequestTimeout(patience)
	defer adaptation.SetPluginRequestTimeout(adaptation.DefaultPluginRequestTimeout)
	pods, containers := workload.State(s.containers, s.shape)
	for range largeStarts {
		for i, plugin := range s.plugins {
			runtime.GC()
			c, err := connect(s, plugin, pods, containers)
			if err != nil {
				return err
			}
			reports[i].StartSyncMs = append(reports[i].StartSyncMs, milliseconds(c.start))
			if reports[i].AfterSync, err = c.plugin.Usage(); err == nil {
				time.Sleep(s.settle)
				reports[i].AfterSyncSettle, err = c.plugin.Usage()
			}
			c.close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}
