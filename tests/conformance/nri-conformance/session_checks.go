// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"railhead/tests/bench/peers/fakeruntime"
	"railhead/tests/bench/peers/workload"
)

func allChecks() []check {
	checks := []check{
		{"registers, is configured and synchronized", everybody, "", registers},
		{"subscribes to CreateContainer and to no validation", everybody, "", subscribesToTheLeast},
		{"asks to stay connected after a timeout", railheadOnly, "it sends no failure policy", keepsConnected},
		{"survives a Synchronize of 8 MB in chunks", everybody, "", chunkedSynchronize},
		{"survives a Synchronize of one container of 3 MB", everybody, "", hugeContainer},
		{"ends on SIGTERM with status 0", railheadOnly, "it handles no signal", endsCleanly},
	}
	checks = append(checks, answerChecks()...)
	return append(checks, survivalChecks()...)
}

func registers(l *lab) error {
	r, p, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	if !p.Alive() {
		return errors.New("the plugin ended after registration")
	}
	return l.adjusts(r)
}

// configured connects the plugin and returns the bytes of its ConfigureResponse.
func configured(l *lab) ([]byte, error) {
	var reply atomic.Pointer[[]byte]
	_, _, err := l.connected(fakeruntime.Options{Observe: func(ctx context.Context, request *ttrpc.Request,
		response *ttrpc.Response, _ *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
		err := invoke(ctx, request, response)
		if request.Method == "Configure" {
			reply.Store(&response.Payload)
		}
		return err
	}})
	if err != nil {
		return nil, err
	}
	if reply.Load() == nil {
		return nil, errors.New("no answer to Configure seen")
	}
	return *reply.Load(), nil
}

func subscribesToTheLeast(l *lab) error {
	payload, err := configured(l)
	if err != nil {
		return err
	}
	var reply api.ConfigureResponse
	if err := proto.Unmarshal(payload, &reply); err != nil {
		return err
	}
	const createContainer, validateAdjustment = 1 << 3, 1 << 13
	switch {
	case reply.Events == 0:
		return errors.New("events is 0, which means all of them")
	case reply.Events&createContainer == 0:
		return fmt.Errorf("events 0x%x lack CreateContainer", reply.Events)
	case reply.Events&validateAdjustment != 0:
		return fmt.Errorf("events 0x%x hold ValidateContainerAdjustment", reply.Events)
	}
	return nil
}

// keepsConnected looks for ConfigureResponse.failure_policy (3) .keep_connected (2), which a runtime
// before NRI 0.12.4 ignores.
func keepsConnected(l *lab) error {
	payload, err := configured(l)
	if err != nil {
		return err
	}
	policy, found := bytesField(payload, 3)
	if !found {
		return errors.New("the answer to Configure has no failure policy")
	}
	if !varintField(policy, 2) {
		return errors.New("keep_connected is not true")
	}
	return nil
}

func bytesField(message []byte, number protowire.Number) ([]byte, bool) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false
		}
		if field == number && kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(message[n:])
			return value, size >= 0
		}
		size := protowire.ConsumeFieldValue(field, kind, message[n:])
		if size < 0 {
			return nil, false
		}
		message = message[n+size:]
	}
	return nil, false
}

func varintField(message []byte, number protowire.Number) bool {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		if field == number && kind == protowire.VarintType {
			value, size := protowire.ConsumeVarint(message[n:])
			return size > 0 && value != 0
		}
		size := protowire.ConsumeFieldValue(field, kind, message[n:])
		if size < 0 {
			return false
		}
		message = message[n+size:]
	}
	return false
}

func chunkedSynchronize(l *lab) error {
	pods, containers := workload.State(400, workload.Shape{Env: 30, Mounts: 30, Filler: 16 << 10})
	var chunks atomic.Int32
	r, _, err := l.connected(fakeruntime.Options{Pods: pods, Containers: containers,
		Observe: func(ctx context.Context, request *ttrpc.Request, response *ttrpc.Response,
			_ *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
			err := invoke(ctx, request, response)
			if request.Method == "Synchronize" && err == nil {
				chunks.Add(1)
			}
			return err
		}})
	if err != nil {
		return err
	}
	if chunks.Load() < 2 {
		return fmt.Errorf("the state went in %d chunks: it is too small for this check", chunks.Load())
	}
	return l.adjusts(r)
}

func hugeContainer(l *lab) error {
	pods, containers := workload.State(1, workload.Shape{Env: 3, Mounts: 3, Filler: 3 << 20})
	r, _, err := l.connected(fakeruntime.Options{Pods: pods, Containers: containers})
	if err != nil {
		return err
	}
	return l.adjusts(r)
}

func endsCleanly(l *lab) error {
	_, p, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	return p.Stop(3 * time.Second)
}
