// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"
)

// latencies of one kind of request, in microseconds.
type latencies struct {
	P50 float64 `json:"p50_us"`
	P90 float64 `json:"p90_us"`
	P99 float64 `json:"p99_us"`
	Max float64 `json:"max_us"`
}

func summarize(times []time.Duration) latencies {
	if len(times) == 0 {
		return latencies{}
	}
	sorted := slices.Sorted(slices.Values(times))
	at := func(share float64) float64 {
		return float64(sorted[min(int(share*float64(len(sorted))), len(sorted)-1)].Nanoseconds()) / 1000
	}
	return latencies{at(0.5), at(0.9), at(0.99), at(1)}
}
