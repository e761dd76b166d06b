package compile_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestGuardedLoads compiles a loop of constant length whose loads are under conditions, in another loop. The inner loop must be unrolled,
// although the outer loop does not change a part of the indices.
func TestGuardedLoads(t *testing.T) {
	k := compileOne(t, `package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
//gpu:block 128,3
func f(t gpu.Thread, table, sums []uint32, n int) {
	for i := t.GlobalX(); i < n; i += 1024 {
		sum := uint32(0)
		for bit := range 31 {
			if i>>bit&1 != 0 {
				sum ^= table[bit+t.ThreadY()*31]
			}
		}
		sums[t.ThreadY()*n+i] = sum
	}
}`)
	loads := 0
	for _, b := range k.IR.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpLoad && !b.Cold {
				loads++
			}
		}
	}
	if loads < 31 {
		t.Errorf("%d loads in code that is not cold, want 31 or more", loads)
	}
}
