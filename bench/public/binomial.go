package public

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The sizes of binomialOptions: steps of time, threads of a block, values of a thread.
const (
	binomialSteps   = 2048
	binomialThreads = 128
	binomialOwn     = binomialSteps / binomialThreads
)

// binomialOption is an option and its model: the price now, the strike, the volatility of a step, and the discounted
// probabilities of rising and falling.
type binomialOption struct{ price, strike, step, up, down float32 }

// atExpiry returns the value of an option after all steps, of which i went up.
func (o binomialOption) atExpiry(i int) float32 {
	return max(o.price*math32.Exp(o.step*float32(2*i-binomialSteps))-o.strike, 0)
}

// binomialOptions stores the prices of European call options by the binomial model (Cox, Ross and Rubinstein 1979): the
// kernel of CUDA's binomialOptions sample. A block of 128 threads computes an option. A thread has 16 values in
// registers. At each step it obtains the next thread's first value through shared memory.
//
//gpu:kernel
//gpu:block 128
func binomialOptions(t gpu.Thread, options []binomialOption, calls []float32) {
	exchange := gpu.Shared[[binomialThreads + 1]float32](t)
	me, o := t.ThreadX(), options[t.BlockX()]
	var call [binomialOwn + 1]float32
	for i := range binomialOwn {
		call[i] = o.atExpiry(me*binomialOwn + i)
	}
	if me == 0 {
		exchange[binomialThreads] = o.atExpiry(binomialSteps)
	}
	last := max(0, me*binomialOwn-1)
	for i := binomialSteps; i > 0; i-- {
		exchange[me] = call[0]
		t.Sync()
		call[binomialOwn] = exchange[me+1]
		t.Sync()
		if i > last {
			for j := range binomialOwn {
				call[j] = o.up*call[j+1] + o.down*call[j]
			}
		}
	}
	if me == 0 {
		calls[t.BlockX()] = call[0]
	}
}

// newBinomialOptions prepares n options.
func newBinomialOptions(b *harness.Bench, n int) harness.Work {
	const rate, volatility = 0.06, 0.1
	options := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) binomialOption {
		years := (0.25 + 9.75*r.Float64()) / binomialSteps
		step := volatility * math.Sqrt(years)
		grown, up, down := math.Exp(rate*years), math.Exp(step), math.Exp(-step)
		rises := (grown - down) / (up - down)
		return binomialOption{5 + 25*r.Float32(), 1 + 99*r.Float32(), float32(step), float32(rises / grown), float32((1 - rises) / grown)}
	}))
	calls := harness.Result(b, n, harness.NaN[float32]())
	g := device.Grid{Blocks: device.Dim{X: n}, Block: device.Dim{X: binomialThreads}}
	return harness.Work{
		Ours: []harness.Launch{harness.Of("binomialOptions", BinomialOptions, g, options, calls)},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 2e-4, Scale: 10, Most: 64}, calls.Host, func(i int) float64 { return options.Host[i].value() })
		},
	}
}

// value returns the price of the option, in float64.
func (o binomialOption) value() float64 {
	calls := make([]float64, binomialSteps+1)
	for i := range calls {
		calls[i] = max(float64(o.price)*math.Exp(float64(o.step)*float64(2*i-binomialSteps))-float64(o.strike), 0)
	}
	for n := binomialSteps; n > 0; n-- {
		for i := range n {
			calls[i] = float64(o.up)*calls[i+1] + float64(o.down)*calls[i]
		}
	}
	return calls[0]
}
