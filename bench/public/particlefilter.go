package public

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// particleBlock is the number of threads in a block.
const particleBlock = 512

// video has the sizes of a video, one of its frames, and the number of points of the tracked object.
type video struct{ width, height, frames, frame, points int }

// uniformOf returns a number from 0 to 1 from a linear congruential generator, whose state it advances.
func uniformOf(seed *int32) float64 {
	*seed = (1103515245**seed + 12345) % math.MaxInt32
	return math.Abs(float64(*seed) / math.MaxInt32)
}

// normalOf returns a normally distributed number (Box and Muller 1958).
func normalOf(seed *int32) float64 {
	u, v := uniformOf(seed), uniformOf(seed)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// nearest returns the integer nearest to x >= 0.
func nearest(x float64) int32 {
	n := int32(x)
	if x-float64(n) < 0.5 {
		return n
	}
	return n + 1
}

// particleLikelihood moves each particle, weighs it by the likelihood that the object is at the particle's place, and stores the sum of each
// block's weights, computed by a tree in shared memory. It is the first kernel of Rodinia's particlefilter in float64. Offsets of the object's
// points are pairs of y and x.
//
//gpu:kernel
//gpu:block 512
func particleLikelihood(t gpu.Thread, x, y, oldX, oldY, weights, partial []float64, offsets, seeds []int32, pixels []uint8, v video) {
	sums := gpu.Shared[[particleBlock]float64](t)
	me, i := t.ThreadX(), t.GlobalX()
	if i < len(x) {
		seed := seeds[i]
		x[i] = oldX[i] + 1 + 5*normalOf(&seed)
		y[i] = oldY[i] - 2 + 2*normalOf(&seed)
		seeds[i] = seed
	}
	sums[me] = 0
	t.Sync()
	if i < len(x) {
		var likelihood float64
		for k := range v.points {
			px, py := int(nearest(x[i])+offsets[2*k+1]), int(nearest(y[i])+offsets[2*k])
			at := px*v.height*v.frames + py*v.frames + v.frame
			if at < 0 {
				at = -at
			}
			if at >= v.width*v.height*v.frames {
				at = 0
			}
			p := float64(pixels[at])
			likelihood += ((p-100)*(p-100) - (p-228)*(p-228)) / 50
		}
		weights[i] = math.Exp(likelihood/float64(v.points)) / float64(len(x))
		sums[me] = weights[i]
	}
	t.Sync()
	for half := particleBlock / 2; half > 0; half /= 2 {
		if me < half {
			sums[me] += sums[me+half]
		}
		t.Sync()
	}
	if me == 0 {
		partial[t.BlockX()] = sums[0]
	}
}

// particleSum adds the sums of the blocks in one thread, as in Rodinia.
//
//gpu:kernel
//gpu:block 512
func particleSum(t gpu.Thread, partial []float64) {
	if t.GlobalX() == 0 {
		var sum float64
		for _, v := range partial {
			sum += v
		}
		partial[0] = sum
	}
}

// particleNormalize divides the weights by their sum.
//
//gpu:kernel
//gpu:block 512
func particleNormalize(t gpu.Thread, weights, partial []float64) {
	total := gpu.Shared[float64](t)
	if t.ThreadX() == 0 {
		*total = partial[0]
	}
	t.Sync()
	if i := t.GlobalX(); i < len(weights) {
		weights[i] /= *total
	}
}

// particleCumulate stores the running sums of the weights and the first position of the systematic resampling, in one thread. In Rodinia, this work
// is part of the kernel that normalizes the weights, where it races with the other blocks.
//
//gpu:kernel
//gpu:block 512
func particleCumulate(t gpu.Thread, weights, cumulated, first []float64, seeds []int32) {
	if t.GlobalX() == 0 {
		cumulated[0] = weights[0]
		for i := 1; i < len(weights); i++ {
			cumulated[i] = weights[i] + cumulated[i-1]
		}
		seed := seeds[0]
		first[0] = uniformOf(&seed) / float64(len(weights))
		seeds[0] = seed
	}
}

// particleResample replaces particle i by the first particle whose running sum reaches position i of the resampling. Each thread searches from the
// first particle.
//
//gpu:kernel
//gpu:block 512
func particleResample(t gpu.Thread, x, y, newX, newY, cumulated, first []float64) {
	i := t.GlobalX()
	if i >= len(x) {
		return
	}
	position := first[0] + float64(i)/float64(len(x))
	found := len(x) - 1
	for k := range cumulated {
		if cumulated[k] >= position {
			found = k
			break
		}
	}
	newX[i], newY[i] = x[found], y[found]
}

// particleArrays are the arrays of a particle filter that its check needs.
type particleArrays struct {
	x, y, weights, cumulated, newX, newY, oldX, oldY *harness.Array[float64]
	seeds, offsets                                   *harness.Array[int32]
	pixels                                           *harness.Array[uint8]
	video                                            video
}

// newParticlefilter prepares a step of n particles in a video of 128 x 128 pixels and 10 frames.
func newParticlefilter(b *harness.Bench, n int) harness.Work {
	const side, frames, radius = 128, 10, 5
	p := particleArrays{video: video{side, side, frames, 3, 0}}
	var disk []int32
	for dy := int32(-radius + 1); dy < radius; dy++ {
		for dx := int32(-radius + 1); dx < radius; dx++ {
			if dx*dx+dy*dy < radius*radius {
				disk = append(disk, dy, dx)
			}
		}
	}
	p.video.points = len(disk) / 2
	p.offsets = harness.Input(b, disk)
	p.pixels = harness.Input(b, harness.Random(b, side*side*frames, func(r *rand.Rand, _ int) uint8 { return uint8(100 + r.IntN(129)) }))
	place := func(*rand.Rand, int) float64 { return side / 2 }
	p.oldX, p.oldY = harness.Input(b, harness.Random(b, n, place)), harness.Input(b, harness.Random(b, n, place))
	p.seeds = harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) int32 { return 1 + r.Int32N(math.MaxInt32-1) }))
	seeds := harness.Scratch[int32](b, n)
	nan := harness.NaN[float64]()
	p.x, p.y, p.weights = harness.Result(b, n, nan), harness.Result(b, n, nan), harness.Result(b, n, nan)
	p.cumulated, p.newX, p.newY = harness.Result(b, n, nan), harness.Result(b, n, nan), harness.Result(b, n, nan)
	g, one := device.Cover(n, particleBlock), device.Cover(1, particleBlock)
	partial, first := harness.Scratch[float64](b, g.Blocks.X), harness.Scratch[float64](b, 1)
	want := sync.OnceValue(p.simulate)
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("particleLikelihood", ParticleLikelihood, g, p.x, p.y, p.oldX, p.oldY, p.weights, partial, p.offsets, seeds, p.pixels, harness.ByValue(p.video)),
			harness.Of("particleSum", ParticleSum, one, partial),
			harness.Of("particleNormalize", ParticleNormalize, g, p.weights, partial),
			harness.Of("particleCumulate", ParticleCumulate, one, p.weights, p.cumulated, first, seeds),
			harness.Of("particleResample", ParticleResample, g, p.x, p.y, p.newX, p.newY, p.cumulated, first),
		},
		Restore: restore(seeds, p.seeds),
		Check:   func() error { return p.check(want()) },
	}
}

// moved is what plain Go computes: the places and the weights of particles, and the first position.
type moved struct {
	x, y, weights []float64
	first         float64
}

// simulate moves and weighs the particles.
func (p particleArrays) simulate() moved {
	n, v := len(p.x.Host), p.video
	m := moved{x: make([]float64, n), y: make([]float64, n), weights: make([]float64, n)}
	var total float64
	for i := range n {
		seed := p.seeds.Host[i]
		m.x[i] = p.oldX.Host[i] + 1 + 5*normalOf(&seed)
		m.y[i] = p.oldY.Host[i] - 2 + 2*normalOf(&seed)
		if i == 0 {
			m.first = uniformOf(&seed) / float64(n)
		}
		var likelihood float64
		for k := range v.points {
			px, py := nearest(m.x[i])+p.offsets.Host[2*k+1], nearest(m.y[i])+p.offsets.Host[2*k]
			at := max(int(px)*v.height*v.frames+int(py)*v.frames+v.frame, -(int(px)*v.height*v.frames + int(py)*v.frames + v.frame))
			if at >= len(p.pixels.Host) {
				at = 0
			}
			c := float64(p.pixels.Host[at])
			likelihood += ((c-100)*(c-100) - (c-228)*(c-228)) / 50
		}
		m.weights[i] = math.Exp(likelihood / float64(v.points))
		total += m.weights[i]
	}
	for i := range m.weights {
		m.weights[i] /= total
	}
	return m
}

// check compares places, weights and running sums with plain Go, and the new particles with those that the running
// sums select.
func (p particleArrays) check(want moved) error {
	c := harness.Comparison{Relative: 1e-9, Scale: 1e-9}
	var sum float64
	for _, a := range []struct {
		got  []float64
		want func(i int) float64
	}{
		{p.x.Host, func(i int) float64 { return want.x[i] }},
		{p.y.Host, func(i int) float64 { return want.y[i] }},
		{p.weights.Host, func(i int) float64 { return want.weights[i] }},
	} {
		if err := harness.Compare(c, a.got, a.want); err != nil {
			return err
		}
	}
	for i, w := range want.weights {
		if sum += w; !(math.Abs(p.cumulated.Host[i]-sum) <= 1e-9) {
			return fmt.Errorf("running sum %d is %v, want %v", i, p.cumulated.Host[i], sum)
		}
	}
	n := len(want.x)
	return harness.Examine(n, 0, func(i int) error {
		position := want.first + float64(i)/float64(n)
		for k, c := range p.cumulated.Host {
			if c >= position-1e-12 && p.newX.Host[i] == p.x.Host[k] && p.newY.Host[i] == p.y.Host[k] {
				return nil
			}
			if c >= position+1e-12 {
				break
			}
		}
		if last := n - 1; p.newX.Host[i] == p.x.Host[last] && p.cumulated.Host[last] < position+1e-12 {
			return nil
		}
		return fmt.Errorf("particle %d was replaced by the wrong one", i)
	})
}
