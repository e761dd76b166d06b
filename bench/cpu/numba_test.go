package cpu

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
)

var python = flag.String("numba", "", "compare with Numba's CPU target, run by this Python, which must have numba")

// peer runs numba_peer.py, which runs kernels on request.
type peer struct {
	in  io.Writer
	out *bufio.Reader
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	c := exec.CommandContext(t.Context(), *python, "numba_peer.py", "serve")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	return &peer{in, bufio.NewReader(out)}
}

// run runs a kernel the given number of times with the given number of threads, and returns the
// seconds per run.
func (p *peer) run(t *testing.T, name string, threads, times int) float64 {
	t.Helper()
	var seconds float64
	if _, err := fmt.Fprintln(p.in, name, threads, times); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(p.out, &seconds); err != nil {
		t.Fatal("numba_peer.py:", err)
	}
	return seconds
}

// turn is how long each of the two is measured before the other, after a pause: Numba's threads
// poll for more work for a while before they sleep.
const (
	turn  = 30 * time.Millisecond
	pause = 5 * time.Millisecond
)

// TestNumba prints how vector code compares with Numba's CPU target, by wall-clock time, measured
// alternately.
func TestNumba(t *testing.T) {
	if *python == "" || *bars == 0 {
		t.Skip("a measurement; -numba=python3 -bars=15 for one of 15 rounds")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	other := startPeer(t)
	for _, name := range []string{"saxpy", "stencil", "mandelbrot", "blackScholes", "nbody", "matmul"} {
		t.Run(name, func(t *testing.T) {
			for cores := 1; cores <= 2; cores++ {
				runtime.GOMAXPROCS(cores)
				problems[name].inTurns(t, name, cores, other)
			}
		})
	}
}

// inTurns runs a problem alternately with vector code and with Numba.
func (p problem) inTurns(t *testing.T, name string, cores int, other *peer) {
	e := p.entrant(t, "vectors", cpu.Fastest, p.size)
	numba := &entrant{work: e.work}
	times := max(1, int(turn.Seconds()/max(once(e.run), once(e.run))))
	var ratios []float64
	for i := range *bars {
		time.Sleep(pause)
		many(e.run, times/2+1) // loads its arrays into the caches, which takes a dozen runs; so does the other
		e.times = append(e.times, once(func() { many(e.run, times) })/float64(times))
		numba.times = append(numba.times, other.run(t, name, cores, times))
		ratios = append(ratios, numba.times[i]/e.times[i])
	}
	slices.Sort(ratios)
	m, b := e.per()
	pm, pb := numba.per()
	t.Logf("%-13s %d cores %8.3f ns an element (least %8.3f), Numba %8.3f (%8.3f): %5.2f times as fast, by the least %5.2f, in turns %5.2f",
		name, cores, m, b, pm, pb, pm/m, pb/b, ratios[len(ratios)/2])
}

func many(f func(), times int) {
	for range times {
		f()
	}
}

// once returns the time of a call of f, in seconds.
func once(f func()) float64 {
	begin := time.Now()
	f()
	return time.Since(begin).Seconds()
}
