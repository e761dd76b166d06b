package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

func TestFakeBackend(t *testing.T) {
	f := newFake()
	t.Cleanup(func() {
		wantNothingLive(t, f)
		if n := f.Blocked(); n != 0 {
			t.Errorf("%d copies would have blocked their thread", n)
		}
	})
	devicetest.TestBackend(t, func() (*device.Device, error) { return on(f, nil).openDevice(0) })
}

// onGPU returns the function that opens the GPU of this machine, or skips the test.
func onGPU(t *testing.T) func() (*device.Device, error) {
	t.Helper()
	if _, err := List(); err != nil {
		t.Skipf("no GPU to test on: %v", err)
	}
	return func() (*device.Device, error) { return Open(0) }
}

func TestFakeBackendWithoutPools(t *testing.T) {
	f := cudafake.New(cudafake.Device{Name: "Fake vGPU", Major: 7, Memory: 1 << 30, NoPools: true})
	f.Execute = fakeKernel
	t.Cleanup(func() { wantNothingLive(t, f) })
	devicetest.TestBackend(t, func() (*device.Device, error) { return on(f, nil).openDevice(0) })
}

func TestGPUBackend(t *testing.T) { devicetest.TestBackend(t, onGPU(t)) }

func TestGPUInfo(t *testing.T) {
	onGPU(t)
	infos, err := List()
	check(t, err)
	for _, i := range infos {
		t.Log(i, "at", i.Bus, "driver", i.Driver)
		if i.Kind != "cuda" || i.Name == "" || i.Memory < 1<<28 || i.Capability.Major < 5 || !strings.Contains(i.Driver, "CUDA 1") {
			t.Errorf("implausible: %+v", i)
		}
		l := i.Limits
		if l.ThreadsPerBlock != 1024 || l.Block != [3]int{1024, 1024, 64} || l.Grid != [3]int{1<<31 - 1, 65535, 65535} {
			t.Errorf("implausible limits: %+v", l)
		}
	}
}

func TestGPUDiagnose(t *testing.T) {
	onGPU(t)
	r := Diagnose()
	for _, f := range r.Findings {
		t.Logf("%v: %s %s %s", f.OK, f.What, f.Means, f.Do)
	}
	if !r.Usable() {
		t.Error("the report has no usable GPU although List has one")
	}
}

// TestGPUStart logs how long the device takes to open, and the first and second kernels to run.
func TestGPUStart(t *testing.T) {
	openGPU := onGPU(t)
	start := time.Now()
	dev, err := openGPU()
	check(t, err)
	opened := time.Now()
	s := newStream(t, dev)
	check(t, multiply(s, devicetest.Multiply(), 1<<20))
	first := time.Now()
	check(t, multiply(s, devicetest.Multiply(), 1<<20))
	t.Logf("open %v, first kernel with copies %v, second %v", opened.Sub(start), first.Sub(opened), time.Since(first))
	check(t, dev.Close())
}

func TestGPURefusesPTX(t *testing.T) {
	dev, err := onGPU(t)()
	check(t, err)
	k := devicetest.Multiply()
	k.Variants[0].PTX = &driver.Text{Code: strings.Replace(k.Variants[0].PTX.String(), "ret;", "return;", 1)}
	err = multiply(newStream(t, dev), k, 10)
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || !strings.Contains(refused.Log, "return") || refused.Kernel != "multiply" {
		t.Errorf("got %v", err)
	}
	t.Log(err)
	check(t, dev.Close()) // the stream has already returned all errors
}

func TestGPUOutOfMemory(t *testing.T) {
	dev, err := onGPU(t)()
	check(t, err)
	s := newStream(t, dev)
	_, err = device.Make[byte](s, int(dev.Info().Memory)+1)
	wantError(t, err, OutOfMemory, "cuda: cuMemAllocFromPoolAsync(")
	check(t, dev.Close())
}

// TestGPUTrim returns the memory of closed buffers to the driver: of buffers that one stream used, of some that two used, and of a stream that
// is closed.
func TestGPUTrim(t *testing.T) {
	dev, err := onGPU(t)()
	check(t, err)
	defer mustClose(t, dev)
	s, other, closed := newStream(t, dev), newStream(t, dev), newStream(t, dev)
	for range 3 {
		for _, on := range []*device.Stream{s, other, closed} {
			b, err := device.Make[byte](on, 64<<20)
			check(t, err)
			check(t, device.Fill(s, b.All(), 1))
			check(t, b.Close())
		}
	}
	before, err := dev.MemoryStats()
	check(t, err)
	check(t, closed.Close())
	check(t, dev.Trim())
	after, err := dev.MemoryStats()
	check(t, err)
	if before.Reserved < 64<<20 || after.Reserved != 0 {
		t.Errorf("%d bytes are reserved before Trim, %d after it", before.Reserved, after.Reserved)
	}
}

// BenchmarkGPULaunch measures the time to enqueue an empty launch.
func BenchmarkGPULaunch(b *testing.B) {
	dev, err := Open(0)
	if err != nil {
		b.Skipf("no GPU to test on: %v", err)
	}
	benchmarkLaunch(b, dev)
}

func TestKernelsAssemble(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas in PATH to judge the PTX")
	}
	for _, k := range []*driver.Kernel{
		devicetest.Multiply(), devicetest.Sum(), devicetest.Where(),
		devicetest.Greet(), devicetest.Poke(), devicetest.PokeSync(),
	} {
		file := filepath.Join(t.TempDir(), k.Name+".ptx")
		if err := os.WriteFile(file, []byte(k.Variants[0].PTX.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(ptxas, "-arch=sm_90", "-o", os.DevNull, file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", k.Name, err, out)
		}
	}
}

func newStream(t testing.TB, dev *device.Device) *device.Stream {
	t.Helper()
	s, err := dev.NewStream()
	check(t, err)
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError checks that err matches kind and has text in it.
func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%v does not match %v", err, kind)
	}
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %q, want %q in it", err, text)
	}
}

// multiply multiplies n numbers and checks the products.
func multiply(s *device.Stream, k *driver.Kernel, n int) error {
	x, y, got := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], y[i] = float32(i), 0.5
	}
	a, err := device.Upload(s, x)
	if err != nil {
		return err
	}
	b, err := device.Upload(s, y)
	if err != nil {
		return err
	}
	c, err := device.Make[float32](s, n)
	if err != nil {
		return err
	}
	err = launch(s, k, device.Cover(n, 128), a.All(), b.All(), c.All())
	if err = errors.Join(err, device.Download(s, got, c), s.Synchronize(context.Background())); err != nil {
		return err
	}
	for i := range n {
		if want := float32(i) / 2; got[i] != want {
			return fmt.Errorf("product %d is %v, want %v", i, got[i], want)
		}
	}
	return errors.Join(a.Close(), b.Close(), c.Close())
}

func launch[T any](s *device.Stream, k *driver.Kernel, g device.Grid, args ...device.Slice[T]) error {
	p := s.Plan(k, g)
	for _, a := range args {
		a.Pass(p)
	}
	return p.Launch()
}

// poke launches devicetest.Poke with one thread per element. The thread with the index at faults,
// unless at is negative.
func poke(s *device.Stream, k *driver.Kernel, x device.Slice[int32], at int) error {
	p := s.Plan(k, device.Cover(x.Len(), 64))
	x.Pass(p)
	driver.Pass(p, at)
	driver.Pass(p, x.Len())
	return p.Launch()
}
