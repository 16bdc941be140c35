// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"railhead/tests/bench/peers/fakeruntime"
)

// A runtime in a process of its own, to be killed by its parent: "runtime SOCKET GPUS".
const (
	runtimeCommand  = "runtime"
	runtimeAdjusted = "container adjusted"
)

func playRuntime(arguments []string) {
	if len(arguments) != 2 {
		os.Exit(64)
	}
	fakeruntime.Silence()
	socket, gpus := arguments[0], arguments[1]
	r, err := fakeruntime.Start(fakeruntime.Options{
		Socket: socket, NoPlugins: filepath.Join(filepath.Dir(socket), "none"),
	})
	if err == nil {
		_, err = r.WaitSynchronized(patience)
	}
	if err == nil {
		err = (&lab{settings: &settings{gpus: gpus}}).adjusts(r)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(runtimeAdjusted)
	select {} // until killed
}
