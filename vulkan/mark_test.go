package vulkan

import (
	"errors"
	"testing"
	"time"
)

// TestClock tests times between timestamps of a clock with 36 bits, in which higher bits are arbitrary.
func TestClock(t *testing.T) {
	c := clock{tick: 2.5, bits: 36}
	const wrap = 1 << 36
	for _, x := range []struct {
		from, to uint64
		want     time.Duration
	}{
		{1000, 5000, 10_000}, {7, 7, 0}, {wrap - 100, 300, 1000}, {3<<40 | 1000, 5<<40 | 5000, 10_000},
	} {
		if got := c.between(x.from, x.to); got != x.want {
			t.Errorf("from %d to %d: %v, want %v", x.from, x.to, got, x.want)
		}
	}
}

// TestMarkBeforeWait asks for the time of a mark before and after its queue was waited for.
func TestMarkBeforeWait(t *testing.T) {
	if _, err := List(); err != nil {
		t.Skip(err)
	}
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.open(0)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	q, err := b.newQueue()
	if err != nil {
		t.Fatal(err)
	}
	m, err := q.Mark()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Since(m); !errors.Is(err, errNoTime) {
		t.Errorf("before Wait: %v, want %v", err, errNoTime)
	}
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d, err := m.Since(m); d != 0 || err != nil {
		t.Errorf("after Wait: %v, %v", d, err)
	}
}
