package public

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// eigenThreads is the number of threads in a block, and the largest side of a matrix.
const eigenThreads = 512

// eigenShared is the shared memory of a block: intervals of the real axis, the numbers of eigenvalues below their
// ends, sums of the new intervals, the matrix, and the number of intervals.
type eigenShared struct {
	left, right           [eigenThreads]float32
	leftCount, rightCount [eigenThreads]int32
	sums                  [eigenThreads]int32
	diagonal, squares     [eigenThreads]float32
	active                int32
}

// below returns how many eigenvalues of the matrix of n rows are less than x, from Sturm's sequence.
func (s *eigenShared) below(n int, x float32) int32 {
	count, delta := int32(0), float32(1)
	for k := range n {
		square := float32(0)
		if k > 0 {
			square = s.squares[k-1]
		}
		delta = s.diagonal[k] - x - square/delta
		if delta < 0 {
			count++
		}
	}
	return count
}

// scan replaces each thread's number in sums by the sum of those up to it.
func (s *eigenShared) scan(t gpu.Thread) {
	me := t.ThreadX()
	for step := 1; step < eigenThreads; step *= 2 {
		var v int32
		if me >= step {
			v = s.sums[me-step]
		}
		t.Sync()
		s.sums[me] += v
		t.Sync()
	}
}

// eigenvalues stores the eigenvalues of symmetric tridiagonal matrices by bisection (Barth, Martin and Wilkinson 1967). It is the kernel for small
// matrices in CUDA's eigenvalues sample (Lessig 2007), with a block of 512 threads for each matrix. A thread bisects an interval. If both halves
// contain eigenvalues, the right half becomes a new interval, and a scan gives the new interval an index. The matrices have n rows, eigenvalues
// from low to high, and nonzero off-diagonal elements.
//
//gpu:kernel
//gpu:block 512
func eigenvalues(t gpu.Thread, diagonal, off, values []float32, n int, low, high, precision float32) {
	s := gpu.Shared[eigenShared](t)
	me, first := t.ThreadX(), t.BlockX()*n
	if me < n {
		s.diagonal[me] = diagonal[first+me]
		s.squares[me] = off[first+me] * off[first+me]
	}
	if me == 0 {
		s.left[0], s.right[0], s.leftCount[0], s.rightCount[0], s.active = low, high, 0, int32(n), 1
	}
	t.Sync()
	for {
		active, divide := int(s.active), false
		var left, right, middle float32
		var leftCount, rightCount, count int32
		if me < active {
			left, right, leftCount, rightCount = s.left[me], s.right[me], s.leftCount[me], s.rightCount[me]
			if right-left > max(precision, 1e-6*max(math32.Abs(left), math32.Abs(right))) {
				divide = true
				middle = 0.5 * (left + right)
				count = s.below(n, middle)
				count = min(max(count, leftCount), rightCount)
			}
		}
		if !t.SyncOr(divide) {
			break
		}
		isNew := int32(0)
		switch {
		case !divide:
		case count == leftCount:
			s.left[me] = middle
		case count == rightCount:
			s.right[me] = middle
		default:
			s.right[me], s.rightCount[me] = middle, count
			isNew = 1
		}
		s.sums[me] = isNew
		t.Sync()
		s.scan(t)
		if isNew == 1 {
			to := active + int(s.sums[me]) - 1
			s.left[to], s.right[to], s.leftCount[to], s.rightCount[to] = middle, right, count, rightCount
		}
		if me == 0 {
			s.active += s.sums[eigenThreads-1]
		}
		t.Sync()
	}
	if me < int(s.active) {
		for k := s.leftCount[me]; k < s.rightCount[me]; k++ {
			values[first+int(k)] = 0.5 * (s.left[me] + s.right[me])
		}
	}
}

// newEigenvalues prepares n matrices of 512 rows, as many as a block can have intervals.
func newEigenvalues(b *harness.Bench, n int) harness.Work {
	const side, limit = eigenThreads, 3.5
	diagonal := harness.Input(b, harness.Random(b, n*side, harness.Signed))
	off := harness.Input(b, harness.Random(b, n*side, func(r *rand.Rand, _ int) float32 { return 0.25 + 0.75*r.Float32() }))
	values := harness.Result(b, n*side, harness.NaN[float32]())
	g := device.Grid{Blocks: device.Dim{X: n}, Block: device.Dim{X: eigenThreads}}
	want := sync.OnceValue(func() []float64 {
		all := make([]float64, n*side)
		harness.InParallel(len(all), func(_, start, end int) {
			for i := start; i < end; i++ {
				first := i / side * side
				all[i] = eigenvalue(diagonal.Host[first:][:side], off.Host[first:], i%side)
			}
		})
		return all
	})
	return harness.Work{
		Ours: []harness.Launch{harness.Of("eigenvalues", Eigenvalues, g, diagonal, off, values, harness.ByValue(side),
			harness.ByValue(float32(-limit)), harness.ByValue(float32(limit)), harness.ByValue(float32(1e-5)))},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 2e-5, Scale: 1}, values.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// eigenvalue returns the eigenvalue of a matrix that has k smaller ones, by bisection in float64.
func eigenvalue(diagonal, off []float32, k int) float64 {
	low, high := -4.0, 4.0
	for high-low > 1e-9 {
		middle, count, delta, square := (low+high)/2, 0, 1.0, 0.0
		for i, d := range diagonal {
			delta = float64(d) - middle - square/delta
			if delta == 0 {
				delta = math.SmallestNonzeroFloat64
			}
			if delta < 0 {
				count++
			}
			square = float64(off[i]) * float64(off[i])
		}
		if count > k {
			high = middle
		} else {
			low = middle
		}
	}
	return (low + high) / 2
}
