// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// eachField calls `visit` for the fields of a message that are bytes, until they are malformed.
func eachField(message []byte, visit func(number protowire.Number, value []byte)) {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return
		}
		message = message[size:]
		if kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(message)
			if size < 0 {
				return
			}
			visit(number, value)
			message = message[size:]
			continue
		}
		if size = protowire.ConsumeFieldValue(number, kind, message); size < 0 {
			return
		}
		message = message[size:]
	}
}

func textField(message []byte, wanted protowire.Number) (text string) {
	eachField(message, func(number protowire.Number, value []byte) {
		if number == wanted {
			text = string(value)
		}
	})
	return text
}

// count of a ListAndWatchResponse: its devices (1), and those whose health (2) is not "Healthy".
func count(list []byte) (devices, unhealthy int) {
	eachField(list, func(number protowire.Number, device []byte) {
		if number != 1 {
			return
		}
		devices++
		if textField(device, 2) != "Healthy" {
			unhealthy++
		}
	})
	return devices, unhealthy
}

func field(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

func join(fields ...[]byte) (message []byte) {
	for _, one := range fields {
		message = append(message, one...)
	}
	return message
}

// podResources answers Get with one container of the pod, and GetAllocatableResources with the GPU.
func podResources(method string, request []byte, resource, gpu string) ([]byte, error) {
	held := join(field(1, []byte(resource)), field(2, []byte(gpu)))
	switch method[strings.LastIndexByte(method, '/')+1:] {
	case "Get":
		container := join(field(1, []byte("main")), field(2, held))
		return field(1, join(field(1, []byte(textField(request, 1))), field(2, []byte(textField(request, 2))),
			field(3, container))), nil
	case "List":
		return nil, nil
	case "GetAllocatableResources":
		return field(1, held), nil
	}
	return nil, status.Error(codes.Unimplemented, method)
}
