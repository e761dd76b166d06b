package device_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestParameterBlock(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	x, err := device.Make[int16](s, 10)
	must(t, err)
	y, err := device.Make[point](s, 5)
	must(t, err)
	// The second launch reuses the plan of the first, none of whose data may be left.
	for _, c := range []struct {
		x    device.Slice[int16]
		y    device.Slice[point]
		want []uint64
	}{
		{x.All(), y.All(), []uint64{4096, 10, 10, 0xffff_fffe_0000_0001, 8192, 5, 5, 0x4000_0000_3f80_0000, 0, 0}},
		{x.Slice(3, 10), y.Slice(2, 3), []uint64{4102, 7, 7, 0xffff_fffe_0000_0001, 8208, 1, 1, 0x4000_0000_3f80_0000, 0, 0}},
	} {
		must(t, plan(s, kernel(), c.x, c.y).Launch())
		if !slices.Equal(f.params, c.want) {
			t.Errorf("parameter block %#x, want %#x", f.params, c.want)
		}
		p := plan(s, kernel(), c.x, c.y)
		p.SetHidden(nil, 0x1122334455667788, 3, 9)
		must(t, p.Launch())
		if got := f.params[8:]; got[0] != 0x1122334455667788 || got[1] != 9<<32|3 {
			t.Errorf("hidden parameters %#x", got)
		}
	}
}

func TestClosedMeanwhile(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	x, err := device.Make[int16](s, 10)
	must(t, err)
	y, err := device.Make[point](s, 5)
	must(t, err)
	p := plan(s, kernel(), x.All(), y.All())
	f.took()
	must(t, x.Close())
	wants(t, "closing again", x.Close(), device.ErrClosed)
	must(t, p.Launch())
	wantLog(t, f, "launchmix", "free4096")
	must(t, y.Close())
	wantLog(t, f, "free8192")
}

// TestFailedPlanLetsGo makes launches that never reach the back end: the memory of their arguments
// must not stay pinned.
func TestFailedPlanLetsGo(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	for what, spoil := range map[string]func(p *driver.Plan){
		"one argument too many": func(p *driver.Plan) { driver.Pass(p, 1) },
		"a backend that fails":  func(*driver.Plan) { f.fail["launch"] = errors.New("no") },
		"a stream that failed": func(p *driver.Plan) {
			wants(t, "a launch of nothing", s.Plan(&driver.Kernel{}, device.Grid{}).Launch(), device.ErrGrid)
		},
	} {
		x, err := device.Make[int16](s, 10)
		must(t, err)
		p := plan(s, kernel(), x.All(), device.Slice[point]{})
		spoil(p)
		if p.Launch() == nil {
			t.Errorf("%s: no error", what)
		}
		f.took()
		must(t, x.Close())
		if got := f.took(); len(got) != 1 {
			t.Errorf("%s: closing a buffer called %q, want one free", what, got)
		}
		clear(f.fail)
		if s.Synchronize(t.Context()) == nil {
			t.Errorf("%s: Synchronize has no error", what)
		}
	}
}

func TestPlanErrorNamesTheArgument(t *testing.T) {
	_, _, s := newFake(t, io.Discard)
	x, err := device.Make[int16](s, 10)
	must(t, err)
	for want, launch := range map[string]func() error{
		"device: mix: y: nil buffer":                                                                             plan(s, kernel(), x.All(), device.Slice[point]{}).Launch,
		"device: mix: x: [3:11] of 10 elements: slice bounds out of range":                                       plan(s, kernel(), x.Slice(3, 11), device.Slice[point]{}).Launch,
		"device: mix: 0 arguments for 5 parameters: arguments do not match the kernel; regenerate the launchers": s.Plan(kernel(), device.Cover(1, 1)).Launch,
	} {
		err := launch()
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if got := s.Synchronize(t.Context()); got != err {
			t.Errorf("Synchronize: %v, want %v", got, err)
		}
	}
}

func TestLaunchAllocatesNothing(t *testing.T) {
	s, d := stillStream(t)
	k := kernel()
	x, err := device.Make[int16](s, 10)
	must(t, err)
	y, err := device.Make[point](s, 5)
	must(t, err)
	if n := testing.AllocsPerRun(100, func() {
		if err := plan(s, k, x.All(), y.All()).Launch(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a launch allocates %v times", n)
	}
	must(t, d.Close())
}

// stillStream returns a stream of a fake that logs nothing.
func stillStream(t *testing.T) (*device.Stream, *device.Device) {
	t.Helper()
	d := device.New(still{&fake{}})
	s, err := d.NewStreamTo(io.Discard)
	must(t, err)
	return s, d
}

type still struct{ *fake }

func (s still) NewQueue() (driver.Queue, error) { return stillQueue{fakeQueue{s.fake}}, nil }

type stillQueue struct{ fakeQueue }

func (stillQueue) Launch(*driver.Plan) error { return nil }
