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

// address returns one where nobody listens.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// join has the given ranks join a job of world.
func join(t *testing.T, world int, limit time.Duration, ranks ...int) ([]*Member, []error) {
	t.Helper()
	at := address(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	members, errs := make([]*Member, len(ranks)), make([]error, len(ranks))
	var all sync.WaitGroup
	for i, rank := range ranks {
		all.Go(func() {
			o := Options{Address: at, Rank: rank, World: world}
			if rank == 0 {
				o.Gift = []byte("gift")
			}
			members[i], errs[i] = Join(ctx, o, func() int64 { return int64(10 * rank) })
		})
	}
	all.Wait()
	return members, errs
}

func whole(t *testing.T, world int) []*Member {
	t.Helper()
	var ranks []int
	for rank := range world {
		ranks = append(ranks, rank)
	}
	members, errs := join(t, world, 20*time.Second, ranks...)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return members
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
		if string(m.Gift()) != "gift" || m.World() != 5 {
			t.Errorf("rank %d of %d has %q", m.Rank(), m.World(), m.Gift())
		}
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		at := members[3].Where(ctx)
		cancel()
		if len(at) != 5 || at[0] != 0 || at[4] != 40 {
			t.Errorf("they are at %v", at)
		}
	}
	leave(t, members)
}

func TestMissing(t *testing.T) {
	_, errs := join(t, 4, 300*time.Millisecond, 0, 2)
	for _, err := range errs {
		missing, ok := errors.AsType[*MissingError](err)
		if !ok || !slices.Equal(missing.Ranks, []int{1, 3}) || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "ranks 1, 3 of 4 did not come within") {
			t.Errorf("got %v", err)
		}
	}
	_, errs = join(t, 4, 200*time.Millisecond, 1)
	missing, ok := errors.AsType[*MissingError](errs[0])
	if !ok || !slices.Equal(missing.Ranks, []int{0}) || !strings.Contains(errs[0].Error(), "rank 0 of 4 could not be reached") {
		t.Errorf("got %v", errs[0])
	}
}

func TestLost(t *testing.T) {
	for _, dies := range []int{0, 2} {
		members := whole(t, 3)
		members[dies].line.conn.Close() // as the system does when a process ends
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
			case <-time.After(10 * time.Second):
				t.Fatalf("rank %d does not learn of the end of rank %d", rank, dies)
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

// TestEarly has some leave while others go on.
func TestEarly(t *testing.T) {
	members := whole(t, 3)
	leave(t, members[1:2])
	time.Sleep(50 * time.Millisecond) // rank 0 learns of it
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
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
	_, errs := join(t, 2, 500*time.Millisecond, 0, 0)
	if err := errors.Join(errs...); err == nil { // they cannot both listen
		t.Error("two processes of rank 0 meet")
	}
	_, errs = join(t, 3, 500*time.Millisecond, 0, 1, 1)
	if !errors.Is(errs[1], ErrJob) && !errors.Is(errs[2], ErrJob) {
		t.Errorf("two processes of rank 1: %v", errs)
	}
}
