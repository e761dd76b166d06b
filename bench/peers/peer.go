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

// patience is how long a peer may take to answer: the first call of a framework compiles.
const patience = 90 * time.Second

// Peer is a framework in a process. Its methods are called by one goroutine at a time. After an error other
// than a *Refusal the process is gone and they all return that error.
type Peer struct {
	Name  string
	About string // with its version
	cases []string

	command *exec.Cmd
	in      io.WriteCloser
	answers chan answer // closed when the process has ended and said is whole
	said    *tail
	err     error
}

// Refusal is what a peer says that could not do what it was asked, and goes on.
type Refusal struct{ Peer, Why string }

// Error returns the peer's name and what it says.
func (r *Refusal) Error() string { return r.Peer + ": " + r.Why }

// answer is a line that a process writes.
type answer struct {
	About   string   `json:"about"`
	Cases   []string `json:"cases"`
	Seconds float64  `json:"seconds"`
	Error   string   `json:"error"`
	broken  error    // why it could not be read
}

// launch starts a process and waits for its first words.
func launch(ctx context.Context, name string, command *exec.Cmd) (*Peer, error) {
	p := &Peer{Name: name, command: command, answers: make(chan answer), said: &tail{}}
	command.Stderr, command.WaitDelay = p.said, time.Second // what it started may hold the pipe open
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

// listen hands on what the process writes until it ends, and waits for it: what it complained about comes through
// another pipe, which is read to its end by then.
func (p *Peer) listen(out io.Reader) {
	defer close(p.answers)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			a.broken = fmt.Errorf("%s: %q is no answer: %w", p.Name, lines.Text(), err)
		}
		p.answers <- a
	}
	if lines.Err() != nil { // a line without an end
		p.command.Process.Kill()
	}
	p.command.Wait() // how it ended says nothing
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

// ask writes a line and waits for the answer to it.
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

// Has reports whether the peer is there and knows a case.
func (p *Peer) Has(name string) bool { return p.err == nil && slices.Contains(p.cases, name) }

// Err returns why the process is gone, or nil.
func (p *Peer) Err() error { return p.err }

// Prepare makes random inputs of a size for a case, runs it once and checks the result.
func (p *Peer) Prepare(ctx context.Context, name string, size int) error {
	_, err := p.ask(ctx, fmt.Sprintf("prepare %s %d", name, size))
	return err
}

// Round runs the case that was prepared, and returns the device's time of it.
func (p *Peer) Round(ctx context.Context) (time.Duration, error) {
	a, err := p.ask(ctx, "round")
	if err == nil && a.Seconds <= 0 {
		err = &Refusal{p.Name, fmt.Sprintf("a run of %v s", a.Seconds)}
	}
	return time.Duration(a.Seconds * 1e9), err
}

// End frees what Prepare made.
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
	for range p.answers { // until it has ended
	}
	return nil
}
