package cpu

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// outcome returns the result of a launch: the elements and the text of the fault, if any.
func outcome(t *testing.T, way cpu.Threads, host [][]float32, launch func(*device.Stream, []device.Slice[float32]) error) ([]float32, string) {
	t.Helper()
	s := open(t, way)
	x, last := problem{}.upload(t, s, host)
	if err := launch(s, x); err != nil {
		t.Fatal(err)
	}
	err := s.Synchronize(t.Context())
	var f *device.Fault
	if err != nil && !errors.As(err, &f) {
		t.Fatal(err)
	}
	got := make([]float32, len(host[len(host)-1]))
	if err := device.Download(s, got, last); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f == nil {
		return got, ""
	}
	return got, fmt.Sprint(f.Line, f.Message, f.Block, f.Thread)
}

// compareWays compares vector code with the twin: the elements and the fault. After a fault, only
// the first fixed elements are determined: those of earlier blocks.
func compareWays(t *testing.T, host [][]float32, fixed int, launch func(*device.Stream, []device.Slice[float32]) error) (fault string) {
	t.Helper()
	if raceDetector {
		t.Skip("under the race detector, threads are always goroutines, any of which may fault first")
	}
	want, fault := outcome(t, cpu.Scalar, host, launch)
	got, other := outcome(t, cpu.Fastest, host, launch)
	if other != fault {
		t.Errorf("vector code ends with %q, the twin with %q", other, fault)
	}
	for i := range want[:fixed] {
		if got[i] != want[i] {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return fault
}

// TestSpans launches blocks of all sizes, whose rows continue each other: each thread runs once.
func TestSpans(t *testing.T) {
	for _, width := range []int{1, 3, 8, 16, 33, 100, 256} {
		for _, n := range []int{1, 15, 256, 1000, 4099} {
			host := [][]float32{numbers(n), numbers(n + 1)[:n]}
			launch := func(s *device.Stream, x []device.Slice[float32]) error {
				return Saxpy(s, device.Cover(n, width), x[0], x[1], 3)
			}
			if fault := compareWays(t, host, n, launch); fault != "" {
				t.Errorf("%d elements by %d: %s", n, width, fault)
			}
		}
	}
}

// TestSpansFault lets an array end within a block, or between two: the first thread beyond it
// faults, and the work before it is done once.
func TestSpansFault(t *testing.T) {
	for _, width := range []int{1, 8, 33, 256} {
		for _, short := range []int{0, 16, 256, 997} {
			host := [][]float32{numbers(short + 1)[:short], numbers(2000)}
			launch := func(s *device.Stream, x []device.Slice[float32]) error {
				return Saxpy(s, device.Cover(2000, width), x[0], x[1], 3)
			}
			if fault := compareWays(t, host, short/width*width, launch); fault == "" {
				t.Errorf("%d elements by %d: no fault", short, width)
			}
		}
	}
}

// TestRanges launches volumes of all shapes, in which threads at the edges do nothing.
func TestRanges(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {3, 3, 3}, {16, 4, 4}, {17, 5, 3}, {50, 3, 4}, {130, 4, 3}} {
		w, h, d := size[0], size[1], size[2]
		n := w * h * d
		for _, block := range []device.Dim{{X: 16}, {X: 64, Y: 2}, {X: 100}, {X: 256, Y: 2, Z: 2}} {
			g := device.Grid{Block: block, Blocks: device.Dim{X: (w + block.X - 1) / block.X, Y: h, Z: d}}
			for _, length := range []int{n, max(0, n-w)} { // enough elements, and too few
				host := [][]float32{numbers(length + 1)[:length], numbers(n)}
				fixed := n
				if length < n {
					fixed = 0
				}
				compareWays(t, host, fixed, func(s *device.Stream, x []device.Slice[float32]) error {
					return Stencil(s, g, x[0], x[1], w, h, d)
				})
			}
			// invalid sizes
			compareWays(t, [][]float32{numbers(n), numbers(n)}, 0, func(s *device.Stream, x []device.Slice[float32]) error {
				return Stencil(s, g, x[0], x[1], -1<<63, -1<<62, 1<<62+5)
			})
		}
	}
}
