package rendezvous

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// exchanging lets processes join whose Exchange returns what they pass to it, by rank. Rank 0 is the first.
func exchanging(t *testing.T, world int, silence time.Duration) []*Member {
	t.Helper()
	o := Options{World: world, Address: address(t), Secret: []byte("s"), Silence: silence, Combine: func(blocks [][]byte) []byte { return bytes.Join(blocks, []byte(" ")) }}
	members := make([]*Member, world)
	var all sync.WaitGroup
	for rank := range world {
		all.Go(func() {
			o := o
			o.Rank = rank
			var err error
			if members[rank], err = Join(t.Context(), o, func() int64 { return 0 }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return members
}

// TestExchange lets three processes exchange several times, with data of up to the largest size, and longer than Options.Silence.
func TestExchange(t *testing.T) {
	const silence = 400 * time.Millisecond
	members := exchanging(t, 3, silence)
	var all sync.WaitGroup
	for rank, m := range members {
		all.Go(func() {
			for call := range 5 {
				got, err := m.Exchange(t.Context(), fmt.Append(nil, rank, call))
				if want := fmt.Sprintf("0 %d 1 %d 2 %d", call, call, call); err != nil || string(got) != want {
					t.Errorf("rank %d: call %d: %q, %v, want %q", rank, call, got, err, want)
				}
			}
			if rank == 1 {
				time.Sleep(2 * silence)
			}
			var data []byte
			if rank == 1 {
				data = bytes.Repeat([]byte{7}, MaxExchange)
			}
			if got, err := m.Exchange(t.Context(), data); err != nil || len(got) != MaxExchange+2 {
				t.Errorf("rank %d: %d bytes, %v", rank, len(got), err)
			}
			if _, err := m.Exchange(t.Context(), make([]byte, MaxExchange+1)); !errors.Is(err, ErrJob) {
				t.Errorf("rank %d: too many bytes: %v", rank, err)
			}
			if err := m.Leave(); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
}

// TestResultBeforeLoss waits for a result that has come together with the loss of a process that has it too.
func TestResultBeforeLoss(t *testing.T) {
	m := &Member{calls: 1, results: make(chan *block, 1), lost: make(chan struct{}), ended: make(chan struct{}), err: &LostError{Ranks: []int{1}}}
	close(m.lost)
	close(m.ended)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		m.results <- &block{1, []byte("all")}
		if got, err := m.wait(ctx); err != nil || string(got) != "all" {
			t.Fatalf("%q, %v, want the result", got, err)
		}
	}
	if _, err := m.wait(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("without a result: %v, want the loss", err)
	}
}

// TestExchangeLost ends a process while the others wait for it, and stops the messages of one: the others get an error that names it.
func TestExchangeLost(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, m *Member){
		"end":     func(_ *testing.T, m *Member) { m.Kill() },
		"silence": mute,
	} {
		for lost := range 3 {
			t.Run(fmt.Sprintf("%s of %d", name, lost), func(t *testing.T) {
				t.Parallel()
				const silence = 500 * time.Millisecond
				members := exchanging(t, 3, silence)
				began := time.Now()
				end(t, members[lost])
				for rank, m := range members {
					if rank == lost {
						continue
					}
					_, err := m.Exchange(t.Context(), nil)
					e, ok := errors.AsType[*LostError](err)
					if !ok || !slices.Equal(e.Ranks, []int{lost}) {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
				if took := time.Since(began); took > 10*silence {
					t.Errorf("after %v", took)
				}
				for _, m := range members {
					go m.Kill()
				}
			})
		}
	}
}

// mute stops the messages of a process, as if its machine had failed.
func mute(t *testing.T, m *Member) {
	conns := []*jsonConn{m.conn}
	if m.server != nil {
		m.server.mu.Lock()
		for _, c := range m.server.conns {
			conns = append(conns, c)
		}
		m.server.mu.Unlock()
	}
	for _, c := range conns {
		c.mu.Lock()
		t.Cleanup(c.mu.Unlock)
	}
}

// TestExchangeTwice ends the connection of a process that does not wait for the result of an exchange.
func TestExchangeTwice(t *testing.T) {
	members := exchanging(t, 2, 0)
	for range 2 {
		if err := members[1].conn.send(message{Give: &block{Call: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	<-members[0].Lost()
	if e, ok := errors.AsType[*LostError](members[0].Err()); !ok || !slices.Equal(e.Ranks, []int{1}) {
		t.Error(members[0].Err())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := members[1].Exchange(ctx, nil); !errors.Is(err, ErrLost) && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	for _, m := range members {
		m.Kill()
	}
}
