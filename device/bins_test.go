package device

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBinsAreOrdered(t *testing.T) {
	last, count := 0, 0
	for capacity := unit; capacity <= 1<<20; capacity += unit {
		bin := binOf(capacity)
		if bin < last || bin > last+1 {
			t.Fatalf("%d bytes are in bin %d, %d bytes less in bin %d", capacity, bin, unit, last)
		}
		if bin == last {
			count++
		}
		last = bin
	}
	if last != smallBins+(20-8-4)*stepBins {
		t.Errorf("1 MiB is in bin %d after %d steps within a bin", last, count)
	}
	if got, want := binOf(1<<47), smallBins+(47-8-4)*stepBins; got != want {
		t.Errorf("128 TiB are in bin %d, want %d", got, want)
	}
}

// TestArenaFits puts blocks of random sizes into an arena and takes blocks of random sizes: each is large
// enough and at most an eighth too large, and there is none that would have been better in a bin with few.
func TestArenaFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a := arena{spare: math.MaxInt64}
	s := &Stream{}
	in := map[*block]bool{}
	for range 10_000 {
		size := 1 + r.IntN(1<<(1+r.IntN(20)))
		if r.IntN(2) == 0 {
			b := &block{}
			b.kept.capacity = capacityFor(size)
			a.put(b, nil, []*Stream{nil, s}[r.IntN(2)])
			in[b] = true
			continue
		}
		b := a.take(s, size)
		if b == nil {
			continue
		}
		if c := b.kept.capacity; !in[b] || c < size || c > capacityFor(size)*9/8 {
			t.Fatalf("took %d bytes for %d, which the arena had: %v", c, size, in[b])
		}
		delete(in, b)
	}
	var bytes int64
	for b := range in {
		bytes += int64(b.kept.capacity)
	}
	if a.bytes != bytes {
		t.Errorf("the arena counts %d bytes, want %d", a.bytes, bytes)
	}
	a.retire(s)
	all := a.shrink(0)
	for _, x := range all {
		if x.stream != nil || !in[x.block] {
			t.Fatalf("a block of %d bytes is not on the ready shelf, or was not in the arena", x.kept.capacity)
		}
		delete(in, x.block)
	}
	if len(in) != 0 || a.bytes != 0 {
		t.Errorf("%d blocks and %d bytes are left", len(in), a.bytes)
	}
}
