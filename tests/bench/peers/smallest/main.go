// SPDX-License-Identifier: Apache-2.0

// Command smallest is the least that a plugin on the upstream Go stub can do: one device, one limit
// and one variable for every container. It is what Railhead's cost is compared with.
package main

import (
	"context"
	"flag"
	"log"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, _ *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjustment := &api.ContainerAdjustment{}
	adjustment.AddDevice(&api.LinuxDevice{
		Path: "/dev/infiniband/uverbs0", Type: "c", Major: 231, Minor: 192,
		FileMode: api.FileMode(os.FileMode(0o666)), Uid: api.UInt32(uint32(0)), Gid: api.UInt32(uint32(0)),
	})
	adjustment.AddRlimit("RLIMIT_MEMLOCK", 8<<20, 8<<20)
	adjustment.AddEnv("NCCL_IB_HCA", "=mlx5_0:1")
	return adjustment, nil, nil
}

func main() {
	socket := flag.String("nri-socket", api.DefaultSocketPath, "socket of the runtime")
	flag.Parse()
	instance, err := stub.New(plugin{}, stub.WithPluginName("smallest"), stub.WithPluginIdx("90"),
		stub.WithSocketPath(*socket))
	if err != nil {
		log.Fatal(err)
	}
	if err := instance.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
