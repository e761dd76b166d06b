package public

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// place is a point on a map, in degrees.
type place struct{ latitude, longitude float32 }

// nn stores the distance of each place from the place passed as from. It is the kernel of Rodinia's nn, with a thread for
// each place and blocks of 256.
//
//gpu:kernel
//gpu:block 256
func nn(t gpu.Thread, places []place, distances []float32, from place) {
	i := t.BlockDimX()*(t.GridDimX()*t.BlockY()+t.BlockX()) + t.ThreadX()
	if i < len(places) {
		p := places[i]
		distances[i] = math32.Sqrt((from.latitude-p.latitude)*(from.latitude-p.latitude) +
			(from.longitude-p.longitude)*(from.longitude-p.longitude))
	}
}

// newNN prepares n places.
func newNN(b *harness.Bench, n int) harness.Work {
	places := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) place {
		return place{180*r.Float32() - 90, 360*r.Float32() - 180}
	}))
	distances, from := harness.Result(b, n, harness.NaN[float32]()), place{30, 90}
	return harness.Work{
		Ours: []harness.Launch{harness.Of("nn", Nn, device.Cover(n, 256), places, distances, harness.ByValue(from))},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-6, Scale: 1}, distances.Host, func(i int) float64 {
				p := places.Host[i]
				return math.Hypot(float64(from.latitude)-float64(p.latitude), float64(from.longitude)-float64(p.longitude))
			})
		},
	}
}
