package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// stress describes what many goroutines do to one device at the same time.
type stress struct {
	dev     *device.Device
	kernel  *driver.Kernel
	streams []*device.Stream // shared by the goroutines
	rounds  int
	kept    int64     // bytes that the pool may still have reserved at the end
	until   time.Time // when goroutines end, if it is set; otherwise they end after the given number of rounds

	others []*stress // on other devices, from which results are copied at times
	done   atomic.Int64
}

// together lets goroutines, distributed over all devices, allocate, copy, launch, wait, cancel
// waits, free, and leave buffers unclosed. It checks every result, and finally that nothing is
// left.
func together(t *testing.T, goroutines int, all ...*stress) {
	t.Helper()
	for _, st := range all {
		st.streams, st.others = nil, nil
	}
	for _, st := range all {
		for range 32 {
			s, err := st.dev.NewStreamTo(io.Discard)
			check(t, err)
			st.streams = append(st.streams, s)
		}
		for _, other := range all {
			if other != st {
				st.others = append(st.others, other)
			}
		}
	}
	before := runtime.NumGoroutine()
	errs := make([]error, goroutines)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() { errs[i] = all[i%len(all)].live(rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	running.Wait()
	check(t, errors.Join(errs...))
	for _, st := range all {
		for _, s := range st.streams {
			check(t, s.Close())
		}
	}
	for _, st := range all {
		check(t, st.dev.Trim())
		stats, err := st.dev.MemoryStats()
		check(t, err)
		if stats.Used != 0 || stats.Buffers != 0 || stats.Pinned != 0 || stats.Reserved > st.kept {
			t.Errorf("at the end: %+v, owners %v", stats, st.dev.Owners())
		}
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) { // goroutines that wait or free for others end when they have no more work
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// live runs one goroutine's operations.
func (st *stress) live(r *rand.Rand) error {
	s := st.streams[r.IntN(len(st.streams))]
	if r.IntN(100) == 0 {
		own, err := st.dev.NewStreamTo(io.Discard)
		if err != nil {
			return err
		}
		defer func() { _ = own.Close() }() // its last wait has already returned all errors
		s = own
	}
	for i := 0; i < st.rounds || time.Now().Before(st.until); i++ {
		if err := st.round(s, r); err != nil {
			return err
		}
		st.done.Add(1)
	}
	return nil
}

// abroad copies c to another device, if there is one, and back, and checks the copy.
func (st *stress) abroad(s *device.Stream, c *device.Buffer[float32], r *rand.Rand) error {
	if len(st.others) == 0 || r.IntN(8) > 0 {
		return nil
	}
	o := st.others[r.IntN(len(st.others))]
	there := o.streams[r.IntN(len(o.streams))]
	b, err := device.MakeDirty[float32](there, c.Len())
	if err != nil {
		return err
	}
	return errors.Join(
		device.CopyFrom(there, b.All(), s, c.All()), device.Fill(s, c.All(), -1),
		device.CopyFrom(s, c.All(), there, b.All()), b.Close())
}

func (st *stress) round(s *device.Stream, r *rand.Rand) error {
	n := 1 + r.IntN(300)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(100))
	}
	a, err := device.Upload(s, x)
	if err != nil {
		return err
	}
	c, err := device.MakeDirty[float32](s, n)
	if err != nil {
		return err
	}
	k := s
	if r.IntN(4) == 0 { // the launch is on another stream, after an event
		k = st.streams[r.IntN(len(st.streams))]
		if err := k.Join(s); err != nil {
			return err
		}
	}
	err = launch(k, st.kernel, device.Cover(n, 128), a.All(), a.All(), c.All())
	err = errors.Join(err, st.abroad(k, c, r))
	got, fetched := st.fetch(k, c, r)
	err = errors.Join(err, fetched)
	for i, v := range got {
		if err == nil && v != x[i]*x[i] {
			err = fmt.Errorf("product %d of %d is %v, want %v", i, n, v, x[i]*x[i])
		}
	}
	if r.IntN(10) > 0 {
		err = errors.Join(err, a.Close(), c.Close())
	}
	return err
}

// fetch downloads c in one of several ways and waits in one of several ways.
func (st *stress) fetch(s *device.Stream, c *device.Buffer[float32], r *rand.Rand) ([]float32, error) {
	if r.IntN(20) == 0 {
		p, err := device.NewPinned[float32](st.dev, c.Len())
		if err != nil {
			return nil, err
		}
		err = errors.Join(device.DownloadPinned(s, p.All(), c.All()), settle(s, r))
		return slices.Clone(p.Host()), errors.Join(err, p.Close())
	}
	got := make([]float32, c.Len())
	return got, errors.Join(device.Download(s, got, c), settle(s, r))
}

// settle waits, at times after a canceled wait.
func settle(s *device.Stream, r *rand.Rand) error {
	if r.IntN(3) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(1000))*time.Microsecond)
		defer cancel()
		if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	if r.IntN(3) == 0 {
		<-s.Done()
	}
	return s.Synchronize(context.Background())
}

func TestStress(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	goroutines := 10_000
	if testing.Short() || raceEnabled {
		goroutines = 1000
	}
	together(t, goroutines, &stress{dev: dev, kernel: devicetest.Multiply(), rounds: 2})
	if n := f.Blocked(); n != 0 {
		t.Errorf("%d copies would have blocked their thread", n)
	}
	mustClose(t, dev)
}

// TestStressDevices also copies results between two devices.
func TestStressDevices(t *testing.T) {
	f := cudafake.New(cudafake.H200, cudafake.H200)
	f.Latency, f.Execute = 2, fakeKernel
	var all []*stress
	for i := range 2 {
		dev, err := on(f, nil).openDevice(i)
		check(t, err)
		all = append(all, &stress{dev: dev, kernel: devicetest.Multiply(), rounds: 2})
	}
	goroutines := 2000
	if testing.Short() || raceEnabled {
		goroutines = 500
	}
	together(t, goroutines, all...)
	for _, st := range all {
		mustClose(t, st.dev)
	}
	wantNothingLive(t, f)
}

// stressTime is how long TestGPUStressDevices takes.
var stressTime = flag.Duration("stress", 5*time.Second, "how long goroutines use all GPUs")

// TestGPUStressDevices lets 10,000 goroutines use all GPUs of the machine for a while, twice: the
// second time, nothing may have grown. The number of 32 MiB blocks that a pool keeps is up to the
// driver, and depends on the order of allocations; the test checks only that it does not grow.
func TestGPUStressDevices(t *testing.T) {
	infos, err := List()
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	var all []*stress
	for i := range infos {
		dev, err := Open(i)
		check(t, err)
		all = append(all, &stress{dev: dev, kernel: devicetest.Multiply(), kept: 256 << 20})
	}
	for range 2 {
		for _, st := range all {
			st.until = time.Now().Add(*stressTime / 2)
		}
		together(t, 10_000, all...)
		for _, st := range all {
			stats, err := st.dev.MemoryStats()
			check(t, err)
			t.Logf("the pool keeps %d MiB; the most in use was %d MiB", stats.Reserved>>20, stats.Peak>>20)
			st.kept = stats.Reserved + 32<<20
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for i, st := range all {
		t.Logf("device %d: %d rounds", i, st.done.Load())
		mustClose(t, st.dev)
	}
	t.Logf("%d devices, %v, heap of %d MiB at the end", len(all), *stressTime, m.HeapAlloc>>20)
	if m.HeapAlloc > 256<<20 {
		t.Errorf("the heap has grown to %d MiB", m.HeapAlloc>>20)
	}
}

func TestGPUStress(t *testing.T) {
	dev, err := onGPU(t)()
	check(t, err)
	start := time.Now()
	// The driver of an H200 always keeps one 32 MiB block of its pool.
	together(t, 10_000, &stress{dev: dev, kernel: devicetest.Multiply(), rounds: 10, kept: 32 << 20})
	t.Logf("100,000 rounds in %v", time.Since(start))
	mustClose(t, dev)
}
