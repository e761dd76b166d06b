package device_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestCalls(t *testing.T) {
	f, d, s := newFake(t, io.Discard)
	a, err := device.Upload(s, []int32{1, 2, 3})
	must(t, err)
	b, err := device.Make[int32](s, 2)
	must(t, err)
	must(t, device.UploadTo(s, a.Slice(1, 3), []int32{7, 8}))
	must(t, device.Copy(s, b.All(), a.Slice(0, 2)))
	must(t, device.Download(s, make([]int32, 1), b.Slice(1, 2)))
	must(t, s.Synchronize(t.Context()))
	must(t, a.Close())
	must(t, d.Close())
	wantLog(t, f, "queue", "allocate12", "upload4096 12", "allocate8", "zero8192 8", "upload4100 8",
		"copy8192 4096 8", "download8196 4", "wait", "free4096", "wait", "closequeue", "close")
	wants(t, "closing a buffer of a closed device", b.Close(), device.ErrClosed)
	wantLog(t, f)
}

func TestNothingToMove(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	a, err := device.Upload(s, []int32{})
	must(t, err)
	b, err := device.Make[struct{}](s, 100)
	must(t, err)
	must(t, device.Download(s, nil, a))
	must(t, device.Copy(s, a.All(), a.All()))
	must(t, device.UploadTo(s, b.All(), make([]struct{}, 100)))
	wantLog(t, f, "queue", "allocate1", "allocate1")
}

func TestErrorsFromTheBackend(t *testing.T) {
	f, d, s := newFake(t, io.Discard)
	f.fail["queue"] = errors.New("no queue")
	_, err := d.NewStream()
	wants(t, "NewStream", err, f.fail["queue"])

	f.fail["allocate"] = errors.New("no memory")
	_, err = device.Make[int](s, 1)
	wants(t, "Make", err, f.fail["allocate"])
	must(t, s.Synchronize(t.Context())) // an allocation that fails does not fail the stream
	delete(f.fail, "allocate")

	f.fail["upload"] = errors.New("no upload")
	f.fail["free"] = errors.New("no free")
	f.took()
	_, err = device.Upload(s, []int{1})
	wants(t, "Upload", err, f.fail["upload"])
	wantLog(t, f, "allocate8", "upload4096 8", "free4096")
	wants(t, "the error that stuck", s.Synchronize(t.Context()), f.fail["upload"])

	f.fail["wait"] = errors.New("device is lost")
	wants(t, "Synchronize", s.Synchronize(t.Context()), f.fail["wait"])
	f.fail["close"] = errors.New("no close")
	err = d.Close()
	wants(t, "Close", err, f.fail["wait"])
	wants(t, "Close", err, f.fail["close"])
}

func TestFaultBesideAnotherError(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	f.outcome.Fault = &device.Fault{Kernel: "k"}
	wants(t, "launch", s.Plan(kernel(), device.Grid{}).Launch(), device.ErrMismatch)
	err := s.Synchronize(t.Context())
	wants(t, "Synchronize", err, device.ErrMismatch)
	var fault *device.Fault
	if !errors.As(err, &fault) || fault.Kernel != "k" {
		t.Errorf("Synchronize: %v, want the fault too", err)
	}
	must(t, s.Synchronize(t.Context()))
}

// TestScopeRepeatsNothing checks that Scope returns an error that stuck to its stream once, and a fault beside it.
func TestScopeRepeatsNothing(t *testing.T) {
	f, d, _ := newFake(t, io.Discard)
	var mistake error
	work := func(s *device.Stream) error {
		mistake = s.Plan(kernel(), device.Grid{}).Launch()
		return cmp.Or(mistake, s.Plan(kernel(), device.Grid{}).Launch())
	}
	if err := d.Scope(t.Context(), work); err == nil || err.Error() != mistake.Error() {
		t.Errorf("got %v, want %v", err, mistake)
	}
	f.outcome.Fault = &device.Fault{Kernel: "k"}
	err := d.Scope(t.Context(), work)
	wants(t, "Scope", err, device.ErrMismatch)
	if _, ok := errors.AsType[*device.Fault](err); !ok {
		t.Errorf("got %v, want the fault too", err)
	}
}

func TestCancelledWaitLosesNothing(t *testing.T) {
	var out bytes.Buffer
	f, _, s := newFake(t, &out)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.outcome.Prints = []driver.Print{{Text: "hello\n"}}
	wants(t, "launch", s.Plan(kernel(), device.Grid{}).Launch(), device.ErrMismatch)
	for range 2 {
		err := s.Synchronize(ctx)
		wants(t, "a canceled Synchronize", err, context.Canceled)
		if errors.Is(err, device.ErrMismatch) || out.Len() > 0 {
			t.Errorf("a canceled Synchronize returned %v and printed %q", err, out.String())
		}
	}
	wants(t, "Synchronize", s.Synchronize(t.Context()), device.ErrMismatch)
	if out.String() != "hello\n" {
		t.Errorf("printed %q", out.String())
	}
}

func TestPrintOrder(t *testing.T) {
	var out bytes.Buffer
	f, _, s := newFake(t, &out)
	at := func(launch uint32, by, bx, ty, tx int, text string) driver.Print {
		return driver.Print{Launch: launch, Block: [3]int{bx, by}, Thread: [3]int{tx, ty}, Text: text}
	}
	f.outcome.Prints = []driver.Print{
		at(2, 0, 0, 0, 0, "i"), at(1, 1, 0, 0, 0, "h"), at(1, 0, 10, 0, 0, "g"), at(1, 0, 9, 0, 0, "f"), at(1, 0, 0, 1, 0, "d"),
		at(1, 0, 0, 0, 3, "b"), at(1, 0, 0, 1, 0, "e"), at(1, 0, 0, 0, 3, "c"), at(1, 0, 0, 0, 0, "a"),
	}
	f.outcome.Lost = 5
	must(t, s.Synchronize(t.Context()))
	if got, want := out.String(), "abcdefghi(5 more prints did not fit in the buffer)\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// full is a writer that fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestPrintFails(t *testing.T) {
	for _, outcome := range []driver.Outcome{{Prints: []driver.Print{{Text: "x"}}}, {Lost: 1}} {
		f, _, s := newFake(t, full{})
		f.outcome = outcome
		wants(t, "Synchronize", s.Synchronize(t.Context()), io.ErrShortWrite)
		must(t, s.Synchronize(t.Context()))
	}
}

func TestCloseOfAStreamTellsWhatIsLeft(t *testing.T) {
	var out bytes.Buffer
	f, _, s := newFake(t, &out)
	f.outcome = driver.Outcome{Fault: &device.Fault{}, Prints: []driver.Print{{Text: "last words"}}}
	f.took()
	var fault *device.Fault
	if err := s.Close(); !errors.As(err, &fault) || out.String() != "last words" {
		t.Errorf("Close: %v, printed %q", err, out.String())
	}
	wantLog(t, f, "wait", "closequeue")
	p := s.Plan(kernel(), device.Grid{})
	wants(t, "launch", p.Launch(), device.ErrClosed)
	wantLog(t, f)
}

// TestTwoWait lets a second goroutine wait while another's wait ends, and return first: both return
// the fault.
func TestTwoWait(t *testing.T) {
	var out bytes.Buffer
	f, _, s := newFake(t, &out)
	f.outcome = driver.Outcome{Fault: &device.Fault{}, Prints: []driver.Print{{Text: "once"}}}
	var inner error
	f.waited = func() { inner = s.Synchronize(t.Context()) }
	outer := s.Synchronize(t.Context())
	for which, err := range []error{inner, outer} {
		if _, ok := errors.AsType[*device.Fault](err); !ok {
			t.Errorf("wait %d returned %v, want the fault", which, err)
		}
	}
	if out.String() != "once" {
		t.Errorf("printed %q", out.String())
	}
	must(t, s.Synchronize(t.Context()))
}

// TestLateFault ends an epoch while a goroutine waits that began its wait in it, and lets a later
// kernel fault before that goroutine continues: the fault belongs to the next Synchronize.
func TestLateFault(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	f.waited = func() {
		must(t, s.Synchronize(t.Context()))
		f.outcome = driver.Outcome{Fault: &device.Fault{}}
	}
	must(t, s.Synchronize(t.Context()))
	if _, ok := errors.AsType[*device.Fault](s.Synchronize(t.Context())); !ok {
		t.Error("the fault is lost")
	}
	must(t, s.Synchronize(t.Context()))
}

func TestEvents(t *testing.T) {
	f, _, s := newFake(t, io.Discard)
	_, _, other := newFake(t, io.Discard)
	a, err := s.Record()
	must(t, err)
	b, err := other.Record()
	must(t, err)
	_, err = a.Since(b)
	wants(t, "Since another device's event", err, device.ErrForeign)
	if took, err := a.Since(a); took != time.Second || err != nil {
		t.Errorf("Since: %v, %v, want the mark's second", took, err)
	}
	must(t, a.Close())
	wants(t, "closing twice", a.Close(), device.ErrClosed)
	_, err = a.Since(a)
	wants(t, "Since a closed event", err, device.ErrClosed)
	f.fail["mark"] = errors.New("no mark")
	_, err = s.Record()
	wants(t, "Record", err, f.fail["mark"])
	if got, want := f.took(), []string{"queue", "mark", "wait", "since", "freemark", "mark"}; !slices.Equal(got, want) {
		t.Errorf("the backend was asked for %q, want %q", got, want)
	}
}
