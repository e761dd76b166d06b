package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// patience bounds the time for an answer of a peer: the first call of a framework compiles code.
const patience = 90 * time.Second

// Peer is a framework that runs in a process. Only one goroutine at a time may call its methods.
// After an error other than a *Refusal, the process has ended, and all methods return that error.
type Peer struct {
	Name  string
	About string // name and version
	cases []string

	command *exec.Cmd
	in      io.WriteCloser
	answers chan answer // closed when the process has ended and said is complete
	said    *tail
	err     error
}

// Refusal is the error of a peer that could not do what it was asked to do. The peer can still be
// used.
type Refusal struct{ Peer, Why string }

// Error returns the peer's name and the reason.
func (r *Refusal) Error() string { return r.Peer + ": " + r.Why }

// answer is a line of output of a process.
type answer struct {
	About   string   `json:"about"`
	Cases   []string `json:"cases"`
	Seconds float64  `json:"seconds"`
	Error   string   `json:"error"`
	broken  error    // the error of parsing the line
}

// launch starts a process and waits for its first answer.
func launch(ctx context.Context, name string, command *exec.Cmd) (*Peer, error) {
	p := &Peer{Name: name, command: command, answers: make(chan answer), said: &tail{}}
	command.Stderr, command.WaitDelay = p.said, time.Second // a child of the process may keep the pipe open
	in, errIn := command.StdinPipe()
	out, errOut := command.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p.in = in
	go p.listen(out)
	first, err := p.hear(ctx)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.About, p.cases = first.About, first.Cases
	return p, nil
}

// listen forwards the answers of the process until it ends, and waits for it. By then, all of its
// error output, which comes through another pipe, has been read.
func (p *Peer) listen(out io.Reader) {
	defer close(p.answers)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			a.broken = fmt.Errorf("%s: invalid answer %q: %w", p.Name, lines.Text(), err)
		}
		p.answers <- a
	}
	if lines.Err() != nil { // a line that is too long
		p.command.Process.Kill()
	}
	p.command.Wait() // the exit status adds no information
}

// hear waits for an answer.
func (p *Peer) hear(ctx context.Context) (answer, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a, ok := <-p.answers:
		switch {
		case !ok:
			p.err = fmt.Errorf("%s: its process ended: %s", p.Name, p.said.last())
		case a.broken != nil:
			p.err = a.broken
		case a.Error != "":
			return a, &Refusal{p.Name, a.Error}
		}
		return a, p.err
	case <-ctx.Done():
		p.err = ctx.Err()
	case <-timer.C:
		p.err = fmt.Errorf("%s: no answer for %v", p.Name, patience)
	}
	return answer{}, p.err
}

// ask writes a line and waits for the answer.
func (p *Peer) ask(ctx context.Context, line string) (answer, error) {
	if p.err != nil {
		return answer{}, p.err
	}
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.Close()
		p.err = fmt.Errorf("%s: its process ended: %s", p.Name, p.said.last())
		return answer{}, p.err
	}
	return p.hear(ctx)
}

// Has reports whether the peer is running and supports a case.
func (p *Peer) Has(name string) bool { return p.err == nil && slices.Contains(p.cases, name) }

// Err returns the error that ended the process, or nil.
func (p *Peer) Err() error { return p.err }

// Prepare makes random inputs of the given size for a case, runs the case once and checks the
// result.
func (p *Peer) Prepare(ctx context.Context, name string, size int) error {
	_, err := p.ask(ctx, fmt.Sprintf("prepare %s %d", name, size))
	return err
}

// Round runs the prepared case, and returns the time that it took on the device.
func (p *Peer) Round(ctx context.Context) (time.Duration, error) {
	a, err := p.ask(ctx, "round")
	if err == nil && a.Seconds <= 0 {
		err = &Refusal{p.Name, fmt.Sprintf("invalid time of %v s", a.Seconds)}
	}
	return time.Duration(a.Seconds * 1e9), err
}

// End frees the inputs that Prepare made.
func (p *Peer) End(ctx context.Context) error {
	_, err := p.ask(ctx, "end")
	return err
}

// Close ends the process.
func (p *Peer) Close() error {
	if p.err == nil {
		p.err = fmt.Errorf("%s: closed", p.Name)
	}
	p.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { p.command.Process.Kill() })
	defer timer.Stop()
	for range p.answers { // until the process has ended
	}
	return nil
}
