// SPDX-License-Identifier: Apache-2.0

// Command kubelet serves what a node agent asks a kubelet for: registration of device plugins, whose
// lists it reads, and PodResources, where every container "main" holds the one GPU. It prints a line
// for each list, when it has read it:
//
//	MONOTONIC-NANOSECONDS RESOURCE DEVICES UNHEALTHY
//
// Messages are walked in their bytes: decoding whole lists into objects would be most of the time that
// is to be measured. Numbers of fields are those of k8s.io/kubelet pkg/apis/{deviceplugin/v1beta1,
// podresources/v1}/api.proto.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	root := flag.String("root", "", "the kubelet's root folder")
	gpu := flag.String("gpu", "", "device id that every container holds; none: no PodResources")
	resource := flag.String("gpu-resource", "nvidia.com/gpu", "its resource")
	flag.Parse()
	if err := serveAll(*root, *gpu, *resource); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
}

func serveAll(root, gpu, resource string) error {
	plugins := filepath.Join(root, "device-plugins")
	services := map[string]handler{plugins: func(method string, request []byte) ([]byte, error) {
		go follow(plugins, textField(request, 2), textField(request, 3)) // endpoint, resource_name
		return nil, nil
	}}
	if gpu != "" {
		services[filepath.Join(root, "pod-resources")] = func(method string, request []byte) ([]byte, error) {
			return podResources(method, request, resource, gpu)
		}
	}
	for folder, answers := range services {
		if err := serve(folder, answers); err != nil {
			return err
		}
	}
	return nil
}

func monotonicNs() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return now.Nano()
}

// follow reads the lists of one plugin until it goes.
func follow(folder, endpoint, resource string) {
	connection, err := grpc.NewClient("unix:"+filepath.Join(folder, endpoint),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("localhost"),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(rawBytes{})))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", endpoint, err)
		return
	}
	defer connection.Close()
	lists, err := connection.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true},
		"/v1beta1.DevicePlugin/ListAndWatch")
	if err == nil {
		nothing := []byte{}
		err = lists.SendMsg(&nothing)
	}
	if err == nil {
		err = lists.CloseSend()
	}
	for err == nil {
		var list []byte
		if err = lists.RecvMsg(&list); err != nil {
			break
		}
		devices, unhealthy := count(list)
		fmt.Println(monotonicNs(), resource, devices, unhealthy)
	}
}
