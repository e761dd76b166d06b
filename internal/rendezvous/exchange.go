package rendezvous

import (
	"context"
	"fmt"
)

// MaxExchange is the largest number of bytes that a process can pass to Exchange.
const MaxExchange = maxMessage / 2

// Exchange passes data to rank 0 and returns what its Options.Combine made of the data of all processes. All processes must call Exchange, one call after
// the other. If a process is lost, or ctx is done before all have called it, the job cannot go on.
func (m *Member) Exchange(ctx context.Context, data []byte) ([]byte, error) {
	if len(data) > MaxExchange {
		return nil, fmt.Errorf("rendezvous: %d bytes to exchange, at most %d are possible: %w", len(data), MaxExchange, ErrJob)
	}
	m.calls++
	if err := m.conn.send(message{Give: &block{m.calls, data}}); err != nil {
		<-m.ended // the reason is known then
		return nil, m.endedBy(err)
	}
	return m.wait(ctx)
}

// wait returns the result of the last call. A process may end as soon as it has the result, so a loss counts only if there is no result.
func (m *Member) wait(ctx context.Context) ([]byte, error) {
	var err error
	select {
	case b := <-m.results:
		return m.result(b)
	case <-m.lost:
		err = m.Err()
	case <-m.ended:
		err = m.endedBy(&LostError{Ranks: []int{0}})
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	select {
	case b := <-m.results:
		return m.result(b)
	default:
		return nil, err
	}
}

// result returns the data of the result of the last call.
func (m *Member) result(b *block) ([]byte, error) {
	if b.Call != m.calls {
		return nil, fmt.Errorf("rendezvous: result %d instead of %d: %w", b.Call, m.calls, ErrJob)
	}
	return b.Data, nil
}

// endedBy returns the error of the member, or else the given one.
func (m *Member) endedBy(err error) error {
	if lost := m.Err(); lost != nil {
		return lost
	}
	return err
}

// give takes what a process has passed to Exchange, and sends the result to all when it is the last. It reports whether the process may pass it.
func (s *server) give(rank int, b *block) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.given[rank]; twice || b.Call != s.call || s.combine == nil || !s.started || len(b.Data) > MaxExchange {
		return false
	}
	if s.given[rank] = b.Data; len(s.given) < s.world {
		return true
	}
	blocks := make([][]byte, s.world)
	for rank, data := range s.given {
		blocks[rank] = data
	}
	s.tell(message{Give: &block{s.call, s.combine(blocks)}})
	clear(s.given)
	s.call++
	return true
}
