package kerneltest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// An Opener opens a device.
type Opener func() (*device.Device, error)

// errNoGPU is the error of an Opener on a machine without a GPU. Stream skips the test.
var errNoGPU = errors.New("no GPU")

// Runs reports whether a test runs a form in an execution. The form for GPUs has no generated code for CPUs, so that all executions on
// the CPU run the same code: go test has one of them.
func Runs(execution string, form row.Form) bool {
	other := execution != "native" && execution != "interp" && execution != "cuda"
	return form == row.Plain || !other || sweep.Whole()
}

// Executions returns the devices to test kernels on, by name: the CPU's vector code for each vector unit, its twins without vector
// code, the kernels' own Go functions, the interpreter, and the first GPU.
func Executions() map[string]Opener {
	list := map[string]Opener{"scalar": CPU(cpu.Scalar), "native": cpu.OpenNative, "interp": ptxinterp.Open, "cuda": openCUDA}
	for name, open := range VectorUnits() {
		list[name] = open
	}
	return list
}

// Some returns the devices to test what calls kernels on, by name: all in sweeps; otherwise without the kernels' own Go functions and without
// AVX2, unless that is all there is.
func Some() map[string]Opener {
	list := Executions()
	if sweep.Whole() {
		return list
	}
	delete(list, "native")
	if list["AVX-512"] != nil {
		delete(list, "AVX2")
	}
	return list
}

// VectorUnits returns the CPU devices with vector code that this machine can run, by name.
func VectorUnits() map[string]Opener {
	list := map[string]Opener{}
	if cpu.VectorLanes() > 8 {
		list["AVX-512"] = CPU(cpu.Fastest)
	}
	if cpu.VectorLanes() > 0 {
		list["AVX2"] = CPU(cpu.AVX2)
	}
	return list
}

// CPU returns the opener of a CPU device that runs threads in the given way.
func CPU(way cpu.Threads) Opener {
	return func() (*device.Device, error) { return cpu.OpenThreads(way) }
}

// openCUDA opens the first GPU.
func openCUDA() (*device.Device, error) {
	if _, err := cuda.List(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoGPU, err)
	}
	return cuda.Open(0)
}

// Device returns a device, which is closed when the test ends. It skips the test if the device is a GPU that is not there.
func Device(tb testing.TB, open Opener) *device.Device {
	tb.Helper()
	dev, err := open()
	if errors.Is(err, errNoGPU) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := dev.Close(); err != nil {
			tb.Error(err)
		}
	})
	return dev
}

// Stream returns a stream of a device, as Device does.
func Stream(tb testing.TB, open Opener) *device.Stream {
	tb.Helper()
	dev := Device(tb, open)
	s, err := dev.NewStream()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Upload returns a copy of host in device memory, which is freed when the test ends.
func Upload[T any](tb testing.TB, s *device.Stream, host []T) device.Slice[T] {
	tb.Helper()
	b, err := device.Upload(s, host)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := b.Close(); err != nil {
			tb.Error(err)
		}
	})
	return b.All()
}

// Download waits for the stream and returns a copy of device memory.
func Download[T any](tb testing.TB, s *device.Stream, from device.Slice[T]) []T {
	tb.Helper()
	host := make([]T, from.Len())
	if err := errors.Join(device.Download(s, host, from), s.Synchronize(tb.Context())); err != nil {
		tb.Fatal(err)
	}
	return host
}
