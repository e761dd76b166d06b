package rendezvous

import (
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

// Options describe the meeting place and this process.
type Options struct {
	Address string // of rank 0: "host:port"
	Rank    int    // 0 to World-1
	World   int    // number of processes
	Payload []byte // of rank 0, for all processes; Join copies it; at most 64 KiB
	// Secret is known only to the processes of the job. If it is empty, anyone who can connect can
	// join.
	Secret []byte
	// Listen is the address on which rank 0 listens. If it is empty, rank 0 listens on Address, or
	// on all of its addresses if the host of Address is a name that rank 0 resolves to a loopback
	// address (127.0.1.1).
	Listen string
	// Silence, unless it is 0, is the time after which a process from which nothing has arrived counts as lost: its machine has failed, or it was
	// stopped. All processes must have the same.
	Silence time.Duration
	// Combine returns the result of Exchange for what the processes have passed to it, by rank. Rank 0 calls it.
	Combine func(blocks [][]byte) []byte

	patience time.Duration // of rank 0 while it waits for a proof; 0 means helloTime
}

// Member is this process in a job.
type Member struct {
	rank, world int
	address     string // where the processes meet
	secret      []byte
	payload     []byte
	conn        *jsonConn
	server      *server // of rank 0; nil in other processes
	at          func() int64

	mu      sync.Mutex
	lost    chan struct{}
	err     error
	leaving bool
	ended   chan struct{} // closed when the connection has ended
	answers map[int]chan *answer
	asked   int

	silence time.Duration
	calls   int         // of Exchange
	results chan *block // of them
}

// retry is the time between two attempts to reach rank 0.
const retry = 50 * time.Millisecond

// Join waits until all processes have joined or ctx is done. In the second case, the error is a
// *MissingError that names the missing processes. The function at returns the progress of this
// process, for Where; it is called on another goroutine.
func Join(ctx context.Context, o Options, at func() int64) (*Member, error) {
	m, err := newMember(o, at)
	if err != nil {
		return nil, err
	}
	if err := m.join(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// newMember returns a process that has not joined yet. That of rank 0 already listens.
func newMember(o Options, progress func() int64) (*Member, error) {
	if len(o.Payload) > maxPayload {
		return nil, fmt.Errorf("rendezvous: a payload of %d bytes, at most %d are possible: %w", len(o.Payload), maxPayload, ErrJob)
	}
	if o.World < 1 || o.Rank < 0 || o.Rank >= o.World {
		return nil, fmt.Errorf("rendezvous: rank %d of %d: %w", o.Rank, o.World, ErrJob)
	}
	m := &Member{
		rank: o.Rank, world: o.World, address: o.Address, secret: slices.Clone(o.Secret), at: progress, lost: make(chan struct{}), ended: make(chan struct{}),
		answers: map[int]chan *answer{}, silence: o.Silence, results: make(chan *block, 1),
	}
	if o.Rank != 0 {
		return m, nil
	}
	at, err := o.listen()
	if err != nil {
		return nil, err
	}
	if m.server, err = serve(at, o); err != nil {
		return nil, err
	}
	m.address = m.server.listener.Addr().String()
	return m, nil
}

// listen returns the address on which rank 0 listens.
func (o *Options) listen() (string, error) {
	if o.Listen != "" {
		return o.Listen, nil
	}
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return "", fmt.Errorf("rendezvous: %w", err)
	}
	if host == "localhost" || net.ParseIP(host) != nil {
		return o.Address, nil
	}
	a, err := net.ResolveTCPAddr("tcp", o.Address)
	if err != nil {
		return "", fmt.Errorf("rendezvous: %w", err)
	}
	if a.IP.IsLoopback() {
		return ":" + port, nil
	}
	return a.String(), nil
}

// join waits until all processes have joined.
func (m *Member) join(ctx context.Context) error {
	err := m.enter(ctx, m.address)
	if err == nil {
		go m.listen()
		return nil
	}
	if m.conn != nil {
		m.conn.close()
	}
	if m.server != nil {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.server.close(done)
	}
	return err
}

// enter connects and waits for the start.
func (m *Member) enter(ctx context.Context, address string) error {
	began := time.Now()
	if err := m.connect(ctx, address); err != nil {
		return &MissingError{Ranks: []int{0}, World: m.world, After: time.Since(began), Err: err}
	}
	// If this process gives up, rank 0, which has the list, reports the missing ranks. If rank 0
	// gives up, it does so for all.
	stop := context.AfterFunc(ctx, func() {
		if m.server != nil {
			m.server.giveUp()
			return
		}
		_ = m.conn.conn.SetReadDeadline(time.Now().Add(time.Second))
	})
	defer stop()
	h := &hello{Rank: m.rank, World: m.world, Challenge: newChallenge()}
	answer, challenge, err := m.introduce(h)
	switch {
	case err != nil && ctx.Err() != nil:
		return &MissingError{World: m.world, After: time.Since(began), Err: ctx.Err()}
	case errors.Is(err, ErrJob):
		return fmt.Errorf("rendezvous: %s is not of this job: %w", address, err)
	case err != nil:
		return &LostError{Ranks: []int{0}}
	case answer.Fail != nil && answer.Fail.Text != "":
		return fmt.Errorf("rendezvous: %w: %s", ErrJob, answer.Fail.Text)
	case answer.Fail != nil:
		return &MissingError{Ranks: answer.Fail.Missing, World: m.world, After: time.Duration(answer.Fail.After), Err: context.DeadlineExceeded}
	case answer.Start == nil || !hmac.Equal(answer.Start.Proof, h.proof(m.secret, serving, challenge)):
		return fmt.Errorf("rendezvous: %s is not of this job: %w", address, ErrJob)
	}
	m.payload = answer.Start.Payload
	return nil
}

// introduce proves to rank 0 that this process belongs to the job, and returns rank 0's answer
// after all processes have joined.
func (m *Member) introduce(h *hello) (answer message, challenge []byte, err error) {
	first, err := m.conn.receive(maxHello)
	if err != nil {
		return answer, nil, err
	}
	h.Proof = h.proof(m.secret, joining, first.Challenge)
	if err := m.conn.send(message{Hello: h}); err != nil {
		return answer, nil, err
	}
	go m.conn.live(m.silence)
	answer, err = m.conn.hear(0)
	return answer, first.Challenge, err
}

// connect retries until rank 0 accepts the connection.
func (m *Member) connect(ctx context.Context, address string) error {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			m.conn = newJSONConn(c)
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retry):
		}
	}
}

// listen handles the messages of rank 0 until the connection ends.
func (m *Member) listen() {
	defer close(m.ended)
	defer m.conn.close()
	for {
		msg, err := m.conn.hear(m.silence)
		switch {
		case err != nil:
			m.fail(&LostError{Ranks: []int{0}})
			return
		case msg.Lost != nil:
			m.fail(&LostError{Ranks: msg.Lost})
		case msg.Ask != 0:
			_ = m.conn.send(message{At: &answer{Question: msg.Ask, At: map[int]int64{m.rank: m.at()}}})
		case msg.At != nil:
			m.answered(msg.At)
		case msg.Give != nil:
			select {
			case m.results <- msg.Give:
			default: // no call waits for this result
			}
		}
	}
}

// fail records the first loss, unless this process is leaving.
func (m *Member) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil && !m.leaving {
		m.err = err
		close(m.lost)
	}
}

func (m *Member) answered(a *answer) {
	m.mu.Lock()
	c := m.answers[a.Question]
	m.mu.Unlock()
	if c != nil {
		select {
		case c <- a:
		default: // nobody waits for the answer any more
		}
	}
}

// Rank returns this process's number.
func (m *Member) Rank() int { return m.rank }

// World returns the number of processes.
func (m *Member) World() int { return m.world }

// Payload returns the payload of rank 0.
func (m *Member) Payload() []byte { return m.payload }

// Lost returns a channel that is closed when a process has ended without leaving.
func (m *Member) Lost() <-chan struct{} { return m.lost }

// Err returns an error that names the processes that ended without leaving, or nil.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Where returns the progress of each process, by rank. Processes that do not answer before ctx is
// done are missing.
func (m *Member) Where(ctx context.Context) map[int]int64 {
	m.mu.Lock()
	m.asked++
	number, c := m.asked, make(chan *answer, m.world)
	m.answers[number] = c
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		delete(m.answers, number)
		m.mu.Unlock()
	}()
	at := map[int]int64{}
	if m.conn.send(message{Ask: number}) != nil {
		return at
	}
	for of := m.world; len(at) < of; {
		select {
		case a := <-c:
			maps.Copy(at, a.At)
			of = a.Of
		case <-m.ended:
			return at
		case <-ctx.Done():
			return at
		}
	}
	return at
}

// leaveTime bounds how long rank 0 waits for the processes that have not left yet.
const leaveTime = 10 * time.Second

// Leave ends this process's membership of the job, so that its end is not a loss. Rank 0 waits
// until the others have left, but at most 10 seconds.
func (m *Member) Leave() error {
	m.mu.Lock()
	if m.leaving {
		m.mu.Unlock()
		return errors.New("rendezvous: the process has already left the job")
	}
	m.leaving = true
	m.mu.Unlock()
	err := m.conn.send(message{Leave: true})
	if m.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		err = errors.Join(err, m.server.close(ctx))
	}
	m.conn.close()
	<-m.conn.done
	<-m.ended
	if m.Err() != nil {
		return nil // the connection had already ended
	}
	return err
}

// Kill closes the connection, as the end of the process would, for tests of the reactions of other
// processes.
func (m *Member) Kill() {
	if m.server != nil {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.server.close(done)
	}
	m.conn.conn.Close()
}
