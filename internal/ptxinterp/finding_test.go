package ptxinterp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

// TestRace demands that a race arrives at Synchronize once for all launches, with names of the
// program, that the work after it is done all the same, and that the stream works afterwards.
func TestRace(t *testing.T) {
	s := stream(t, ptxinterp.Checked())
	x, err := device.Make[uint32](s, 10)
	if err != nil {
		t.Fatal(err)
	}
	k := kernel("store", "st.global.u32 [%rd1+8], %r1;")
	for range 3 {
		if err := launch(s, k, x.All(), 4); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]uint32, 10)
	if err := device.Download(s, got, x); err != nil {
		t.Fatal(err)
	}
	err = s.Synchronize(t.Context())
	r, ok := errors.AsType[*machine.Race](err)
	if !ok || r.Count != 9 || r.Shared || r.Earlier.FileLine != 7 || r.Later.Thread != [3]int{1} {
		t.Fatalf("error %v", err)
	}
	const want = "ptxinterp: store: data race: write at store.go:7 (PTX line 14, st.global.u32) by block 0,0,0 thread 0,0,0 and, " +
		"without a barrier in between, write at store.go:7 (PTX line 14, st.global.u32) by block 0,0,0 thread 1,0,0, of x[2]; 9 times"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if want := []uint32{0, 0, 3, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Errorf("the race stays: %v", err)
	}
}

// TestDirtyMemory demands that memory is written once the host, a copy or a kernel has written it.
func TestDirtyMemory(t *testing.T) {
	s := stream(t, ptxinterp.Checked())
	read := kernel("store", "ld.global.u32 %r2, [%rd3];")
	for name, write := range map[string]func(x *device.Buffer[uint32]) error{
		"": func(*device.Buffer[uint32]) error { return nil },
		"kernel": func(x *device.Buffer[uint32]) error {
			return launch(s, kernel("store", "st.global.u32 [%rd3], %r1;"), x.All(), 4)
		},
		"upload": func(x *device.Buffer[uint32]) error { return device.UploadTo(s, x.All(), make([]uint32, 4)) },
		"copy": func(x *device.Buffer[uint32]) error {
			from, err := device.Make[uint32](s, 4)
			return errors.Join(err, device.Copy(s, x.All(), from.All()))
		},
	} {
		x, err := device.MakeDirty[uint32](s, 4)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(x), launch(s, read, x.All(), 4)); err != nil {
			t.Fatal(err)
		}
		err = s.Synchronize(t.Context())
		if errors.Is(err, machine.ErrUnwritten) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestManyFindings demands that a kernel that is wrong everywhere is not shown everywhere.
func TestManyFindings(t *testing.T) {
	s := stream(t, ptxinterp.Checked())
	x, err := device.Make[uint32](s, 100)
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for i := range 100 {
		fmt.Fprintf(&code, ".loc 1 %d 0\nst.global.u32 [%%rd1+%d], %%r1;\n", 100+i, 4*i)
	}
	if err := launch(s, kernel("store", code.String()), x.All(), 4); err != nil {
		t.Fatal(err)
	}
	err = s.Synchronize(t.Context())
	if n := strings.Count(err.Error(), "data race"); n != 20 {
		t.Errorf("%d races", n)
	}
}

// TestTraffic demands the table of all launches when the device is closed.
func TestTraffic(t *testing.T) {
	var table strings.Builder
	d, err := ptxinterp.OpenWith(ptxinterp.Options{Traffic: &table})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := device.Make[uint32](s, 64)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := launch(s, kernel("store", "mad.wide.u32 %rd3, %r1, 4, %rd3; st.global.u32 [%rd3], %r1;"), x.All(), 32); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	const want = `memory traffic of warps: sectors of 32 bytes in global memory, passes over the banks of shared memory
  kernel        line  global  sectors  least  ratio  shared  passes  least  ratio
   store  store.go:7       2       16      8   2.00       -       -      -      -
`
	if table.String() != want {
		t.Errorf("got\n%s", &table)
	}
}

// TestEarly demands a finding if a thread uses what earlier kernels write before it has waited for them, and none where nothing can
// still be running.
func TestEarly(t *testing.T) {
	const wait = "griddepcontrol.wait;\n\t"
	write, read := "st.global.u32 [%rd3], %r1;\n\t", "ld.global.u32 %r2, [%rd3];\n\t"
	waiting := func(code string) *driver.Kernel {
		k := kernel("store", code)
		k.Variants[0].Awaits = true
		return k
	}
	plain, writer := kernel("store", write), waiting(wait+write)
	for name, c := range map[string]struct {
		last  *driver.Kernel
		early bool
		first func(s *device.Stream, x device.Slice[uint32]) error
	}{
		"a read":                      {waiting(read + wait), true, func(s *device.Stream, x device.Slice[uint32]) error { return launch(s, plain, x, 4) }},
		"a write":                     {waiting(write + wait), true, func(s *device.Stream, x device.Slice[uint32]) error { return launch(s, kernel("store", read), x, 4) }},
		"a read after a wait":         {waiting(wait + read), false, func(s *device.Stream, x device.Slice[uint32]) error { return launch(s, plain, x, 4) }},
		"two reads":                   {waiting(read + wait), false, func(s *device.Stream, x device.Slice[uint32]) error { return launch(s, kernel("store", read), x, 4) }},
		"a kernel that does not wait": {kernel("store", read), false, func(s *device.Stream, x device.Slice[uint32]) error { return launch(s, plain, x, 4) }},
		"two kernels before": {waiting(read + wait), true, func(s *device.Stream, x device.Slice[uint32]) error {
			return errors.Join(launch(s, plain, x, 4), launch(s, waiting(wait), x, 4))
		}},
		"a kernel between that does not overlap": {waiting(read + wait), false, func(s *device.Stream, x device.Slice[uint32]) error {
			return errors.Join(launch(s, writer, x, 4), launch(s, kernel("store", ""), x, 4))
		}},
		"a fill between": {waiting(read + wait), false, func(s *device.Stream, x device.Slice[uint32]) error {
			return errors.Join(launch(s, plain, x, 4), device.Fill(s, x.Slice(8, 10), 1))
		}},
		"a host that waits": {waiting(read + wait), false, func(s *device.Stream, x device.Slice[uint32]) error {
			return errors.Join(launch(s, plain, x, 4), s.Synchronize(t.Context()))
		}},
	} {
		s := stream(t, ptxinterp.Checked())
		x, err := device.Make[uint32](s, 10)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(c.first(s, x.All()), launch(s, c.last, x.All(), 4), s.Synchronize(t.Context()))
		if errors.Is(err, machine.ErrEarly) != c.early || !c.early && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
