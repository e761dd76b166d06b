package gpu_test

import (
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

func TestFetchAsync(t *testing.T) {
	ts := gpu.OneThread(block([3]int{}), [3]int{})
	ts.Next()
	src := []uint64{1, 2, 3}
	for i, want := range map[int]uint64{-1 << 63: 0, -1: 0, 0: 1, 2: 3, 3: 0, 1 << 40: 0} {
		dst := uint64(99)
		if gpu.FetchAsync(ts.Thread(), &dst, src, i); dst != want {
			t.Errorf("element %d is %d, want %d", i, dst, want)
		}
	}
	dst := uint64(99)
	if gpu.FetchAsync(ts.Thread(), &dst, nil, 0); dst != 0 {
		t.Errorf("an element of nothing is %d", dst)
	}
}

func TestMisalignedCopies(t *testing.T) {
	ts := gpu.OneThread(block([3]int{}), [3]int{})
	ts.Next()
	var words [8]uint64
	bytes := (*[64]byte)(unsafe.Pointer(&words))
	odd := (*[8]byte)(bytes[4:])
	for name, run := range map[string]func(){
		"gpu.CopyAsync: address is not a multiple of the size":  func() { gpu.CopyAsync(ts.Thread(), odd, (*[8]byte)(bytes[16:])) },
		"gpu.FetchAsync: address is not a multiple of the size": func() { gpu.FetchAsync(ts.Thread(), odd, make([][8]byte, 1), 0) },
	} {
		func() {
			defer func() {
				if r := recover(); r != name {
					t.Errorf("panic %v, want %q", r, name)
				}
			}()
			run()
		}()
	}
}
