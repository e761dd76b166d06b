package public

import (
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// pgainShape has the sizes of a call of pgain: the number of points, their dimensions, and the number of centers.
type pgainShape struct{ points, dims, centers int }

// pgain computes the savings if point x becomes a center. For each point, it stores whether the point would switch to the new center, and adds what
// the point saves to the point's row of work. It is the kernel of Rodinia's streamcluster: blocks of 512 threads, the coordinates of x in dynamic
// shared memory, one row of work for each point. Coordinates are stored by dimension.
//
//gpu:kernel
func pgain(t gpu.Thread, coords, weights, costs []float32, assigned, table, switched []int32, work []float32, s pgainShape, x int) {
	candidate := gpu.DynamicShared[float32](t)
	if t.ThreadX() == 0 {
		for d := range s.dims {
			candidate[d] = coords[d*s.points+x]
		}
	}
	t.Sync()
	i := t.GlobalX()
	if i >= s.points {
		return
	}
	lower := work[i*(s.centers+1) : (i+1)*(s.centers+1)]
	var distance float32
	for d := range s.dims {
		difference := coords[d*s.points+i] - candidate[d]
		distance += difference * difference
	}
	cost := distance * weights[i]
	if cost < costs[i] {
		switched[i] = 1
		lower[s.centers] += cost - costs[i]
	} else {
		lower[table[assigned[i]]] += costs[i] - cost
	}
}

// newStreamcluster prepares n points of 64 dimensions that belong to 8 centers.
func newStreamcluster(b *harness.Bench, n int) harness.Work {
	const centers, dims = 8, 64
	s := pgainShape{n, dims, centers}
	coords, weights := harness.Input(b, harness.Random(b, n*dims, harness.Uniform[float32])), harness.Input(b, harness.Random(b, n, harness.Between(0.5, 1.5)))
	costs := harness.Input(b, harness.Random(b, n, harness.Between(5, 16)))
	assigned := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) int32 { return r.Int32N(int32(n)) }))
	table := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) int32 { return r.Int32N(centers) }))
	switched, work := harness.Result(b, n, int32(0)), harness.Result(b, n*(centers+1), float32(0))
	zeros, nobody := harness.Scratch[float32](b, n*(centers+1)), harness.Scratch[int32](b, n)
	g := device.Cover(n, 512)
	g.Shared = 4 * dims
	x := n / 3
	want := sync.OnceValue(func() []float64 {
		w := make([]float64, n*(centers+1))
		for i := range n {
			var distance float64
			for d := range dims {
				difference := float64(coords.Host[d*n+i]) - float64(coords.Host[d*n+x])
				distance += difference * difference
			}
			cost, now := distance*float64(weights.Host[i]), float64(costs.Host[i])
			if row := w[i*(centers+1):]; cost < now {
				row[centers] = cost - now
			} else {
				row[table.Host[assigned.Host[i]]] = now - cost
			}
		}
		return w
	})
	return harness.Work{
		Ours: []harness.Launch{harness.Of("pgain", Pgain, g, coords, weights, costs, assigned, table, switched, work, harness.ByValue(s), harness.ByValue(x))},
		Restore: func(s *device.Stream) error {
			if err := restore(work, zeros)(s); err != nil {
				return err
			}
			return restore(switched, nobody)(s)
		},
		Check: func() error {
			// A point whose costs are equal up to rounding may switch or stay: both rows are nearly 0.
			err := harness.Compare(harness.Comparison{Relative: 1e-5, Scale: 16}, work.Host, func(i int) float64 { return want()[i] })
			if err != nil {
				return err
			}
			return harness.Exactly(switched.Host, func(i int) int32 {
				if work.Host[i*(centers+1)+centers] != 0 {
					return 1
				}
				return 0
			})
		},
	}
}
