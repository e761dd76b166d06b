package streamcopy

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCopy copies ranges of many lengths and alignments, and checks that no byte outside of them changes.
func TestCopy(t *testing.T) {
	src := make([]byte, 70_000)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	dst, want := make([]byte, len(src)), make([]byte, len(src))
	for _, n := range []int{0, 1, 63, 64, 16<<10 - 1, 16 << 10, 16<<10 + 63, 16<<10 + 64, 20_000, 32 << 10, 50_000, 65_000} {
		for from := range 70 {
			to := from * 11 % 64
			for i := range dst {
				dst[i], want[i] = 0xee, 0xee
			}
			copy(want[to:to+n], src[from:])
			Copy(dst[to:to+n], src[from:from+n])
			if !bytes.Equal(dst, want) {
				t.Fatalf("%d bytes from %d to %d differ", n, from, to)
			}
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{64 << 10, 2 << 20, 256 << 20} {
		src, dst := make([]byte, n), make([]byte, n)
		for name, f := range map[string]func(){"stream": func() { Copy(dst, src) }, "copy": func() { copy(dst, src) }} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					f()
				}
			})
		}
	}
}
