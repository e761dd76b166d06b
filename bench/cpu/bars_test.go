package cpu

import (
	"cmp"
	"flag"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

var bars = flag.Int("bars", 0, "number of interleaved `rounds` in which kernels, twins, vector code and plain Go are compared")

// entrant is one of several ways to solve a problem.
type entrant struct {
	name  string
	run   func()
	work  float64 // elements
	times []float64
}

// per returns the median and the minimum time per element, in nanoseconds.
func (e *entrant) per() (median, least float64) {
	slices.Sort(e.times)
	return e.times[len(e.times)/2] / e.work * 1e9, e.times[0] / e.work * 1e9
}

// enough is the number of elements between two readings of the clock.
const enough = 1 << 20

// race runs each of the entrants in every round, small problems several times, and measures them
// with clock.
func race(rounds int, clock func() time.Duration, list ...*entrant) {
	for range rounds + 1 {
		for _, e := range list {
			times := max(1, enough/int(e.work))
			start := clock()
			for range times {
				e.run()
			}
			e.times = append(e.times, (clock()-start).Seconds()/float64(times))
		}
	}
	for _, e := range list {
		e.times = e.times[1:] // the first one fills the caches
	}
}

// TestBars prints how the entrants compare on one core, by the processor time of the process,
// because others may use the machine too. Two cores are compared with one by wall-clock time.
func TestBars(t *testing.T) {
	if *bars == 0 {
		t.Skip("a measurement; -bars=15 for one of 15 rounds")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, name := range []string{"saxpy", "stencil", "mandelbrot", "blackScholes", "nbody", "matmul", "sums", "multiply"} {
		p := problems[name]
		list := []*entrant{p.loopEntrant(), p.entrant(t, "twin", cpu.Scalar, p.size), p.entrant(t, "vectors", cpu.Fastest, p.size), p.entrant(t, "AVX2", cpu.AVX2, p.size)}
		switch name {
		case "saxpy":
			list = append(list, copying(p.size))
		case "matmul":
			list = append(list, p.entrant(t, "coroutines", cpu.Coroutines, 128))
		}
		race(*bars, processTime, list...)
		report(t, name, list)
	}
	p := problems["matmul"]
	one, two := p.entrant(t, "1 core", cpu.Fastest, 512), p.entrant(t, "2 cores", cpu.Fastest, 512)
	both := two.run
	two.run = func() { runtime.GOMAXPROCS(2); both(); runtime.GOMAXPROCS(1) }
	begin := time.Now()
	race(10**bars, func() time.Duration { return time.Since(begin) }, one, two)
	report(t, "matmul", []*entrant{one, two})
}

// TestBarsAlone prints the same as numba_peer.py does for its kernels: the wall-clock time of
// vector code that runs repeatedly, on one core and on two, with nothing in between that would
// evict its arrays from the caches.
func TestBarsAlone(t *testing.T) {
	if *bars == 0 {
		t.Skip("a measurement; -bars=15 for one of 15 rounds")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	begin := time.Now()
	for _, name := range []string{"saxpy", "stencil", "mandelbrot", "blackScholes", "nbody", "matmul"} {
		p := problems[name]
		for cores := 1; cores <= 2; cores++ {
			runtime.GOMAXPROCS(cores)
			e := p.entrant(t, "vectors", cpu.Fastest, p.size)
			race(*bars, func() time.Duration { return time.Since(begin) }, e)
			m, b := e.per()
			t.Logf("%-13s %d cores %8.3f ns an element (least %8.3f)", name, cores, m, b)
		}
	}
}

func report(t *testing.T, name string, list []*entrant) {
	t.Helper()
	median, best := list[0].per()
	for _, e := range list {
		m, b := e.per()
		t.Logf("%-13s %-10s %8.3f ns an element (least %8.3f), %6.2f times as fast as %s (by the least %6.2f)",
			name, e.name, m, b, median/m, list[0].name, best/b)
	}
}

func (p problem) loopEntrant() *entrant {
	x := p.host(p.size)
	return &entrant{name: "loop", run: func() { p.loop(x, p.size) }, work: float64(p.work(p.size))}
}

// copying copies as many elements as saxpy has. It moves two arrays instead of three.
func copying(n int) *entrant {
	from, to := numbers(n), make([]float32, n)
	return &entrant{name: "copy", run: func() { copy(to, from) }, work: float64(n)}
}

func (p problem) entrant(t *testing.T, name string, way cpu.Threads, n int) *entrant {
	s := open(t, way)
	x, _ := p.upload(t, s, p.host(n))
	return &entrant{name: name, work: float64(p.work(n)), run: func() { p.once(t, s, x, n) }}
}

func (p problem) once(t testing.TB, s *device.Stream, x []device.Slice[float32], n int) {
	if err := cmp.Or(p.launch(s, x, n), s.Synchronize(t.Context())); err != nil {
		t.Fatal(err)
	}
}
