package cuda

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

func TestList(t *testing.T) {
	small := cudafake.Device{Name: "Fake V100", Bus: "0000:0b:00.0", Major: 7, Minor: 0, Memory: 1 << 28}
	infos, err := on(cudafake.New(cudafake.H200, small), map[string]string{
		"/sys/module/nvidia/version": "580.159.04\n",
	}).list()
	check(t, err)
	if len(infos) != 2 {
		t.Fatalf("%d devices, want 2", len(infos))
	}
	want := device.Info{
		Kind: "cuda", GPU: true, Index: 1, Name: "Fake V100", Memory: 1 << 28, Capability: device.Capability{Major: 7},
		Bus: "0000:0b:00.0", Driver: "580.159.04, CUDA 13.0", Cores: 132,
		Limits: driver.Limits{
			ThreadsPerBlock: 1024, Block: [3]int{1024, 1024, 64},
			Grid: [3]int{1<<31 - 1, 65535, 65535}, SharedPerBlock: 48 << 10,
			SharedDynamic: 227 << 10, Cooperative: true,
		},
	}
	if infos[1] != want {
		t.Errorf("got  %+v\nwant %+v", infos[1], want)
	}
}

// broken returns machines that have no usable GPU, each for a different reason, with the expected
// results of Open and Diagnose.
func broken() []brokenMachine {
	driver := map[string]string{"/sys/module/nvidia/version": "580.159.04\n", "/dev/nvidiactl": "", "/dev/nvidia0": ""}
	fails := func(function string, s cudasys.Status) *cudafake.Fake {
		f := cudafake.New(cudafake.H200)
		f.Fail(function, 0, s)
		return f
	}
	return []brokenMachine{
		{
			name: "no driver", machine: without(on(cudafake.New(), nil), fmt.Errorf("%w: library not found", cudasys.ErrNoDriver)),
			kind: ErrNoDriver, what: "no NVIDIA driver was found (libcuda.so.1)", do: "install its driver",
		},
		{
			name: "no driver in a container",
			machine: without(on(cudafake.New(), map[string]string{"/.dockerenv": ""}),
				fmt.Errorf("%w: library not found", cudasys.ErrNoDriver)),
			kind: ErrNoDriver, what: "no NVIDIA driver was found (libcuda.so.1)", do: "docker run --gpus all",
		},
		{
			name: "no driver for the system", machine: darwin(),
			kind: ErrNoDriver, what: "NVIDIA has no driver for darwin", do: "run on Linux",
		},
		{
			name:    "library lacks a symbol",
			machine: without(on(cudafake.New(), driver), fmt.Errorf("%w: it lacks cuMemAlloc_v2", cudasys.ErrOldDriver)),
			kind:    ErrOldDriver, what: "the NVIDIA driver is too old", do: "Install a driver of version 525",
		},
		{
			name: "no device", machine: on(cudafake.New(), driver),
			kind: ErrNoDevice, what: "the NVIDIA driver sees no GPU", do: "CUDA_VISIBLE_DEVICES",
		},
		{
			name: "nouveau", machine: on(cudafake.New(), map[string]string{"/sys/module/nouveau": ""}),
			kind: ErrNoDevice, what: "the NVIDIA driver sees no GPU", do: "Blacklist nouveau",
		},
		{
			name: "module not loaded", machine: on(cudafake.New(), nil),
			kind: ErrNoDevice, what: "the NVIDIA driver sees no GPU", do: "modprobe nvidia",
		},
		{
			name: "container without a GPU", machine: on(cudafake.New(), map[string]string{"/.dockerenv": ""}),
			kind: ErrNoDevice, what: "the NVIDIA driver sees no GPU", do: "docker run --gpus all",
		},
		{
			name: "no permission", machine: forbidding(on(cudafake.New(), driver), "/dev/nvidia0"),
			kind: ErrPermission, what: "there is no permission to use the NVIDIA GPU (/dev/nvidia0)", do: "join its group",
		},
		{
			name: "driver does not initialize", machine: on(fails("cuInit", cudasys.SystemDriverMismatch), driver),
			kind: ErrDeviceInit, what: "the NVIDIA driver failed to initialize (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)", do: "Restart the machine",
		},
		{
			name: "device does not initialize", machine: on(fails("cuDevicePrimaryCtxRetain", cudasys.DeviceUnavailable), driver),
			kind: ErrDeviceInit, what: "device 0 (Fake H200) failed to initialize (CUDA_ERROR_DEVICE_UNAVAILABLE)", do: "nvidia-smi -c 0",
		},
		{
			name: "an unknown status", machine: on(fails("cuInit", 12345), driver),
			kind: ErrDeviceInit, what: "the NVIDIA driver failed to initialize (CUDA_ERROR(12345))", do: "nvidia-smi",
		},
	}
}

type brokenMachine struct {
	name     string
	machine  machine
	kind     error
	what, do string
}

func without(m machine, err error) machine {
	m.load = func() (*cudasys.Driver, error) { return nil, err }
	return m
}

func darwin() machine {
	m := without(on(cudafake.New(), nil), cudasys.ErrNoDriver)
	m.os = "darwin"
	return m
}

func forbidding(m machine, path string) machine {
	m.open = func(name string) error {
		if name == path {
			return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		}
		return nil
	}
	return m
}

func TestUnavailable(t *testing.T) {
	kinds := []error{ErrNoDriver, ErrOldDriver, ErrNoDevice, ErrPermission, ErrDeviceInit}
	for _, test := range broken() {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.machine.openDevice(0)
			u, ok := errors.AsType[*Unavailable](err)
			if !ok {
				t.Fatalf("got %v, want an Unavailable", err)
			}
			for _, kind := range kinds {
				if errors.Is(err, kind) != (kind == test.kind) {
					t.Errorf("%v is %v: %v", err, kind, errors.Is(err, kind))
				}
			}
			if u.What != test.what || !strings.Contains(u.Do, test.do) || u.Means == "" {
				t.Errorf("got %q, %q, %q; want %q ... %q", u.What, u.Means, u.Do, test.what, test.do)
			}
		})
	}
}

func TestUnavailableText(t *testing.T) {
	_, err := broken()[0].machine.openDevice(0)
	want := "cuda: no NVIDIA driver was found (libcuda.so.1). Programs reach an NVIDIA GPU through this library, " +
		"which is part of the driver. If this machine has an NVIDIA GPU, install its driver from your distribution " +
		"or from www.nvidia.com/drivers; nothing else is needed."
	if err.Error() != want {
		t.Errorf("got  %q\nwant %q", err, want)
	}
}

func TestStatusesOfStart(t *testing.T) {
	f := cudafake.New(cudafake.H200)
	f.Fail("cuInit", 1, cudasys.SystemNotReady)
	_, err := on(f, nil).openDevice(0)
	if !errors.Is(err, cudasys.SystemNotReady) {
		t.Errorf("%v does not match its status", err)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Call != "cuInit" {
		t.Errorf("%v has no *Error of cuInit", err)
	}
}

func TestNoSuchIndex(t *testing.T) {
	for _, index := range []int{-1, 1, 100} {
		_, err := on(newFake(), nil).openDevice(index)
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), fmt.Sprintf("no CUDA device %d.", index)) ||
			!strings.Contains(err.Error(), "sees 1") {
			t.Errorf("device %d: got %v", index, err)
		}
	}
}

func TestDescribeFails(t *testing.T) {
	f := newFake()
	f.Fail("cuDeviceGetAttribute", 3, cudasys.InvalidValue)
	_, err := on(f, nil).list()
	if want := "cuda: cuDeviceGetAttribute(device 0): CUDA_ERROR_INVALID_VALUE"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDiagnose(t *testing.T) {
	for _, test := range broken() {
		t.Run(test.name, func(t *testing.T) {
			r := test.machine.diagnose()
			if r.Usable() {
				t.Error("the machine is reported as usable")
			}
			found := false
			for _, f := range r.Findings {
				if f.OK != (f.Means == "" && f.Do == "") {
					t.Errorf("a finding that is OK with means and advice, or one that is not OK without: %+v", f)
				}
				found = found || f.What == test.what && strings.Contains(f.Do, test.do)
			}
			if !found {
				t.Errorf("no finding %q with %q in %+v", test.what, test.do, r.Findings)
			}
		})
	}
}

func TestDiagnoseHealthy(t *testing.T) {
	f := newFake()
	r := on(f, map[string]string{
		"/sys/module/nvidia/version": "580.159.04\n", "/dev/nvidiactl": "", "/dev/nvidia-uvm": "", "/dev/nvidia0": "",
		"/proc/self/maps": "7f1-7f2 r-xp 0000 00:00 1   /usr/bin/program\n7f3-7f4 r-xp 0000 00:00 2   /usr/lib/libcuda.so.580.159.04\n",
	}).diagnose()
	want := []string{
		"the driver's library is libcuda-fake.so.1 (/usr/lib/libcuda.so.580.159.04)",
		"the kernel module nvidia is loaded, version 580.159.04",
		"the 3 device files /dev/nvidia* can be opened",
		"the driver supports CUDA 13.0",
		"device 0 is Fake H200, compute capability 9.0, 1 GiB, at 0000:41:00.0",
	}
	for i, f := range r.Findings {
		if !f.OK || i >= len(want) || f.What != want[i] {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
	if len(r.Findings) != len(want) || !r.Usable() || r.Devices[0].Name != "Fake H200" {
		t.Errorf("got %+v", r)
	}
	if live := f.Live(); live != (cudafake.Live{}) {
		t.Errorf("not freed: %+v", live)
	}
}
