package compare

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
)

// patience is how long a trial may take in another process. They take milliseconds.
const patience = 90 * time.Second

// process is a program that answers questions (see trial.Serve). Where it comes to an end by one, it is
// started again for the next.
type process struct {
	name string
	env  []string

	cmd     *exec.Cmd // nil where it does not run
	stdin   io.Closer
	stderr  *head
	send    *gob.Encoder
	receive *gob.Decoder
	device  string
}

// start starts the program unless it runs. An error is one of the surroundings.
func (p *process) start(ctx context.Context) error {
	if p.cmd != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, p.name)
	cmd.Env = append(cmd.Environ(), p.env...)
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
		return fmt.Errorf("compare: %w", err)
	}
	p.cmd, p.stdin, p.send, p.receive = cmd, stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)
	var hello trial.Answer
	if err := p.wait(func() error { return p.receive.Decode(&hello) }); err != nil {
		return err
	}
	p.device = hello.Device
	return nil
}

// ask returns the answer to a question, or how the process came to an end.
func (p *process) ask(q trial.Question) (a trial.Answer, err error) {
	err = p.wait(func() error {
		if err := p.send.Encode(q); err != nil {
			return err
		}
		return p.receive.Decode(&a)
	})
	if a.Last {
		p.stop()
	}
	return a, err
}

// wait calls f, which talks with the process. Where f fails, or takes too long, the process is no more.
func (p *process) wait(f func() error) error {
	kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	err := f()
	if hung := !kill.Stop(); err != nil {
		p.stop()
		if hung {
			return fmt.Errorf("compare: %s took longer than %v", filepath.Base(p.name), patience)
		}
		return fmt.Errorf("compare: %s ended (%w): %s", filepath.Base(p.name), err, p.stderr)
	}
	return nil
}

// stop ends the process.
func (p *process) stop() {
	if p.cmd == nil {
		return
	}
	p.stdin.Close()
	kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	p.cmd.Wait() // whether it ended well does not matter any more
	kill.Stop()
	p.cmd = nil
}

// head keeps the beginning of what is written: Go's runtime says there why a program ends.
type head struct{ bytes.Buffer }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	if room := 2000 - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
