package dl_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

func libc(t testing.TB) *dl.Library {
	t.Helper()
	names := map[string]string{"linux": "libc.so.6", "darwin": "/usr/lib/libSystem.B.dylib"}
	if names[runtime.GOOS] == "" {
		t.Skip("no C library with a known name on " + runtime.GOOS)
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
