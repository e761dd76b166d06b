package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// backpropHidden is the number of hidden units, and the side of a block.
const backpropHidden = 16

// backpropForward stores the partial sums of the hidden units' inputs: a block of 16 x 16 threads adds the products of
// weights and 16 inputs, by a tree in shared memory. It is the layerforward kernel of Rodinia's backprop. Row 0 and
// column 0 of the weights belong to the bias.
//
//gpu:kernel
//gpu:block 16,16
func backpropForward(t gpu.Thread, input, weights, partial []float32) {
	node := gpu.Shared[[backpropHidden]float32](t)
	matrix := gpu.Shared[[backpropHidden][backpropHidden]float32](t)
	by, tx, ty := t.BlockY(), t.ThreadX(), t.ThreadY()
	i := (backpropHidden+1)*backpropHidden*by + (backpropHidden+1)*ty + tx + 1 + (backpropHidden + 1)
	if tx == 0 {
		node[ty] = input[backpropHidden*by+ty+1]
	}
	t.Sync()
	matrix[ty][tx] = weights[i]
	t.Sync()
	matrix[ty][tx] *= node[ty]
	t.Sync()
	for step := 2; step <= backpropHidden; step *= 2 {
		if ty%step == 0 {
			matrix[ty][tx] += matrix[ty+step/2][tx]
		}
		t.Sync()
	}
	if tx == 0 {
		partial[by*backpropHidden+ty] = matrix[0][ty]
	}
}

// backpropAdjust changes each weight by the gradient and a part of the previous change: the adjust_weights kernel of
// Rodinia's backprop.
//
//gpu:kernel
//gpu:block 16,16
func backpropAdjust(t gpu.Thread, delta, input, weights, change []float32) {
	const eta, momentum = 0.3, 0.3
	by, tx, ty := t.BlockY(), t.ThreadX(), t.ThreadY()
	i := (backpropHidden+1)*backpropHidden*by + (backpropHidden+1)*ty + tx + 1 + (backpropHidden + 1)
	y, x := backpropHidden*by+ty+1, tx+1
	d := eta*delta[x]*input[y] + momentum*change[i]
	weights[i] += d
	change[i] = d
	t.Sync()
	if ty == 0 && by == 0 {
		d := eta*delta[x] + momentum*change[x]
		weights[x] += d
		change[x] = d
	}
}

// newBackprop prepares a layer of n inputs, a multiple of 16.
func newBackprop(b *harness.Bench, n int) harness.Work {
	size := (n + 1) * (backpropHidden + 1)
	input, delta := harness.Input(b, harness.Random(b, n+1, harness.Uniform[float32])), harness.Input(b, harness.Random(b, backpropHidden+1, harness.Signed))
	first, firstChange := harness.Input(b, harness.Random(b, size, harness.Uniform[float32])), harness.Input(b, harness.Random(b, size, harness.Signed))
	weights, change := harness.Result(b, size, harness.NaN[float32]()), harness.Result(b, size, harness.NaN[float32]())
	partial := harness.Result(b, n, harness.NaN[float32]())
	g := device.Grid{Blocks: device.Dim{X: 1, Y: n / backpropHidden}, Block: device.Dim{X: backpropHidden, Y: backpropHidden}}
	want := sync.OnceValues(func() (changed, sums []float64) {
		return backpropChanges(delta.Host, input.Host, firstChange.Host), backpropSums(input.Host, first.Host)
	})
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("backpropForward", BackpropForward, g, input, weights, partial),
			harness.Of("backpropAdjust", BackpropAdjust, g, delta, input, weights, change),
		},
		Restore: func(s *device.Stream) error {
			if err := restore(weights, first)(s); err != nil {
				return err
			}
			return restore(change, firstChange)(s)
		},
		Check: func() error {
			d, sums := want()
			c := harness.Comparison{Relative: 1e-5, Scale: 1}
			if err := harness.Compare(c, partial.Host, func(i int) float64 { return sums[i] }); err != nil {
				return err
			}
			return harness.Compare(c, weights.Host, func(i int) float64 { return float64(first.Host[i]) + d[i] })
		},
	}
}

// backpropChanges returns the changes of all weights; those of the bias's column and of the inputs' row 0 but
// for the hidden units are 0.
func backpropChanges(delta, input, before []float32) []float64 {
	d := make([]float64, len(before))
	for i := range d {
		row, col := i/(backpropHidden+1), i%(backpropHidden+1)
		in := float64(input[row])
		if row == 0 {
			in = 1
		}
		if col > 0 {
			d[i] = 0.3*float64(delta[col])*in + 0.3*float64(before[i])
		}
	}
	return d
}

// backpropSums returns the partial sums of blocks of 16 inputs.
func backpropSums(input, weights []float32) []float64 {
	sums := make([]float64, len(input)-1)
	for i := range sums {
		block, unit := i/backpropHidden, i%backpropHidden
		for k := range backpropHidden {
			row := block*backpropHidden + k + 1
			sums[i] += float64(input[row]) * float64(weights[row*(backpropHidden+1)+unit+1])
		}
	}
	return sums
}
