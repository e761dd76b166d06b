package vulkan

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// fusedProbe is a kernel that replaces the first of each three float64 by the fused product and sum of the three.
const fusedProbe = `
.version 6.4
.target sm_75
.address_size 64
.visible .entry probe(.param .align 8 .b8 probe_params[24])
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	.reg .f64 %fd<4>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [probe_params];
	ld.param.u32 %r1, [probe_params+8];
$LOOP:
	ld.global.f64 %fd1, [%rd1];
	ld.global.f64 %fd2, [%rd1+8];
	ld.global.f64 %fd3, [%rd1+16];
	fma.rn.f64 %fd1, %fd1, %fd2, %fd3;
	st.global.f64 [%rd1], %fd1;
	add.s64 %rd1, %rd1, 24;
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra $LOOP;
	ret;
}
`

// TestFused compares fused products and sums of float64, most of which are close to a tie or have results that are subnormal or overflow.
func TestFused(t *testing.T) {
	b := opened(t)
	r := rand.New(rand.NewPCG(1, 2))
	var list [][3]float64
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, 0x1p-1022}
	for _, x := range special {
		for _, y := range special {
			for _, z := range special {
				list = append(list, [3]float64{x, y, z})
			}
		}
	}
	few := func() float64 { // with few bits, so that ties are frequent
		return math.Copysign(float64(1+r.IntN(1<<r.IntN(6))), r.Float64()-0.5)
	}
	for range 15000 {
		x, y := few(), math.Float64frombits(r.Uint64()>>12<<r.IntN(12)>>12|0x3ff<<52)
		if r.IntN(2) == 0 {
			y = few()
		}
		product := []int{-1074 + r.IntN(60) - 30, -1022, 1023, r.IntN(2000) - 1000}[r.IntN(4)]
		first := r.IntN(2000) - 1000
		z := math.Ldexp(few(), max(product+r.IntN(120)-60, -1074))
		list = append(list, [3]float64{math.Ldexp(x, first), math.Ldexp(y, product-first), z})
	}
	const most = 10000 // llvmpipe ends a loop after 65,535 iterations
	for len(list) > 0 {
		n := min(len(list), most)
		var memory []byte
		for _, x := range list[:n] {
			for _, v := range x {
				memory = binary.LittleEndian.AppendUint64(memory, math.Float64bits(v))
			}
		}
		out, err := b.probe(fusedProbe, binary.LittleEndian.AppendUint32(nil, uint32(n)), memory)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, x := range list[:n] {
			got, want := math.Float64frombits(binary.LittleEndian.Uint64(out[24*i:])), math.FMA(x[0], x[1], x[2])
			if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				if wrong++; wrong < 10 {
					t.Errorf("%b*%b%+b is %b, want %b", x[0], x[1], x[2], got, want)
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%d of %d differ", wrong, n)
		}
		list = list[n:]
	}
}
