package gpu

import (
	"testing"
	"unsafe"
)

// TestLanes moves numbers between the lanes of a warp in which lane 5 and the last eight lanes have no thread.
func TestLanes(t *testing.T) {
	const alive = 1<<24 - 1 - 1<<5
	from := make([]uint64, 24) // one for each thread: lanes without a thread must not be accessed
	for i := range from {
		from[i] = uint64(i%3) << 33
	}
	source := [24]int32{3, 31, -1, 5, 23}
	for name, c := range map[string]struct {
		move   func(l *Lanes[uint64])
		source func(lane int) int
	}{
		"up":   {func(l *Lanes[uint64]) { l.Up(33) }, func(lane int) int { return lane - 1 }},
		"down": {func(l *Lanes[uint64]) { l.Down(10) }, func(lane int) int { return lane + 10 }},
		"xor":  {func(l *Lanes[uint64]) { l.Xor(-1) }, func(lane int) int { return lane ^ 31 }},
		"take": {func(l *Lanes[uint64]) { l.Take(unsafe.Pointer(&source)) }, func(lane int) int { return int(source[lane]) }},
	} {
		to := make([]uint64, 24)
		c.move(&Lanes[uint64]{alive, unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0])})
		for lane, got := range to {
			want, s := ^uint64(0), c.source(lane)
			switch {
			case lane == 5:
				want = 0
			case s < 0 || s > 31:
				want = from[lane]
			case s < 24 && s != 5:
				want = from[s]
			}
			if got != want {
				t.Errorf("%s: lane %d has %#x, want %#x", name, lane, got, want)
			}
		}
	}
}

// TestLanesOfFullWarp covers the loop of Xor for full warps, and Match.
func TestLanesOfFullWarp(t *testing.T) {
	var from, to [32]uint32
	for i := range from {
		from[i] = uint32(i / 8)
	}
	l := Lanes[uint32]{allLanes, unsafe.Pointer(&to), unsafe.Pointer(&from)}
	l.Xor(8 + 64)
	for lane, got := range to {
		if want := uint32(lane/8 ^ 1); got != want {
			t.Errorf("lane %d has %d, want %d", lane, got, want)
		}
	}
	l.Match()
	for lane, got := range to {
		if want := uint32(0xff) << (lane / 8 * 8); got != want {
			t.Errorf("lane %d matches %#x, want %#x", lane, got, want)
		}
	}
}
