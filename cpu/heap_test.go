package cpu

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestHeapFindsWhatIsLive(t *testing.T) {
	h := heap{limit: 1 << 30}
	var all []driver.Memory
	for _, size := range []int{1, 256, 4096, 8191, 8192, 100_000} {
		m, err := h.allocate(size)
		if err != nil {
			t.Fatal(err)
		}
		if m.Address()%align != 0 {
			t.Errorf("%d bytes at %#x, which is no multiple of %d", size, m.Address(), align)
		}
		all = append(all, m)
	}
	runtime.GC()
	for _, m := range all {
		bytes := m.(*memory).bytes
		n := len(bytes)
		bytes[n-1] = 7
		if got, err := h.find(m.Address()+uintptr(n-1), 1); err != nil || got[0] != 7 {
			t.Errorf("the last of %d bytes: %v, %v", n, got, err)
		}
		if _, err := h.find(m.Address()+uintptr(n), 0); err != nil {
			t.Errorf("no bytes at the end of %d: %v", n, err)
		}
		for _, bad := range [][2]int{{0, n + 1}, {1, n}, {n + 1, 0}, {-1, 1}, {0, -1}} {
			if _, err := h.find(m.Address()+uintptr(bad[0]), bad[1]); !errors.Is(err, device.ErrClosed) {
				t.Errorf("%d bytes at %d of %d: %v", bad[1], bad[0], n, err)
			}
		}
	}
	for i, m := range all {
		if err := m.Free(); err != nil {
			t.Fatal(err)
		}
		if _, err := h.find(m.Address(), 1); !errors.Is(err, device.ErrClosed) {
			t.Errorf("after Free: %v", err)
		}
		if err := m.Free(); !errors.Is(err, device.ErrClosed) {
			t.Errorf("Free, twice: %v", err)
		}
		if len(h.live) != len(all)-1-i {
			t.Errorf("%d allocations are live, want %d", len(h.live), len(all)-1-i)
		}
	}
	if h.used != 0 {
		t.Errorf("%d bytes in use at the end", h.used)
	}
}

func TestHeapIsFull(t *testing.T) {
	h := heap{limit: 1000}
	m, err := h.allocate(600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.allocate(401); !errors.Is(err, device.ErrMemory) {
		t.Errorf("401 bytes of 400: %v", err)
	}
	if err := m.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.allocate(1000); err != nil {
		t.Error(err)
	}
}

// TestHostMemoryIsPoisoned frees pinned and managed memory that the program can still access, and
// registered memory, which belongs to the program.
func TestHostMemoryIsPoisoned(t *testing.T) {
	b := newBackend()
	pinned, err := b.AllocateHost(8, driver.Access{})
	if err != nil {
		t.Fatal(err)
	}
	managed, err := b.AllocateManaged(8)
	if err != nil {
		t.Fatal(err)
	}
	own := make([]byte, 8)
	registered, err := b.RegisterHost(own, driver.Access{})
	if err != nil {
		t.Fatal(err)
	}
	first, second, bad := pinned.Bytes(), managed.Bytes(), slices.Repeat([]byte{0xFF}, 8)
	if err := errors.Join(pinned.Free(), registered.Free()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first, bad) || slices.Equal(second, bad) || slices.Equal(own, bad) {
		t.Errorf("freed memory is %x, open memory %x, registered memory %x", first, second, own)
	}
	if err := b.Close(); err != nil || !slices.Equal(second, bad) {
		t.Errorf("memory of a closed device is %x, %v", second, err)
	}
}

// TestFreedMemoryIsNotFollowed passes addresses of freed memory to a queue.
func TestFreedMemoryIsNotFollowed(t *testing.T) {
	b := newBackend()
	q, err := b.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Allocate(64)
	if err != nil {
		t.Fatal(err)
	}
	at, host := m.Address(), slices.Repeat([]byte{1}, 64)
	if err := m.Free(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"upload":   q.Upload(at, host),
		"download": q.Download(host, at),
		"copy":     q.Copy(at, at, 8),
		"zero":     q.Zero(at, 8),
	} {
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("%s: %v, want %v", what, err, device.ErrClosed)
		}
	}
	if host[0] != 1 {
		t.Error("a download that failed changed the host's memory")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := q.Zero(at, 8); !errors.Is(err, device.ErrClosed) {
		t.Errorf("zero on a closed device: %v", err)
	}
}
