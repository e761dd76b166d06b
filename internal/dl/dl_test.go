package dl_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

func libc(t testing.TB) *dl.Library {
	t.Helper()
	names := map[string]string{"linux": "libc.so.6", "darwin": "/usr/lib/libSystem.B.dylib"}
	if names[runtime.GOOS] == "" {
		t.Skip("no known name of the C library on " + runtime.GOOS)
	}
	lib, err := dl.Open("no-such-library.so", names[runtime.GOOS])
	if err != nil {
		t.Skipf("no C library here: %v", err)
	}
	return lib
}

func symbol(t testing.TB, name string) uintptr {
	t.Helper()
	address, err := libc(t).Symbol(name)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

var escaped any

// heap returns the address of *p, which it moves to the heap.
func heap[T any](p *T) uintptr {
	escaped = p
	return uintptr(unsafe.Pointer(p))
}

func TestCall(t *testing.T) {
	if got := dl.Call(symbol(t, "getpid")); int(got) != os.Getpid() {
		t.Errorf("getpid returned %d, want %d", got, os.Getpid())
	}
	text := append(make([]byte, 0, 8), "gopher\x00"...)
	if got := dl.Call(symbol(t, "strlen"), heap(&text[0])); got != 6 {
		t.Errorf("strlen returned %d, want 6", got)
	}
	runtime.KeepAlive(text)
}

func TestCallDoesNotAllocate(t *testing.T) {
	memcmp := symbol(t, "memcmp")
	p, q := new([16]byte), new([16]byte)
	allocs := testing.AllocsPerRun(100, func() {
		if dl.Call(memcmp, heap(p), heap(q), 16) != 0 {
			t.Error("zeros differ")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations per call, want 0", allocs)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(q)
}

func TestLibraryNotFound(t *testing.T) {
	_, err := dl.Open("libgopherwarp-a.so", "libgopherwarp-b.so")
	if !errors.Is(err, dl.ErrNotFound) || errors.Is(err, dl.ErrSymbol) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
	for _, name := range []string{"libgopherwarp-a.so", "libgopherwarp-b.so"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

func TestSymbolMissing(t *testing.T) {
	lib := libc(t)
	_, err := lib.Symbol("gopherwarp_missing")
	if !errors.Is(err, dl.ErrSymbol) || errors.Is(err, dl.ErrNotFound) {
		t.Fatalf("got %v, want ErrSymbol", err)
	}
	if want := lib.Name() + ": symbol missing: gopherwarp_missing"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func BenchmarkCall(b *testing.B) {
	abs := symbol(b, "abs")
	b.ReportAllocs()
	for b.Loop() {
		dl.Call(abs, 7)
	}
}

// TestCallPassesAllArguments prints the maximum number of arguments.
func TestCallPassesAllArguments(t *testing.T) {
	snprintf := symbol(t, "snprintf")
	if runtime.GOOS == "darwin" && runtime.GOARCH == "arm64" {
		t.Skip("functions with a variable number of arguments take them elsewhere there")
	}
	text := append([]byte(nil), strings.Repeat("%ld ", dl.MaxArgs-3)+"\x00"...)
	for n := range dl.MaxArgs - 2 {
		text[4*n] = 0
		buffer := make([]byte, 4096)
		args, want := []uintptr{heap(&buffer[0]), uintptr(len(buffer)), heap(&text[0])}, ""
		for i := range n {
			args = append(args, uintptr(1)<<40+uintptr(i))
			want += fmt.Sprint(1<<40+i, " ")
		}
		if got := int(dl.Call(snprintf, args...)); got != len(want) || string(buffer[:len(want)]) != want {
			t.Errorf("%d numbers: printed %q, want %q", n, buffer[:max(0, got)], want)
		}
		if text[4*n] = '%'; n == dl.MaxArgs-3 {
			text[4*n] = 0
		}
		runtime.KeepAlive(buffer)
	}
}

func TestCallAfter(t *testing.T) {
	abs, minus := symbol(t, "abs"), -7
	for _, c := range []struct {
		before dl.Before
		want   uintptr
	}{
		{dl.Before{}, 7},
		{dl.Before{Function: abs, Argument: 0}, 7},
		{dl.Before{Function: abs, Argument: 5}, 5},
	} {
		if got := dl.CallAfter(c.before, abs, uintptr(minus)); got != c.want {
			t.Errorf("%v: got %d, want %d", c.before, got, c.want)
		}
	}
}

// TestCallsLetOthersRun lets more goroutines wait in C than Go has processors, until all of them
// have arrived, while others allocate and the garbage collector moves stacks.
func TestCallsLetOthersRun(t *testing.T) {
	poll, abs := symbol(t, "poll"), symbol(t, "abs")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const patience, readable = time.Minute, 1
	questions := make([]struct{ file, events int32 }, max(64, 2*runtime.GOMAXPROCS(0))) // structs pollfd, on the heap
	file := int32(r.Fd())
	var all, waiting sync.WaitGroup
	waiting.Add(len(questions))
	for i := range questions {
		all.Go(func() {
			questions[i].file, questions[i].events = file, readable
			waiting.Done()
			if n := dl.Call(poll, uintptr(unsafe.Pointer(&questions[i])), 1, uintptr(patience.Milliseconds())); n != 1 {
				t.Errorf("poll returned %d: not all goroutines arrived within %v", int32(n), patience)
			}
		})
	}
	for i := range 8 {
		all.Go(func() { deep(t, abs, 200+i) })
	}
	runtime.GC()
	waiting.Wait()
	if err := w.Close(); err != nil { // ends all waits
		t.Error(err)
	}
	all.Wait()
	runtime.KeepAlive(questions)
}

// deep makes calls from ever deeper stacks.
func deep(t *testing.T, abs uintptr, depth int) {
	var on [64]int
	on[depth%len(on)] = depth
	if depth == 0 {
		return
	}
	if got := dl.Call(abs, uintptr(on[depth%len(on)])); int(got) != depth {
		t.Errorf("got %d, want %d", got, depth)
	}
	deep(t, abs, depth-1)
}

// TestCallFloats prints numbers, which are passed in other registers than the arguments before
// them.
func TestCallFloats(t *testing.T) {
	strfromd, err := libc(t).Symbol("strfromd")
	if err != nil {
		t.Skipf("a C library without strfromd: %v", err)
	}
	buffer, format := make([]byte, 32), append(make([]byte, 0, 8), "%.3f\x00"...)
	abs, minus := symbol(t, "abs"), -7
	for _, before := range []dl.Before{{}, {Function: abs}} {
		clear(buffer)
		n := dl.CallFloats(before, strfromd, 1, heap(&buffer[0]), uintptr(len(buffer)), heap(&format[0]), uintptr(math.Float64bits(-2.5)))
		if got := string(buffer[:n]); got != "-2.500" {
			t.Errorf("printed %q, want -2.500", got)
		}
	}
	if n := dl.CallFloats(dl.Before{Function: abs, Argument: uintptr(minus)}, strfromd, 1, 0, 0, 0, 0); n != 7 {
		t.Errorf("after a failure: %d, want 7", n)
	}
	runtime.KeepAlive(buffer)
	runtime.KeepAlive(format)
}

// TestCallManyFloats passes the maximum number of floating-point arguments.
func TestCallManyFloats(t *testing.T) {
	snprintf := symbol(t, "snprintf")
	if runtime.GOARCH != "amd64" {
		t.Skip("functions with a variable number of arguments may take them elsewhere there")
	}
	buffer, format := make([]byte, 32), append(make([]byte, 0, 16), "%d %g %g\x00"...)
	n := dl.CallFloats(dl.Before{}, snprintf, 2, heap(&buffer[0]), uintptr(len(buffer)), heap(&format[0]), 5,
		uintptr(math.Float64bits(0.25)), uintptr(math.Float64bits(1e10)))
	if got := string(buffer[:n]); got != "5 0.25 1e+10" {
		t.Errorf("printed %q", got)
	}
	runtime.KeepAlive(buffer)
	runtime.KeepAlive(format)
}
