// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"railhead/tests/bench/peers/fakeruntime"
	"railhead/tests/bench/peers/process"
)

const exits = "the plugin exits when the connection ends"

// longWait is what a plugin may wait for its registration: the accept loop of a runtime is serial, so
// a slow plugin before it may take seconds.
const longWait = 40 * time.Second

func survivalChecks() []check {
	return []check{
		{"its death fails no container, and a new one is taken in", everybody, "", plugsInAgain},
		{"waits for a runtime that is not there yet", railheadOnly, "it exits", waitsForRuntime},
		{"survives a runtime that is killed and started again", railheadOnly, exits, runtimeRestart},
		{"survives a runtime that accepts and closes", railheadOnly, exits, hostile(3, closeAtOnce)},
		{"gives up on a runtime that never answers", railheadOnly, exits, hostile(1, neverAnswer)},
		{"survives a frame of 4 GiB", railheadOnly, exits, hostile(3, oversizedFrame)},
		{"survives garbage", railheadOnly, exits, hostile(3, garbage)},
		{"survives a truncated frame", railheadOnly, exits, hostile(3, truncated)},
	}
}

func plugsInAgain(l *lab) error {
	r, p, err := l.connected(fakeruntime.Options{})
	if err != nil {
		return err
	}
	p.Kill()
	if _, err := create(r, 1, l.gpus); err != nil {
		return fmt.Errorf("creation without the plugin failed: %w", err)
	}
	if _, err := l.start(l.plugin); err != nil {
		return err
	}
	if _, err := r.WaitSynchronized(patience); err != nil {
		return err
	}
	return l.adjusts(r)
}

func waitsForRuntime(l *lab) error {
	p, err := l.start(l.plugin)
	if err != nil {
		return err
	}
	time.Sleep(700 * time.Millisecond)
	return l.servedAgain(p)
}

// servedAgain starts the real runtime on the lab's socket and expects the very same process there.
func (l *lab) servedAgain(p *process.Process) error {
	r, err := l.runtime(fakeruntime.Options{})
	if err != nil {
		return err
	}
	if _, err := r.WaitSynchronized(patience); err != nil {
		return err
	}
	if !p.Alive() {
		return errors.New("the plugin ended")
	}
	return l.adjusts(r)
}

// runtimeRestart kills the runtime as a crash would: its socket file stays behind.
func runtimeRestart(l *lab) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var plugin *process.Process
	for i := range 3 {
		runtime, err := l.start(fmt.Sprintf("%s %s {socket} %s", self, runtimeCommand, l.gpus))
		if err != nil {
			return err
		}
		if i == 0 {
			if plugin, err = l.start(l.plugin); err != nil {
				return err
			}
		}
		if err := waitOutput(runtime, runtimeAdjusted); err != nil {
			return fmt.Errorf("runtime %d: %w", i+1, err)
		}
		runtime.Kill()
	}
	if !plugin.Alive() {
		return errors.New("the plugin ended")
	}
	return nil
}

func waitOutput(p *process.Process, text string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(p.Output(20), text) {
			return nil
		}
	}
	return fmt.Errorf("no %q within %v", text, patience)
}

// hostile plays a bad runtime for some connections, then a good one.
func hostile(connections int, behave func(net.Conn) error) func(*lab) error {
	return func(l *lab) error {
		listener, err := net.Listen("unix", l.socket())
		if err != nil {
			return err
		}
		p, err := l.start(l.plugin)
		if err != nil {
			listener.Close()
			return err
		}
		for i := range connections {
			if err := serveOnce(listener, behave); err != nil {
				listener.Close()
				return fmt.Errorf("connection %d: %w", i+1, err)
			}
		}
		listener.Close()
		if usage, err := p.Usage(); err != nil {
			return err
		} else if usage.Rss > 128<<10 {
			return fmt.Errorf("its memory grew to %d MiB", usage.Rss>>10)
		}
		return l.servedAgain(p)
	}
}

func serveOnce(listener net.Listener, behave func(net.Conn) error) error {
	if err := listener.(*net.UnixListener).SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	conn, err := listener.Accept()
	if err != nil {
		return fmt.Errorf("the plugin did not connect again: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(longWait))
	return behave(conn)
}

func closeAtOnce(net.Conn) error { return nil }

// neverAnswer reads until the plugin gives up.
func neverAnswer(conn net.Conn) error { return readToEnd(conn) }

// readToEnd fails if the plugin does not hang up in time.
func readToEnd(conn net.Conn) error {
	buffer := make([]byte, 65536)
	for {
		_, err := conn.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("the plugin did not hang up within %v", longWait)
		}
		if err != nil {
			return nil
		}
	}
}

func frame(conn, length uint32, payload ...byte) []byte {
	header := binary.BigEndian.AppendUint32(nil, conn)
	return append(binary.BigEndian.AppendUint32(header, length), payload...)
}

func oversizedFrame(conn net.Conn) error {
	_, _ = conn.Write(frame(1, 0xffffffff, make([]byte, 4096)...))
	return readToEnd(conn) // the plugin has to hang up: there is no way to find the next frame
}

func garbage(conn net.Conn) error {
	source := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(source.Uint32())
	}
	_, _ = conn.Write(noise)
	if unix, ok := conn.(*net.UnixConn); ok {
		_ = unix.CloseWrite()
	}
	return readToEnd(conn)
}

func truncated(conn net.Conn) error {
	request := []byte{0, 0, 0, 100, 0, 0, 0, 1, 1, 0, 'p', 'a', 'r', 't'}
	_, _ = conn.Write(frame(1, 110, request...))
	return nil
}
