package devicetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// startGreet launches Greet.
func startGreet(s *device.Stream, g device.Grid) error { return s.Plan(Greet(), g).Launch() }

// wantsFault waits for the stream and compares its fault with want.
func wantsFault(t *testing.T, s *device.Stream, want device.Fault) {
	t.Helper()
	err := s.Synchronize(t.Context())
	var fault *device.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("Synchronize: %v, want the fault %v", err, &want)
	}
	if *fault != want {
		t.Errorf("fault %v, want %v", fault, &want)
	}
}

// countTo returns the numbers from 0 to n-1.
func countTo(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

func (r *rig) testFault(t *testing.T) {
	for k, line := range map[*driver.Kernel]int{Poke(): pokeLine, PokeSync(): pokeSyncLine} {
		t.Run(k.Name, func(t *testing.T) {
			const n, block, at = 5000, 128, 1000
			s := r.stream(t)
			x := made[int32](t, s, n)
			must(t, startPoke(s, k, device.Cover(n, block), target{x.All(), at, n + 7}))
			wantsFault(t, s, device.Fault{
				Kernel: k.Name, Package: k.Package, File: "poke.go", Line: line,
				Message: fmt.Sprintf("index out of range [%d] with length %d", n+7, n),
				Block:   [3]int{at / block}, Thread: [3]int{at % block}, Launch: 1,
			})

			// The buffer can be read. The block's other threads have continued, or have not
			// started.
			got := make([]int32, n)
			must(t, device.Download(s, got, x))
			must(t, s.Synchronize(t.Context()))
			for i, v := range got {
				if v != 0 && v != int32(i) || i == at && v != 0 {
					t.Fatalf("element %d is %d after the fault", i, v)
				}
			}
			must(t, startPoke(s, k, device.Cover(n, block), target{x.All(), -1, 0}))
			check(t, s, x, countTo(n))
		})
	}
}

func (r *rig) testFaultIsReportedOnce(t *testing.T) {
	s, quiet, k := r.stream(t), r.stream(t), Poke()
	x, y := made[int32](t, s, 4), made[int32](t, quiet, 4)
	want := device.Fault{
		Kernel: "poke", Package: "devicetest", File: "poke.go", Line: pokeLine,
		Message: "index out of range [4] with length 4", Thread: [3]int{1},
	}
	for _, want.Launch = range []int{1, 3} {
		must(t, startPoke(s, k, device.Cover(4, 4), target{x.All(), 1, 4}))
		must(t, startPoke(s, k, device.Cover(4, 4), target{x.All(), 2, 9})) // a later fault is not reported
		must(t, startPoke(quiet, k, device.Cover(4, 4), target{y.All(), -1, 0}))
		wantsFault(t, s, want)
		must(t, s.Synchronize(t.Context()))
		check(t, quiet, y, countTo(4))
	}
}

func (r *rig) testPrints(t *testing.T) {
	s, out := r.printing(t)
	must(t, startGreet(s, device.Cover(48, 16)))
	must(t, startGreet(s, device.Cover(2, 1)))
	must(t, s.Synchronize(t.Context()))
	var want strings.Builder
	for i := range 48 {
		fmt.Fprintf(&want, "thread %d of block %d\n", i%16, i/16)
	}
	want.WriteString("thread 0 of block 0\nthread 0 of block 1\n")
	if got := out.String(); got != want.String() {
		t.Errorf("printed %q, want %q", got, want.String())
	}
	must(t, s.Synchronize(t.Context()))
	if out.Len() != want.Len() {
		t.Errorf("a second wait printed %q again", out.String()[want.Len():])
	}
}

func (r *rig) testLostPrints(t *testing.T) {
	s, out := r.printing(t)
	const threads = 1 << 17
	for range 2 { // after a wait, the buffer is empty again
		out.Reset()
		must(t, startGreet(s, device.Cover(threads, 256)))
		must(t, s.Synchronize(t.Context()))
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		lost := 0
		if _, err := fmt.Sscanf(lines[len(lines)-1], "(%d more prints did not fit in the buffer)", &lost); err == nil {
			lines = lines[:len(lines)-1]
		}
		if len(lines)+lost != threads || len(lines) < 1000 {
			t.Errorf("%d lines printed and %d lost of %d", len(lines), lost, threads)
		}
		for _, line := range lines {
			var thread, block int
			if _, err := fmt.Sscanf(line, "thread %d of block %d", &thread, &block); err != nil || thread >= 256 || block >= threads/256 {
				t.Fatalf("printed %q", line)
			}
		}
	}
}
