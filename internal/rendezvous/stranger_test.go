package rendezvous

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// meeting returns rank 0 of a job of two processes, listening.
func meeting(t *testing.T, patience time.Duration) *Member {
	t.Helper()
	o := Options{Address: address(t), Listen: "127.0.0.1:0", World: 2, Secret: []byte("ours"), Payload: []byte("payload"), patience: patience}
	m, err := newMember(o, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// partner returns rank 1 of the job of m, with a secret.
func (m *Member) partner(t *testing.T, secret string) *Member {
	t.Helper()
	p, err := newMember(Options{Address: m.address, Rank: 1, World: 2, Secret: []byte(secret)}, func() int64 { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// meets lets the two processes meet and leave, whatever has happened before.
func (m *Member) meets(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, joined := m.partner(t, "ours"), make(chan error, 1)
	go func() { joined <- p.join(ctx) }()
	if err := errors.Join(m.join(ctx), <-joined); err != nil {
		t.Fatal(err)
	}
	if string(p.Payload()) != "payload" {
		t.Errorf("the payload is %q", p.Payload())
	}
	leave(t, []*Member{m, p})
}

func TestSecret(t *testing.T) {
	m := meeting(t, 0)
	for _, secret := range []string{"", "theirs"} {
		err := m.partner(t, secret).join(t.Context())
		if !errors.Is(err, ErrJob) || !strings.Contains(err.Error(), "the secret differs") {
			t.Errorf("the secret %q: %v", secret, err)
		}
	}
	m.meets(t)
}

// TestImpostor connects to a process that listens at rank 0's address without the secret.
func TestImpostor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	defer l.Close()
	for _, answers := range [][]message{
		{{Challenge: newChallenge()}, {Start: &start{Payload: []byte("theirs"), Proof: make([]byte, 32)}}},
		{{Challenge: newChallenge()}, {Lost: []int{1}}},
	} {
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			line := newJSONConn(c)
			defer line.close()
			for _, a := range answers {
				_ = line.send(a)
			}
		}()
		m, err := newMember(Options{Address: l.Addr().String(), Rank: 1, World: 2, Secret: []byte("ours")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.join(t.Context()); !errors.Is(err, ErrJob) {
			t.Errorf("joined with %v", err)
		}
	}
}

// proofTime is how long strangers stay, and a hundred times what members need to prove themselves on a slow machine.
const proofTime = 500 * time.Millisecond

// TestStrangers connects like programs that do not belong to the job.
func TestStrangers(t *testing.T) {
	t.Parallel()
	m := meeting(t, proofTime)
	for name, text := range map[string]string{
		"silent":        "",
		"of another":    "GET / HTTP/1.1\r\n\r\n",
		"of the past":   `{"Hello":{"Rank":1,"World":2}}` + "\n",
		"without proof": `{"Leave":true}` + "\n",
		"without end":   strings.Repeat("[", 100<<10),
	} {
		c, err := net.Dial("tcp", m.address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text) // the other side may close the connection first
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection %s is still open", name)
		}
		_ = c.Close()
	}
	m.meets(t)
}

// TestCrowd opens more foreign connections than are served at the same time. Members can join after
// these have timed out.
func TestCrowd(t *testing.T) {
	t.Parallel()
	m := meeting(t, proofTime)
	for range 2 * maxUnproved {
		c, err := net.Dial("tcp", m.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	m.meets(t)
}

// TestDeaf sends a process more than it reads. Nobody waits for it.
func TestDeaf(t *testing.T) {
	ours, theirs := net.Pipe() // without a buffer
	defer theirs.Close()
	s := &server{world: 1, conns: map[int]*jsonConn{0: newJSONConn(ours)}, left: map[int]bool{}, asked: map[int]*question{}, started: true}
	for i := range maxWaiting + 1 { // the goroutine that writes has taken at most one of them
		s.ask(0, i+1)
	}
	if err := s.conns[0].send(message{Ask: 1}); err != nil && !errors.Is(err, errSlow) {
		t.Errorf("one message more: %v", err)
	}
	until(t, "the connection is closed", func() bool {
		_, err := ours.Write([]byte("x"))
		return errors.Is(err, io.ErrClosedPipe)
	})
	s.conns[0].close()
	<-s.conns[0].done
}

func TestListen(t *testing.T) {
	for _, c := range []struct{ address, listen, want string }{
		{"10.1.2.3:500", "", "10.1.2.3:500"},
		{"10.1.2.3:500", ":600", ":600"},
		{"[::1]:500", "", "[::1]:500"},
		{"localhost:500", "", "localhost:500"},
	} {
		if got, err := (&Options{Address: c.address, Listen: c.listen}).listen(); err != nil || got != c.want {
			t.Errorf("%s with %q: %q, %v, want %q", c.address, c.listen, got, err, c.want)
		}
	}
	if _, err := (&Options{Address: "10.1.2.3"}).listen(); err == nil {
		t.Error("an address without a port is accepted")
	}
}

func TestPayload(t *testing.T) {
	o := Options{Address: "127.0.0.1:0", World: 1, Payload: make([]byte, maxPayload+1)}
	if _, err := newMember(o, nil); !errors.Is(err, ErrJob) {
		t.Errorf("a payload that is too large: %v", err)
	}
	o.Payload = o.Payload[1:]
	m, err := newMember(o, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	if err := m.join(t.Context()); err != nil || len(m.Payload()) != maxPayload {
		t.Errorf("the largest payload: %v", err)
	}
	leave(t, []*Member{m})
}
