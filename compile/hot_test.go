package compile_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestHotCode compiles kernels of a few lines and counts, in the code of narrow launches that fault nowhere, the checks and the
// operations of 64 bits other than addresses.
func TestHotCode(t *testing.T) {
	cases := []struct {
		name, kernel string
		checks, wide int
	}{
		{"clamped", `func f(t gpu.Thread, a, b []float32, w, h int) {
	x, y := t.GlobalX(), t.GlobalY()
	left, below := min(max(x-1, 0), w-1), max(min(y+1, h-1), 0)
	b[y*w+x] = a[below*w+left]
}`, 0, 0},
		{"column", `func f(t gpu.Thread, a, b []float32, w, h, layers int) {
	c := t.GlobalY()*w + t.GlobalX()
	for range layers {
		b[c] = a[c]
		c += w * h
	}
}`, 0, 0},
		{"neighbour in a column", `func f(t gpu.Thread, a, b []float32, w, h, layers int) {
	c := t.GlobalY()*w + t.GlobalX()
	west := c
	if t.GlobalX() > 0 {
		west = c - 1
	}
	for range layers - 1 {
		b[c] = a[west]
		c, west = c+w*h, west+w*h
	}
	b[c] = -a[west]
}`, 0, 0},
		{"blocks", `func f(t gpu.Thread, a, b []float32) {
	i := (t.BlockY()*t.GridDimX()+t.BlockX())*256 + t.ThreadY()*16 + t.ThreadX()
	b[i] = a[i]
}`, 0, 0},
		{"binary search", `func f(t gpu.Thread, a []float32, counts []int32, n int) {
	for i := range n {
		for k := range n {
			low, high := 0, 20
			for high > low+1 {
				if middle := (low + high) / 2; a[middle] < float32(i-k) {
					low = middle
				} else {
					high = middle
				}
			}
			counts[0] += int32(a[low] + a[high])
		}
	}
}`, 0, 0},
	}
	var kernels []string
	for _, c := range cases {
		kernels = append(kernels, c.kernel)
	}
	compiled := inOnePackage(t, "//gpu:kernel\n//gpu:block 16,16\n", kernels)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checks, wide := hot(compiled[i])
			if checks != c.checks || wide != c.wide {
				t.Errorf("%d checks and %d operations of 64 bits, want %d and %d", checks, wide, c.checks, c.wide)
			}
		})
	}
}

// hot counts checks and sums, products and comparisons of 64 bits in the blocks that are not cold and that the test at the
// start of the kernel leads to.
func hot(k *compile.Kernel) (checks, wide int) {
	for _, b := range k.IR.Blocks[1:] {
		for _, v := range b.Values {
			switch {
			case b.Cold:
			case v.Op == ir.OpCheck:
				checks++
			case v.Op == ir.OpAdd, v.Op == ir.OpSub, v.Op == ir.OpMul, v.Op == ir.OpULt, v.Op == ir.OpSLt:
				if v.Args[0].Type.Kind == ir.KindI64 {
					wide++
				}
			}
		}
	}
	return checks, wide
}
