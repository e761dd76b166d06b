package cuda

import (
	"encoding/binary"
	"errors"
	"math"
	"path"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// newFake returns a driver with one device that knows the test kernels.
func newFake() *cudafake.Fake {
	f := cudafake.New(cudafake.H200)
	f.Latency = 2
	f.Execute = fakeKernel
	return f
}

// on returns a Linux machine with that driver and the given files.
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

// open returns the fake's first device, and checks at the test's end that nothing leaked
// where the test closed it.
func open(t testing.TB, f *cudafake.Fake) *device.Device {
	t.Helper()
	dev, err := on(f, nil).openDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if live := f.Live(); live != (cudafake.Live{}) {
			t.Errorf("not freed: %+v", live)
		}
	})
	return dev
}

// fakeKernel executes the test kernels, thread by thread.
func fakeKernel(l *cudafake.Launch) cudasys.Status {
	for block := range l.Grid[0] {
		for thread := range l.Block[0] {
			switch l.Kernel {
			case "multiply":
				fakeMultiply(l, block*l.Block[0]+thread)
			case "fault":
				fakeFault(l, block, thread)
			case "print":
				fakePrint(l, block, thread)
			}
		}
	}
	return cudasys.Success
}

var little = binary.LittleEndian

func fakeMultiply(l *cudafake.Launch, i uint32) {
	if uint64(i) >= little.Uint64(l.Params[56:]) {
		return
	}
	at := func(param int) []byte { return l.Bytes(little.Uint64(l.Params[param:])+4*uint64(i), 4) }
	x, y := math.Float32frombits(little.Uint32(at(0))), math.Float32frombits(little.Uint32(at(24)))
	little.PutUint32(at(48), math.Float32bits(x*y))
}

func fakeFault(l *cudafake.Launch, block, thread uint32) {
	i, n := uint64(block*l.Block[0]+thread), little.Uint64(l.Params[8:])
	if i < n {
		x := l.Bytes(little.Uint64(l.Params)+4*i, 4)
		little.PutUint32(x, math.Float32bits(float32(i)))
		return
	}
	env := l.Bytes(little.Uint64(l.Params[24:]), device.EnvBytes)
	if little.Uint32(env[device.EnvClaim:]) != 0 {
		return
	}
	little.PutUint32(env[device.EnvClaim:], 1)
	record := l.Bytes(little.Uint64(env[device.EnvRecord:]), device.RecordMax)
	writeRecord(record, l.Params[32:], block, thread, i, n)
}

func fakePrint(l *cudafake.Launch, block, thread uint32) {
	env := l.Bytes(little.Uint64(l.Params), device.EnvBytes)
	const size = device.RecordArgs + 16
	old := little.Uint32(env[device.EnvPrintHead:])
	little.PutUint32(env[device.EnvPrintHead:], old+size)
	if old+size > little.Uint32(env[device.EnvPrintSize:]) {
		little.PutUint32(env[device.EnvPrintLost:], little.Uint32(env[device.EnvPrintLost:])+1)
		return
	}
	record := l.Bytes(little.Uint64(env[device.EnvPrints:])+uint64(old), size)
	writeRecord(record, l.Params[8:], block, thread, uint64(thread), uint64(block))
}

// writeRecord writes a record of site 0; hidden has the launch's and the kernel's number.
func writeRecord(r, hidden []byte, block, thread uint32, args ...uint64) {
	copy(r[device.RecordLaunch:], hidden[:8])
	clear(r[device.RecordSite:device.RecordArgs])
	little.PutUint32(r[device.RecordBlock:], block)
	little.PutUint32(r[device.RecordThread:], thread)
	for i, a := range args {
		little.PutUint64(r[device.RecordArgs+8*i:], a)
	}
	little.PutUint32(r[device.RecordSize:], uint32(device.RecordArgs+8*len(args)))
}
