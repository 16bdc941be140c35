// SPDX-License-Identifier: Apache-2.0

// Command nri-conformance checks from outside, with the real NRI adaptation as the runtime, that a
// plugin keeps what NRI asks of it, and that nothing a runtime does makes it go away. It prints one
// line a check and a summary, and exits with 1 if a check failed.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"railhead/tests/bench/peers/fakeruntime"
)

// settings say what is under test.
type settings struct {
	plugin    string // command line; {socket} is replaced
	large     string // one whose answer is larger than 4096 bytes
	gpus      string
	largeGpus string
	upstream  bool // a plugin on the Go stub: what only Railhead promises is left out
	only      string
	verbose   bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == runtimeCommand {
		playRuntime(os.Args[2:])
		return
	}
	var s settings
	flag.StringVar(&s.plugin, "plugin", "", "command of the plugin, with the word {socket}")
	flag.StringVar(&s.large, "large", "", "the same with an answer of more than 4096 bytes")
	flag.StringVar(&s.gpus, "gpus", "", "NVIDIA_VISIBLE_DEVICES that the plugin acts on")
	flag.StringVar(&s.largeGpus, "large-gpus", "", "the same for -large")
	flag.BoolVar(&s.upstream, "upstream", false, "the plugin is one on the upstream Go stub")
	flag.StringVar(&s.only, "only", "", "run the checks whose name contains this")
	flag.BoolVar(&s.verbose, "verbose", false, "show what the adaptation logs")
	flag.Parse()
	if s.plugin == "" || s.gpus == "" {
		fmt.Fprintln(os.Stderr, "nri-conformance: need -plugin and -gpus")
		os.Exit(64)
	}
	if !s.verbose {
		fakeruntime.Silence()
	}
	fmt.Println("NRI", nriVersion())
	if !runAll(&s) {
		os.Exit(1)
	}
}

// nriVersion is that of the adaptation in this program.
func nriVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path != "github.com/containerd/nri" {
			continue
		}
		if module.Replace != nil {
			return module.Replace.Version
		}
		return module.Version
	}
	return "unknown"
}
