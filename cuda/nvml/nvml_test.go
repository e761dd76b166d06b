package nvml

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// compiled returns the library compiled from testdata/nvml.c.
func compiled(t *testing.T) *Library {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux and a C compiler")
	}
	file := filepath.Join(t.TempDir(), "libnvml.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", file, "testdata/nvml.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lib, err := dl.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := start(bind(lib.Symbol), lib.Name())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func only(t *testing.T, l *Library) *Device {
	t.Helper()
	all, err := l.Devices()
	if err != nil || len(all) != 1 {
		t.Fatalf("devices: %v, %v", all, err)
	}
	return all[0]
}

func TestCompiledDevice(t *testing.T) {
	l := compiled(t)
	if v, err := l.Versions(); err != nil || v != (Versions{"580.1", "13.580.1", "13.1"}) {
		t.Errorf("versions: %+v, %v", v, err)
	}
	if name, err := l.ProcessName(77); err != nil || name != "/bin/p77" {
		t.Errorf("process: %q, %v", name, err)
	}
	d := only(t, l)
	bus := Bus{ID: "0001:41:02.0", Device: 0x233510DE, Minor: -1, PCIDomain: 1, PCIBus: 0x41, PCIDevice: 2}
	if d.Name() != "Stub" || d.UUID() != "GPU-1" || d.Bus() != bus || d.Index() != 0 || d.Part() != nil {
		t.Errorf("device: %+v", d)
	}
	if serial, err := d.Serial(); serial != "" || err != nil {
		t.Errorf("serial: %q, %v", serial, err)
	}
	if parts, err := d.Parts(); parts != nil || err != nil {
		t.Errorf("parts: %v, %v", parts, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Read(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCompiledReading(t *testing.T) {
	d := only(t, compiled(t))
	r, err := d.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := Reading{
		Load:        Load{GPU: Known(71), Memory: Known(33), Encoder: Known(7)},
		Memory:      Memory{Total: Known(100), Used: Known(39), Free: Known(60), Reserved: Known(1)},
		Power:       Known(123.456),
		Energy:      Known(5e9),
		Temperature: Temperature{GPU: Known(45), Memory: Known(52)},
		Clocks:      Clocks{Graphics: Known(1000), SM: Known(1001), Memory: Known(1002), Video: Known(1003), Held: 0x44},
		Link:        Link{NVLinkSent: Known(1 << 50)},
		Errors: Errors{
			Corrected: Known(0), Uncorrected: Known(10), LifeCorrected: Known(1), LifeUncorrected: Known(11),
			RowsCorrected: Known(1), RowsUncorrected: Known(2), RowsPending: Known(0), RowsFailed: Known(1),
		},
	}
	if r != want {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if names := r.Clocks.Held.Names(); !slices.Equal(names, []string{"power cap", "hardware thermal slowdown"}) {
		t.Errorf("held by %q", names)
	}
	if tr, err := d.Traffic(); err != nil || tr != (Traffic{Known(10000), Known(11000)}) {
		t.Errorf("traffic: %+v, %v", tr, err)
	}
	if s := r.Power.String() + " " + r.PowerLimit.String(); s != "123.456 -" {
		t.Errorf("text: %s", s)
	}
}

func TestCompiledProcesses(t *testing.T) {
	d := only(t, compiled(t))
	all, err := d.Processes()
	want := []Process{{PID: 10, Memory: Known(1 << 20), Instance: 3}, {PID: 11, Instance: -1}}
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("processes: %+v, %v", all, err)
	}
	loads, err := d.ProcessLoads(time.UnixMicro(5000000))
	if err != nil || !slices.Equal(loads, []ProcessLoad{{10, 50, 20, 3, 4}}) {
		t.Errorf("loads: %+v, %v", loads, err)
	}
}

func TestCompiledEvents(t *testing.T) {
	l := compiled(t)
	d := only(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	var got []XID
	err := l.WatchXIDs(ctx, []*Device{d}, func(x XID) { got = append(got, x); cancel() })
	if err != nil || !slices.Equal(got, []XID{{d, 79, -1}}) {
		t.Errorf("events: %+v, %v", got, err)
	}
}

// TestLostDevice reads a device that has fallen off the bus.
func TestLostDevice(t *testing.T) {
	c := bind(func(string) (uintptr, error) { return 0, errors.New("no symbol") })
	l := &Library{calls: c}
	d := &Device{library: l}
	if r, err := d.Read(); err != nil || r != (Reading{}) {
		t.Errorf("a library without functions: %+v, %v", r, err)
	}
	l.calls.number = func(string, handle, *uint32) Status { return GPUIsLost }
	if _, err := d.Read(); !errors.Is(err, GPUIsLost) || err.Error() != "nvml: nvmlDeviceGetPowerUsage: NVML_ERROR_GPU_IS_LOST" {
		t.Errorf("got %v", err)
	}
}

func TestStart(t *testing.T) {
	c := bind(func(string) (uintptr, error) { return 0, errors.New("no symbol") })
	c.plain = func(string) Status { return DriverNotLoaded }
	if _, err := start(c, ""); !errors.Is(err, DriverNotLoaded) || !strings.Contains(err.Error(), "nvmlInit_v2: NVML_ERROR_DRIVER_NOT_LOADED") {
		t.Errorf("got %v", err)
	}
	for field, f := range reflect.ValueOf(c).Fields() {
		if f.IsNil() {
			t.Errorf("bind leaves out %s", field.Name)
		}
	}
	if Status(4711).Error() != "NVML_ERROR(4711)" {
		t.Error(Status(4711))
	}
}

func TestCompiledUsage(t *testing.T) {
	d := only(t, compiled(t))
	first, err := d.Sample()
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.Sample()
	if err != nil {
		t.Fatal(err)
	}
	want := Usage{
		Graphics: Known(101), SM: Known(102), Occupancy: Known(103), Tensor: Known(105), Memory: Known(110), FP64: Known(111), FP32: Known(112),
		Sent: Known(120 << 20), Received: Known(121 << 20),
	}
	if u, err := second.Since(first); err != nil || u != want {
		t.Errorf("usage: %+v, %v", u, err)
	}
	if _, err := first.Since(second); err == nil {
		t.Error("samples in the wrong order were taken")
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
}

// TestMeter expects no values from the first reading, and those between the two samples from the
// second.
func TestMeter(t *testing.T) {
	m := only(t, compiled(t)).Meter()
	if u, err := m.Usage(); err != nil || u != (Usage{}) {
		t.Errorf("first: %+v, %v", u, err)
	}
	if u, err := m.Usage(); err != nil || u.SM != Known(102) || u.Tensor != Known(105) {
		t.Errorf("second: %+v, %v", u, err)
	}
	old := only(t, compiled(t))
	old.library.calls.record = func(string, handle, unsafe.Pointer) Status { return NotSupported }
	if u, err := old.Meter().Usage(); err != nil || u != (Usage{}) {
		t.Errorf("of a GPU without counts: %+v, %v", u, err)
	}
}

// TestMonitors reads a device through its monitor; usage is known from the second time on.
func TestMonitors(t *testing.T) {
	lib := compiled(t)
	monitors, versions, err := lib.Monitors()
	if err != nil || len(monitors) != 1 || versions.Driver == "" {
		t.Fatalf("%d monitors, versions %+v, %v", len(monitors), versions, err)
	}
	m, d := monitors[0], only(t, lib)
	if m.UUID() != d.UUID() {
		t.Errorf("the monitor is of %s, want %s", m.UUID(), d.UUID())
	}
	for _, usage := range []Figure{{}, Known(102)} {
		s, err := m.Read()
		reading, other := d.Read()
		if err != nil || other != nil || s.Reading != reading || s.Usage.SM != usage {
			t.Errorf("got %+v, %v", s, err)
		}
	}
}

func TestLayout(t *testing.T) {
	for name, sizes := range map[string][2]uintptr{
		"memoryInfo":    {unsafe.Sizeof(memoryInfo{}), 40},
		"pciInfo":       {unsafe.Sizeof(pciInfo{}), 68},
		"processInfo":   {unsafe.Sizeof(processInfo{}), 24},
		"processSample": {unsafe.Sizeof(processSample{}), 32},
		"fieldValue":    {unsafe.Sizeof(fieldValue{}), 40},
		"eventData":     {unsafe.Sizeof(eventData{}), 32},
		"gpmMetric":     {unsafe.Sizeof(gpmMetric{}), 40},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, want %d", name, sizes[0], sizes[1])
		}
	}
}

// TestHere reads the GPUs of this machine.
func TestHere(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Skipf("no GPUs to read: %v", err)
	}
	defer l.Close()
	v, err := l.Versions()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %+v", l.Path(), v)
	all, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		r, err := d.Read()
		if err != nil {
			t.Error(err)
		}
		traffic, err := d.Traffic()
		if err != nil {
			t.Error(err)
		}
		processes, err := d.Processes()
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s %s %+v\n%+v\n%+v\n%+v", d.Name(), d.UUID(), d.Bus(), r, traffic, processes)
		if total, ok := r.Memory.Total.Get(); !ok || total < 1<<30 {
			t.Errorf("memory is %v", r.Memory.Total)
		}
	}
}
