package cuda

import (
	"errors"
	"math"
	"path"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// newFake returns a driver with one device that knows the kernels of devicetest.
func newFake() *cudafake.Fake {
	f := cudafake.New(cudafake.H200)
	f.Latency = 2
	f.Execute = fakeKernel
	return f
}

// on returns a Linux machine with this driver and these files.
func on(f *cudafake.Fake, files map[string]string) machine {
	return machine{
		os:   "linux",
		load: func() (*cudasys.Driver, error) { return f.Driver(), nil },
		read: func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("no such file")
		},
		open: func(string) error { return nil },
		glob: func(pattern string) (paths []string) {
			for name := range files {
				if ok, err := path.Match(pattern, name); ok && err == nil {
					paths = append(paths, name)
				}
			}
			slices.Sort(paths)
			return paths
		},
	}
}

// open returns the fake's first device. The test closes it, and checks that no object is left.
func open(t testing.TB, f *cudafake.Fake) *device.Device {
	t.Helper()
	dev, err := on(f, nil).openDevice(0)
	check(t, err)
	t.Cleanup(func() { wantNothingLive(t, f) })
	return dev
}

// bare returns the backend of the first of f's devices, without package device.
func bare(t testing.TB, f *cudafake.Fake) *backend {
	t.Helper()
	m := on(f, nil)
	d, err := m.start()
	check(t, err)
	handle, info, err := m.describe(d, 0)
	check(t, err)
	b, err := newBackend(d, handle, info)
	check(t, err)
	return b
}

func wantNothingLive(t testing.TB, f *cudafake.Fake) {
	t.Helper()
	if live := f.Live(); live != (cudafake.Live{}) {
		t.Errorf("not freed: %+v", live)
	}
}

// fakeThread is one thread of a kernel that the fake executes.
type fakeThread struct {
	*cudafake.Launch
	block, thread [3]uint32
}

// fakeKernel executes the kernels of devicetest, all but one of them thread by thread.
func fakeKernel(l *cudafake.Launch) cudasys.Status {
	if l.Kernel == "multiply" {
		multiplyAll(l)
		return cudasys.Success
	}
	each(l.Grid, func(block [3]uint32) {
		each(l.Block, func(thread [3]uint32) {
			t := fakeThread{l, block, thread}
			switch l.Kernel {
			case "sum":
				t.sum()
			case "where":
				t.where()
			case "greet":
				t.greet()
			case "poke", "pokeSync":
				t.poke()
			case "optional":
				t.optional()
			}
		})
	})
	return cudasys.Success
}

// each calls f with all indices below n, x counting fastest.
func each(n [3]uint32, f func([3]uint32)) {
	for z := range n[2] {
		for y := range n[1] {
			for x := range n[0] {
				f([3]uint32{x, y, z})
			}
		}
	}
}

// global is the thread's index in the grid, along x.
func (t fakeThread) global() uint64 { return uint64(t.block[0]*t.Block[0] + t.thread[0]) }

func (t fakeThread) param(at int) uint64 { return little.Uint64(t.Params[at:]) }

// element returns element i, of the given size, of the slice parameter at the offset param.
func (t fakeThread) element(param int, i uint64, size int) []byte {
	return t.Bytes(t.param(param)+i*uint64(size), size)
}

func float(p []byte) float32       { return math.Float32frombits(little.Uint32(p)) }
func putFloat(p []byte, v float32) { little.PutUint32(p, math.Float32bits(v)) }

// multiplyAll does the work of all threads at once, because tests launch it tens of thousands of
// times.
func multiplyAll(l *cudafake.Launch) {
	t := fakeThread{Launch: l}
	n := int(min(t.param(56), uint64(l.Grid[0])*uint64(l.Block[0])))
	a, b, c := t.Bytes(t.param(0), 4*n), t.Bytes(t.param(24), 4*n), t.Bytes(t.param(48), 4*n)
	for i := range n {
		putFloat(c[4*i:], float(a[4*i:])*float(b[4*i:]))
	}
}

// sum does the work of its block in the block's last thread.
func (t fakeThread) sum() {
	if t.thread[0] != t.Block[0]-1 {
		return
	}
	var sum float32
	for i := uint64(t.block[0] * t.Block[0]); i <= t.global() && i < t.param(8); i++ {
		sum += float(t.element(0, i, 4))
	}
	putFloat(t.element(24, uint64(t.block[0]), 4), sum)
}

func (t fakeThread) where() {
	linear := func(i, n [3]uint32) uint32 { return (i[2]*n[1]+i[1])*n[0] + i[0] }
	threads := t.Block[0] * t.Block[1] * t.Block[2]
	out := t.element(0, uint64(linear(t.block, t.Grid)*threads+linear(t.thread, t.Block)), 24)
	for i := range 3 {
		little.PutUint32(out[4*i:], t.block[i])
		little.PutUint32(out[12+4*i:], t.thread[i])
	}
}

func (t fakeThread) poke() {
	i, n, index := t.global(), t.param(8), t.param(32)
	if i == t.param(24) {
		if index >= n {
			t.fault(index, n)
			return
		}
		little.PutUint32(t.element(0, index, 4), math.MaxUint32)
	}
	if i < n {
		little.PutUint32(t.element(0, i, 4), uint32(i))
	}
}

func (t fakeThread) optional() {
	i := t.global()
	switch {
	case i >= t.param(8):
	case t.param(24) == 0:
		little.PutUint32(t.element(0, i, 4), uint32(i+1))
	default:
		copy(t.element(0, i, 4), t.element(24, i, 4))
	}
}

func (t fakeThread) fault(args ...uint64) {
	env := t.environment()
	if little.Uint32(env[driver.EnvClaim:]) != 0 {
		return
	}
	little.PutUint32(env[driver.EnvClaim:], 1)
	t.record(t.Bytes(little.Uint64(env[driver.EnvRecord:]), driver.RecordMax), args)
}

func (t fakeThread) greet() {
	env := t.environment()
	const size = driver.RecordArgs + 16
	old := little.Uint32(env[driver.EnvPrintHead:])
	little.PutUint32(env[driver.EnvPrintHead:], old+size)
	if old+size > little.Uint32(env[driver.EnvPrintSize:]) {
		little.PutUint32(env[driver.EnvPrintLost:], little.Uint32(env[driver.EnvPrintLost:])+1)
		return
	}
	record := t.Bytes(little.Uint64(env[driver.EnvPrints:])+uint64(old), size)
	t.record(record, []uint64{uint64(t.thread[0]), uint64(t.block[0])})
}

// environment returns the stream's environment, from the launch's hidden parameters.
func (t fakeThread) environment() []byte {
	return t.Bytes(t.param(len(t.Params)-driver.HiddenBytes), driver.EnvBytes)
}

// record writes a record of site 0.
func (t fakeThread) record(r []byte, args []uint64) {
	copy(r[driver.RecordLaunch:], t.Params[len(t.Params)-driver.HiddenBytes+driver.HiddenLaunch:])
	little.PutUint32(r[driver.RecordSite:], 0)
	for i := range 3 {
		little.PutUint32(r[driver.RecordBlock+4*i:], t.block[i])
		little.PutUint32(r[driver.RecordThread+4*i:], t.thread[i])
	}
	for i, a := range args {
		little.PutUint64(r[driver.RecordArgs+8*i:], a)
	}
	little.PutUint32(r[driver.RecordSize:], uint32(driver.RecordArgs+8*len(args)))
}
