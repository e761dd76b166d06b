package numbers

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//gpu:kernel
//gpu:contract off
func exponentials(t gpu.Thread, in, out []float64) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = math.Exp(in[i])
	}
}

// exponentialsOf compares math.Exp with its portable algorithm: all bits. A CPU may run the kernel's own Go code, whose normal results
// are within two units in the last place.
func exponentialsOf(r *check.Run) {
	in := exponents()
	out := check.Make[float64](r, len(in))
	r.Launch(Exponentials(r.Stream, device.Cover(len(in), 32), check.Upload(r, in...), out))
	native := r.Device.Info().Kind == "cpu"
	for i, got := range check.Get(r, out) {
		want := portableExp(in[i])
		near := math.Float64bits(got)-math.Float64bits(want)+2 <= 4 || math.Abs(in[i]) > 708
		if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) && !(native && near) {
			r.Wrong("the exponential of %x is %x, want %x", in[i], got, want)
			return
		}
	}
}

// exponents returns numbers of all kinds, those next to the limits of the algorithm's cases, and those next to where it rounds to
// another power of two.
func exponents() []float64 {
	r := rand.New(rand.NewPCG(7, 11))
	list := append(reals(), 704, -704, 709.782712893384, 709.7827128933841, -708.3964185322641, -745.1332191019411, -745.1332191019412)
	for _, x := range []float64{0x1p-28, 704, math.Ln2 / 2} {
		list = append(list, math.Nextafter(x, 0), math.Nextafter(x, 1000), -math.Nextafter(x, 0), -math.Nextafter(x, 1000))
	}
	for range 1000 {
		x := (float64(r.IntN(2150)-1075) + 0.5) * math.Ln2
		for _, bits := range []int{1, 3, 20, 40} {
			list = append(list, math.Float64frombits(math.Float64bits(x)+r.Uint64N(1<<bits)-r.Uint64N(1<<bits)))
		}
		list = append(list, r.Float64()-0.5, (r.Float64()-0.5)*1500, math.Ldexp(r.Float64()-0.5, -r.IntN(60)))
	}
	return list
}

// portableExp computes e**x as math.Exp does where it is not written in assembly. Conversions keep products from being fused with sums.
func portableExp(x float64) float64 {
	switch {
	case x != x || x > 709.782712893384:
		return x + math.Inf(1)
	case x < -745.1332191019411:
		return 0
	case math.Abs(x) < 0x1p-28:
		return 1 + x
	}
	k := math.Trunc(float64(math.Log2E*x) + math.Copysign(0.5, x))
	hi, lo := x-float64(k*0x1.62e42feep-1), k*0x1.a39ef35793c76p-33
	r := hi - lo
	t, p := r*r, 4.13813679705723846039e-08
	for _, coefficient := range []float64{-1.65339022054652515390e-06, 6.61375632143793436117e-05, -2.77777777770155933842e-03, 1.66666666666666657415e-01} {
		p = coefficient + float64(t*p)
	}
	c := r - float64(t*p)
	return math.Ldexp(1-((lo-float64(r*c)/(2-c))-hi), int(k))
}
