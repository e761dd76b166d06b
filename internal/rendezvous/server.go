package rendezvous

import (
	"cmp"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// server accepts the processes of the job, in the process of rank 0.
type server struct {
	listener net.Listener
	world    int
	payload  []byte
	secret   []byte
	began    time.Time
	patience time.Duration // for the proof of a new connection
	unproved chan struct{} // contains an element for each connection that has not proved anything yet
	silence  time.Duration
	combine  func(blocks [][]byte) []byte

	mu      sync.Mutex
	conns   map[int]*jsonConn
	starts  map[int][]byte // the proofs of this process, by the rank that receives them
	left    map[int]bool
	lost    []int
	started bool
	failed  bool
	asked   map[int]*question // by number
	next    int
	given   map[int][]byte // to the present call of Exchange, by rank
	call    int            // its number
}

// question is a question of one process, until all have answered.
type question struct {
	from    int
	number  int // the process's number for it
	of      int
	answers map[int]int64
}

// maxUnproved bounds the connections that have not proved anything yet. Further connections wait in
// the system's queue.
const maxUnproved = 64

func serve(address string, o Options) (*server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("rendezvous: rank 0 cannot listen: %w (Options.Listen chooses another address)", err)
	}
	s := &server{
		listener: l, world: o.World, payload: slices.Clone(o.Payload), secret: slices.Clone(o.Secret), began: time.Now(),
		patience: cmp.Or(o.patience, helloTime), unproved: make(chan struct{}, maxUnproved),
		conns: map[int]*jsonConn{}, starts: map[int][]byte{}, left: map[int]bool{}, asked: map[int]*question{},
		silence: o.Silence, combine: o.Combine, given: map[int][]byte{}, call: 1,
	}
	go s.accept()
	return s, nil
}

// acceptPause is the pause after a failure to accept, such as a lack of file descriptors.
const acceptPause = 10 * time.Millisecond

func (s *server) accept() {
	for {
		s.unproved <- struct{}{}
		c, err := s.listener.Accept()
		switch {
		case err == nil:
			go s.talk(newJSONConn(c))
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		<-s.unproved
		time.Sleep(acceptPause)
	}
}

// talk serves one process until its connection ends.
func (s *server) talk(l *jsonConn) {
	defer l.close()
	h, proof := s.meet(l)
	<-s.unproved
	if h == nil {
		return // it does not belong to the job
	}
	if err := s.enter(l, h, proof); err != nil {
		_ = l.send(message{Fail: &fail{Text: err.Error()}})
		return
	}
	go l.live(s.silence)
	for {
		m, err := l.hear(s.silence)
		if err != nil {
			s.ended(h.Rank)
			return
		}
		switch {
		case m.Leave:
			s.leave(h.Rank)
		case m.Ask != 0:
			s.ask(h.Rank, m.Ask)
		case m.At != nil:
			s.answered(h.Rank, m.At)
		case m.Give != nil && !s.give(h.Rank, m.Give):
			s.ended(h.Rank)
			return
		}
	}
}

// meet returns the identity of a new connection and this side's proof for it, or nil if the other
// side does not prove in time that it has the secret.
func (s *server) meet(l *jsonConn) (h *hello, proof []byte) {
	challenge := newChallenge()
	if l.conn.SetReadDeadline(time.Now().Add(s.patience)) != nil || l.send(message{Challenge: challenge}) != nil {
		return nil, nil
	}
	m, err := l.receive(maxHello)
	if err != nil || m.Hello == nil || len(m.Hello.Challenge) != challengeBytes {
		return nil, nil
	}
	if !hmac.Equal(m.Hello.Proof, m.Hello.proof(s.secret, joining, challenge)) {
		_ = l.send(message{Fail: &fail{Text: "the secret differs from that of rank 0"}})
		return nil, nil
	}
	if l.conn.SetReadDeadline(time.Time{}) != nil {
		return nil, nil
	}
	return m.Hello, m.Hello.proof(s.secret, serving, challenge)
}

// enter adds a process, and starts the job if it is the last one.
func (s *server) enter(l *jsonConn, h *hello, proof []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case h.World != s.world:
		return fmt.Errorf("rank %d expects %d processes, rank 0 %d", h.Rank, h.World, s.world)
	case h.Rank < 0 || h.Rank >= s.world:
		return fmt.Errorf("there is no rank %d of %d", h.Rank, s.world)
	case s.conns[h.Rank] != nil:
		return fmt.Errorf("there are two processes of rank %d", h.Rank)
	case s.failed:
		return errors.New("rank 0 has stopped waiting for the job's processes")
	}
	s.conns[h.Rank], s.starts[h.Rank] = l, proof
	if len(s.conns) == s.world {
		s.started = true
		for rank, l := range s.conns {
			_ = l.send(message{Start: &start{s.payload, s.starts[rank]}})
		}
	}
	return nil
}

// tell sends a message to all processes, without waiting for any. The lock is held. If a process
// cannot be reached, it has ended, which the goroutine that reads from it detects.
func (s *server) tell(m message) {
	for _, rank := range slices.Sorted(maps.Keys(s.conns)) {
		if !s.left[rank] {
			_ = s.conns[rank].send(m)
		}
	}
}

// giveUp sends the missing ranks to the processes that have joined, unless none is missing.
func (s *server) giveUp() (missing []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return nil
	}
	s.failed = true
	for rank := range s.world {
		if s.conns[rank] == nil {
			missing = append(missing, rank)
		}
	}
	s.tell(message{Fail: &fail{Missing: missing, After: int64(time.Since(s.began))}})
	return missing
}

// ended records that a process's connection has ended.
func (s *server) ended(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		delete(s.conns, rank) // it may connect again
		return
	}
	if s.left[rank] {
		return
	}
	s.left[rank] = true
	s.lost = append(s.lost, rank)
	s.tell(message{Lost: slices.Clone(s.lost)})
}

func (s *server) leave(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[rank] = true
}

// ask forwards a process's question to all processes.
func (s *server) ask(rank, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.asked[s.next] = &question{from: rank, number: number, of: len(s.conns) - len(s.left), answers: map[int]int64{}}
	s.tell(message{Ask: s.next})
}

// answered forwards an answer to the process that asked.
func (s *server) answered(rank int, a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.asked[a.Question]
	if q == nil {
		return
	}
	q.answers[rank] = a.At[rank]
	if l := s.conns[q.from]; l != nil {
		_ = l.send(message{At: &answer{q.number, q.of, maps.Clone(q.answers)}})
	}
	if len(q.answers) == q.of {
		delete(s.asked, a.Question)
	}
}

// close stops listening after all processes have left or ended, or when the context is done.
func (s *server) close(ctx context.Context) error {
	for ctx.Err() == nil && !s.empty() {
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.mu.Lock()
	lines := slices.Collect(maps.Values(s.conns))
	s.mu.Unlock()
	for _, l := range lines {
		l.close()
	}
	last := time.After(closeTime)
	for _, l := range lines {
		select {
		case <-l.done:
		case <-last:
			_ = l.conn.Close()
			last = time.After(0)
		}
	}
	return s.listener.Close()
}

// closeTime bounds how long close waits until all messages were written.
const closeTime = 2 * time.Second

func (s *server) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left) == len(s.conns)
}
