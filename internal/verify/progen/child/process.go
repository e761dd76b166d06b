package child

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// Process is a program that answers questions, one after another. It is not safe for concurrent
// use.
type Process struct {
	Command  []string      // the program's name and its arguments
	Env      []string      // besides that of this process
	Patience time.Duration // how long an answer may take

	cmd     *exec.Cmd // nil if it does not run
	stdin   io.Closer
	stderr  *head
	send    *gob.Encoder
	receive *gob.Decoder
}

// Start starts the program unless it runs, and decodes what it says first into hello, unless that is nil. An error
// is one of the surroundings. When ctx is done the process is killed.
func (p *Process) Start(ctx context.Context, hello any) error {
	if p.cmd != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Env = append(cmd.Environ(), p.Env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.stderr = &head{}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("child: %w", err)
	}
	p.cmd, p.stdin, p.send, p.receive = cmd, stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)
	if hello == nil {
		return nil
	}
	return p.wait(func() error { return p.receive.Decode(hello) })
}

// Ask sends a question and decodes the answer. The process must have been started. An error describes how the
// process ended.
func (p *Process) Ask(question, answer any) error {
	return p.wait(func() error {
		if err := p.send.Encode(question); err != nil {
			return err
		}
		return p.receive.Decode(answer)
	})
}

// wait calls f, which talks with the process. Where f fails, or takes too long, the process is no more.
func (p *Process) wait(f func() error) error {
	kill := p.killAfter(p.Patience)
	err := f()
	hung := !kill.Stop()
	if err == nil {
		return nil
	}
	p.Stop()
	name := filepath.Base(p.Command[0])
	if hung {
		return fmt.Errorf("child: %s took longer than %v", name, p.Patience)
	}
	return fmt.Errorf("child: %s ended (%w): %s", name, err, p.stderr)
}

// grace is how long a process may take to end when there are no more questions.
const grace = 10 * time.Second

// Stop ends the process, if it runs.
func (p *Process) Stop() {
	if p.cmd == nil {
		return
	}
	p.stdin.Close()
	kill := p.killAfter(grace)
	p.cmd.Wait() // whether it ended well does not matter any more
	kill.Stop()
	p.cmd = nil
}

func (p *Process) killAfter(d time.Duration) *time.Timer {
	process := p.cmd.Process
	return time.AfterFunc(d, func() { process.Kill() })
}

// head keeps the beginning of what is written: Go's runtime says there why a program ends.
type head struct{ bytes.Buffer }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	if room := 3000 - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
