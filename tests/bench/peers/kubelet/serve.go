// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
)

// rawBytes hands messages over as they are.
type rawBytes struct{}

func (rawBytes) Marshal(value any) ([]byte, error) { return *value.(*[]byte), nil }

func (rawBytes) Unmarshal(data []byte, value any) error {
	*value.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (rawBytes) Name() string { return "proto" }

// handler answers a request with one message.
type handler func(method string, request []byte) ([]byte, error)

// serve listens on FOLDER/kubelet.sock.
func serve(folder string, answers handler) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "kubelet.sock"))
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawBytes{}),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			method, _ := grpc.MethodFromServerStream(stream)
			var request []byte
			if err := stream.RecvMsg(&request); err != nil {
				return err
			}
			answer, err := answers(method, request)
			if err != nil {
				return err
			}
			return stream.SendMsg(&answer)
		}))
	go func() { _ = server.Serve(listener) }()
	return nil
}
