// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process costs at one moment.
type Usage struct {
	Rss     int64 `json:"rss_kb"`  // VmRSS
	Peak    int64 `json:"peak_kb"` // VmHWM, the highest it ever was
	Anon    int64 `json:"anon_kb"` // RssAnon, the part of it that no other process can share
	Threads int64 `json:"threads"`
}

// Usage reads /proc/PID/status.
func (p *Process) Usage() (Usage, error) {
	var usage Usage
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return usage, err
	}
	fields := map[string]*int64{
		"VmRSS": &usage.Rss, "VmHWM": &usage.Peak, "RssAnon": &usage.Anon, "Threads": &usage.Threads,
	}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		if field := fields[key]; field != nil {
			if words := strings.Fields(value); len(words) > 0 {
				*field, _ = strconv.ParseInt(words[0], 10, 64)
			}
		}
	}
	return usage, nil
}

// CPU is the time that all threads have spent running, with the nanosecond resolution of schedstat
// (utime and stime of /proc/PID/stat count in ticks of 10 ms). A thread that ended is not in it.
func (p *Process) CPU() (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Pid()))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no schedstat of process %d", p.Pid())
	}
	var total time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		running, _, _ := strings.Cut(string(text), " ")
		nanoseconds, err := strconv.ParseInt(running, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		total += time.Duration(nanoseconds)
	}
	return total, nil
}
