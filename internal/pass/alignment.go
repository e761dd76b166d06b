package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// mostZeros is how many lower bits alignment looks at: enough for panels, which are multiples of 1024.
const mostZeros = 10

// alignDepth is how many operations alignment looks through.
const alignDepth = 8

// alignment returns a power of two up to 1<<mostZeros that v, an integer, an address or its bits, is a multiple of.
func alignment(v *ir.Value) int64 { return 1 << min(lowZeros(v, alignDepth), mostZeros) }

// lowZeros returns how many lower bits of v are known to be zero.
func lowZeros(v *ir.Value, depth int) int {
	switch {
	case depth == 0 || v.Op == ir.OpPhi:
		return 0
	case v.Op == ir.OpBitcast && v.Args[0].Type.IsPtr():
		return lowZeros(v.Args[0], depth-1)
	}
	return analysis.LowZeros(v, func(x *ir.Value) int { return lowZeros(x, depth-1) })
}
