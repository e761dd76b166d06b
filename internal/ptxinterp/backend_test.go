package ptxinterp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

func TestBackend(t *testing.T) { devicetest.TestBackend(t, ptxinterp.Open) }

func TestBackendSeeded(t *testing.T) {
	devicetest.TestBackend(t, func() (*device.Device, error) {
		return ptxinterp.OpenWith(ptxinterp.Options{Seed: 7})
	})
}

// kernel returns a kernel of one slice of 32-bit numbers. The code finds the slice's address in
// %rd1, the environment's in %rd2 and the thread's index in %r1.
func kernel(name, code string) *driver.Kernel {
	ptx := fmt.Sprintf(`.version 6.0
.target sm_70
.address_size 64
.file 1 "store.go"
.visible .entry %s(.param .align 8 .b8 p[40])
{
	.reg .b32 %%r<4>;
	.reg .b64 %%rd<4>;
	ld.param.u64 %%rd1, [p];
	ld.param.u64 %%rd2, [p+24];
	mov.u32 %%r1, %%tid.x;
	mad.wide.u32 %%rd3, %%r1, 4, %%rd1;
	.loc 1 7 2
	%s
	ret;
}
`, name, code)
	return &driver.Kernel{
		Name: name, ParamBytes: 24 + driver.HiddenBytes,
		Params:   []driver.Param{{Name: "x", Size: 24, Elem: 4}},
		Sites:    []driver.Site{{File: "store.go", Line: 7, Format: "never\n"}},
		Variants: []driver.Variant{{Target: device.Capability{Major: 7}, PTX: &driver.Text{Code: ptx}}},
	}
}

func stream(t *testing.T, o ptxinterp.Options) *device.Stream {
	t.Helper()
	d, err := ptxinterp.OpenWith(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func launch(s *device.Stream, k *driver.Kernel, x device.Slice[uint32], threads int) error {
	p := s.Plan(k, device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: threads}})
	x.Pass(p)
	return p.Launch()
}

// TestViolation demands that an access out of bounds arrives at Synchronize with its place, that
// work after it is left out, and that the stream works afterwards.
func TestViolation(t *testing.T) {
	s := stream(t, ptxinterp.Options{})
	x, err := device.Make[uint32](s, 10)
	if err != nil {
		t.Fatal(err)
	}
	k := kernel("store", "st.global.u32 [%rd3], %r1;")
	if err := launch(s, k, x.All(), 11); err != nil {
		t.Fatal(err)
	}
	if err := device.UploadTo(s, x.Slice(0, 1), []uint32{99}); err != nil {
		t.Fatal(err)
	}
	err = s.Synchronize(t.Context())
	var e *machine.Error
	if !errors.As(err, &e) || !errors.Is(err, machine.ErrAddress) || e.Kernel != "store" || e.Thread != [3]int{10} || e.FileLine != 7 {
		t.Fatalf("error %v", err)
	}
	if !strings.HasPrefix(err.Error(), "ptxinterp: store: store.go:7 (PTX line 14, st.global.u32): address out of bounds: ") {
		t.Errorf("error text %q", err)
	}
	if err := launch(s, k, x.All(), 10); err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, 10)
	if err := device.Download(s, got, x); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil || !slices.Equal(got, []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestBadKernels demands an error from the launch, of kernels that no device runs.
func TestBadKernels(t *testing.T) {
	s := stream(t, ptxinterp.Options{})
	x, err := device.Make[uint32](s, 1)
	if err != nil {
		t.Fatal(err)
	}
	bad := func(change func(k *driver.Kernel)) *driver.Kernel {
		k := kernel("store", "")
		change(k)
		return k
	}
	for _, c := range []struct {
		k    *driver.Kernel
		want string
	}{
		{bad(func(k *driver.Kernel) { k.Name = "other" }), "no entry other"},
		{bad(func(k *driver.Kernel) { k.ParamBytes = 48 }), "the PTX has 40 bytes of parameters and the kernel 48"},
		{bad(func(k *driver.Kernel) { k.Variants[0].Target.Major = 10 }), "no variant"},
		{bad(func(k *driver.Kernel) { k.Variants[0].PTX = &driver.Text{Code: "rubbish"} }), "ptx: line 1"},
		{kernel("store", "frob %r1;"), "ptx: store: line 14: frob: unknown instruction"},
	} {
		for range 2 { // the second launch finds the error in the cache
			err := launch(s, c.k, x.All(), 1)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("launch: %v, want %q", err, c.want)
			}
			if again := s.Synchronize(t.Context()); again == nil {
				t.Error("the error does not stick to the stream")
			}
		}
	}
}

func TestBudget(t *testing.T) {
	s := stream(t, ptxinterp.Options{Budget: 10000})
	x, err := device.Make[uint32](s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := launch(s, kernel("spin", "L: bra L;"), x.All(), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); !errors.Is(err, machine.ErrBudget) {
		t.Errorf("error %v", err)
	}
}

// TestEndless waits for a kernel that another goroutine has launched and that does not end, and closes its queue.
func TestEndless(t *testing.T) {
	d, err := ptxinterp.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := device.Make[uint32](s, 1)
	if err != nil {
		t.Fatal(err)
	}
	launched := make(chan error)
	go func() { launched <- launch(s, kernel("spin", "L: bra L;"), x.All(), 1) }()
	for err = nil; err == nil; { // until the kernel runs
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		err = s.Synchronize(ctx)
		cancel()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Synchronize: %v, want the error of its context", err)
	}
	if err := s.Queue().Close(); !errors.Is(err, machine.ErrStopped) || !strings.Contains(err.Error(), "store.go:7") {
		t.Errorf("Close: %v, want that the kernel was stopped at store.go:7", err)
	}
	if err := <-launched; err != nil {
		t.Errorf("the launch: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestClaimWithoutRecord demands that a kernel which fails while it reports a fault is noticed.
func TestClaimWithoutRecord(t *testing.T) {
	s := stream(t, ptxinterp.Options{})
	x, err := device.Make[uint32](s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := launch(s, kernel("claim", "atom.global.cas.b32 %r2, [%rd2], 0, 1;"), x.All(), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err == nil || !strings.Contains(err.Error(), "left no record") {
		t.Errorf("error %v", err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Errorf("the claim stays: %v", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	d, err := ptxinterp.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := device.Make[byte](s, int(d.Info().Memory)+1); !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v", err)
	}
	if i := d.Info(); i.Kind != "interp" || i.Capability != (device.Capability{Major: 9}) {
		t.Errorf("info %+v", i)
	}
}
