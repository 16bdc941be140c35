// SPDX-License-Identifier: Apache-2.0

// Package process starts a plugin as a child and ends it again, and only it.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Process is a running plugin.
type Process struct {
	cmd     *exec.Cmd
	done    chan struct{}
	waitErr error
	log     string
}

// Start runs a command line; the word {socket} in it is replaced. What the plugin prints goes to
// the file `log`, as a container runtime would keep it.
func Start(commandLine, socket, log string) (*Process, error) {
	words := strings.Fields(strings.ReplaceAll(commandLine, "{socket}", socket))
	if len(words) == 0 {
		return nil, errors.New("empty plugin command")
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = output, output
	// A session of its own is a group of its own for the scheduler (sched(7), autogroup), as the
	// control groups of a runtime and of a plugin's pod are on a node.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{}), log: log}
	go func() {
		p.waitErr = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Pid of the plugin.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Alive tells whether the plugin has not exited.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Kill ends the plugin as a crash would.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop asks the plugin to end and, after `patience`, makes it. It returns how the plugin ended: nil
// for exit status 0.
func (p *Process) Stop(patience time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return p.waitErr
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("not ended %v after SIGTERM", patience)
	}
}

// Output is the last part of what the plugin printed.
func (p *Process) Output(lines int) string {
	text, _ := os.ReadFile(p.log)
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return string(bytes.Join(all, []byte("\n")))
}
