package device_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

func TestExplain(t *testing.T) {
	d := device.New(&fake{})
	d.Explain("it is a test")
	if got, want := d.Info().String(), "Fake (fake), because it is a test"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestClosedPinnedIsPoisoned uses memory after Close on a device whose pinned memory is ordinary Go
// memory.
func TestClosedPinnedIsPoisoned(t *testing.T) {
	_, d, _ := newFake(t, io.Discard)
	p, err := device.NewPinned[int32](d, 3)
	must(t, err)
	own := []int32{1, 2, 3}
	r, err := device.Register(d, own)
	must(t, err)
	host := p.Host()
	must(t, p.Close())
	must(t, r.Close())
	if want := []int32{-1, -1, -1}; !slices.Equal(host, want) || p.Host() != nil {
		t.Errorf("after Close the memory is %v, want %v; Host returns %v", host, want, p.Host())
	}
	if !slices.Equal(r.Host(), []int32{1, 2, 3}) {
		t.Errorf("registered memory is %v after Close", r.Host())
	}
}

// TestMemoryLimitOfHugeSizes requests sizes whose sum with the used memory overflows.
func TestRoom(t *testing.T) {
	_, d, s := newFake(t, io.Discard)
	b, err := device.Make[byte](s, 100)
	must(t, err)
	for limit, want := range map[int64]int64{0: math.MaxInt64, 1: 0, 100: 0, 1000: 900} {
		d.SetMemoryLimit(limit)
		if room, err := d.Room(); err != nil || room != want {
			t.Errorf("with the limit %d, there is room for %d bytes, %v, want %d", limit, room, err, want)
		}
	}
	must(t, b.Close())
}

func TestMemoryLimitOfHugeSizes(t *testing.T) {
	_, d, s := newFake(t, io.Discard)
	b, err := device.Make[byte](s, 100)
	must(t, err)
	for _, limit := range []int64{0, 1000, math.MaxInt64} {
		d.SetMemoryLimit(limit)
		_, err := device.MakeDirty[byte](s, math.MaxInt-10)
		wants(t, fmt.Sprintf("nearly MaxInt bytes with limit %d", limit), err, device.ErrMemory)
	}
	must(t, b.Close())
}
