package rendezvous

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// address returns an address on which nobody listens.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// patience is a timeout for operations that take milliseconds.
const patience = time.Minute

// job is a set of processes that will join.
type job struct {
	*testing.T
	members []*Member
	errs    []error
}

// newJob returns a job of world processes, of which only the given ranks will join. If rank 0 is
// among them, it must be the first.
func newJob(t *testing.T, world int, ranks ...int) *job {
	t.Helper()
	j, at := &job{T: t, errs: make([]error, len(ranks))}, address(t)
	for _, rank := range ranks {
		o := Options{Rank: rank, World: world, Address: at}
		if rank == 0 {
			o.Listen, o.Payload = "127.0.0.1:0", []byte("payload")
		}
		m, err := newMember(o, func() int64 { return int64(10 * rank) })
		if err != nil {
			t.Fatal(err)
		}
		clear(o.Payload) // the caller may change it after newMember
		at = m.address
		j.members = append(j.members, m)
	}
	return j
}

// join lets the processes join until all have done so or ctx is done. If ready is not nil, join
// calls it in the meantime.
func (j *job) join(ctx context.Context, ready func()) {
	j.Helper()
	var all sync.WaitGroup
	for i, m := range j.members {
		all.Go(func() { j.errs[i] = m.join(ctx) })
	}
	if ready != nil {
		ready()
	}
	all.Wait()
}

// until waits until holds returns true.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v: not %s", patience, what)
		}
	}
}

// whole returns all processes of a job, after they have met.
func whole(t *testing.T, world int) []*Member {
	t.Helper()
	var ranks []int
	for rank := range world {
		ranks = append(ranks, rank)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	j := newJob(t, world, ranks...)
	j.join(ctx, nil)
	if err := errors.Join(j.errs...); err != nil {
		t.Fatal(err)
	}
	return j.members
}

func leave(t *testing.T, members []*Member) {
	t.Helper()
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			if err := m.Leave(); err != nil {
				t.Errorf("rank %d leaves: %v", m.Rank(), err)
			}
			if m.Err() != nil {
				t.Errorf("rank %d: %v", m.Rank(), m.Err())
			}
		})
	}
	all.Wait()
}

func TestMeet(t *testing.T) {
	members := whole(t, 5)
	for _, m := range members {
		if string(m.Payload()) != "payload" || m.World() != 5 {
			t.Errorf("rank %d of %d has %q", m.Rank(), m.World(), m.Payload())
		}
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		at := members[3].Where(ctx)
		cancel()
		if len(at) != 5 || at[0] != 0 || at[4] != 40 {
			t.Errorf("they are at %v", at)
		}
	}
	leave(t, members)
}

func TestMissing(t *testing.T) {
	j := newJob(t, 4, 0, 2)
	ctx, cancel := context.WithCancel(t.Context())
	j.join(ctx, func() {
		server := j.members[0].server
		until(t, "ranks 0 and 2 have joined", func() bool {
			server.mu.Lock()
			defer server.mu.Unlock()
			return len(server.conns) == 2
		})
		cancel()
	})
	for _, err := range j.errs {
		missing, ok := errors.AsType[*MissingError](err)
		if !ok || !slices.Equal(missing.Ranks, []int{1, 3}) || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "ranks 1, 3 of 4 did not join within") {
			t.Errorf("got %v", err)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	j = newJob(t, 4, 1)
	j.join(late, nil)
	missing, ok := errors.AsType[*MissingError](j.errs[0])
	if !ok || !slices.Equal(missing.Ranks, []int{0}) || !strings.Contains(j.errs[0].Error(), "rank 0 of 4 could not be reached") {
		t.Errorf("got %v", j.errs[0])
	}
}

func TestLost(t *testing.T) {
	for _, dies := range []int{0, 2} {
		members := whole(t, 3)
		members[dies].conn.conn.Close() // as the system does when a process ends
		if dies == 0 {
			done, cancel := context.WithCancel(t.Context())
			cancel()
			_ = members[0].server.close(done)
		}
		var leaving sync.WaitGroup
		for rank, m := range members {
			if rank == dies {
				continue
			}
			select {
			case <-m.Lost():
			case <-time.After(patience):
				t.Fatalf("rank %d does not detect the end of rank %d", rank, dies)
			}
			lost, ok := errors.AsType[*LostError](m.Err())
			if !ok || !slices.Equal(lost.Ranks, []int{dies}) || !errors.Is(lost, ErrLost) {
				t.Errorf("rank %d: %v", rank, m.Err())
			}
			leaving.Go(func() {
				if err := m.Leave(); err != nil {
					t.Errorf("rank %d leaves: %v", rank, err)
				}
			})
		}
		leaving.Wait()
	}
}

// TestEarly lets some processes leave before the others.
func TestEarly(t *testing.T) {
	members := whole(t, 3)
	leave(t, members[1:2])
	server := members[0].server
	until(t, "rank 0 knows", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.left[1]
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if at := members[2].Where(ctx); len(at) != 2 || at[0] != 0 || at[2] != 20 {
		t.Errorf("they are at %v", at)
	}
	leave(t, []*Member{members[0], members[2]})
}

func TestJob(t *testing.T) {
	if _, err := Join(t.Context(), Options{Rank: 3, World: 2}, nil); !errors.Is(err, ErrJob) {
		t.Errorf("got %v", err)
	}
	j := newJob(t, 3, 0, 1, 1)
	at := j.members[0].address
	if _, err := Join(t.Context(), Options{World: 3, Address: at, Listen: at}, nil); err == nil || !strings.Contains(err.Error(), "rank 0 cannot listen") {
		t.Errorf("two processes of rank 0: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var twins sync.WaitGroup
	for i := range 2 {
		m := j.members[1+i]
		twins.Go(func() {
			j.errs[1+i] = m.join(ctx)
			cancel() // otherwise the other process would wait for rank 2
		})
	}
	j.errs[0] = j.members[0].join(ctx)
	twins.Wait()
	if !errors.Is(j.errs[1], ErrJob) && !errors.Is(j.errs[2], ErrJob) {
		t.Errorf("two processes of rank 1: %v", j.errs)
	}
}
