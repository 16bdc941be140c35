// SPDX-License-Identifier: Apache-2.0

// Command reference is a plugin on the upstream Go stub to try the conformance checks on: what they
// expect of every plugin, this one does.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct {
	devices int
}

func (p plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, container *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjustment := &api.ContainerAdjustment{}
	if !strings.Contains(strings.Join(container.GetEnv(), "\n"), "NVIDIA_VISIBLE_DEVICES=") {
		return adjustment, nil, nil
	}
	for i := range p.devices {
		adjustment.AddDevice(&api.LinuxDevice{
			Path: fmt.Sprintf("/dev/infiniband/uverbs%d", i), Type: "c", Major: 231, Minor: int64(192 + i),
			FileMode: api.FileMode(os.FileMode(0o666)),
		})
	}
	adjustment.AddRlimit("RLIMIT_MEMLOCK", 8<<20, 8<<20)
	adjustment.AddEnv("NCCL_IB_HCA", "=mlx5_0:1")
	return adjustment, nil, nil
}

func main() {
	socket := flag.String("nri-socket", api.DefaultSocketPath, "socket of the runtime")
	devices := flag.Int("devices", 1, "devices to add")
	reconnect := flag.Bool("reconnect", false, "connect again for ever; the stub itself does not")
	flag.Parse()
	for {
		instance, err := stub.New(plugin{*devices}, stub.WithPluginName("reference"),
			stub.WithPluginIdx("90"), stub.WithSocketPath(*socket), stub.WithOnClose(func() {}))
		if err != nil {
			log.Fatal(err)
		}
		err = instance.Run(context.Background())
		if !*reconnect {
			log.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
