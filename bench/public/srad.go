package public

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// sradTile is the side of a block and of its tile.
const sradTile = 16

// srad1 stores the derivatives of an image in four directions and the coefficient of diffusion: the first half
// of an iteration of speckle-reducing anisotropic diffusion (Yu and Acton 2002), as in Rodinia's srad_v2. A block
// of 16 x 16 threads holds its tile and the rows and columns around it in shared memory. The sides of the image
// are multiples of 16.
//
//gpu:kernel
//gpu:block 16,16
func srad1(t gpu.Thread, image, c, north, south, west, east []float32, cols, rows int, q0 float32) {
	tile := gpu.Shared[[sradTile][sradTile]float32](t)
	above := gpu.Shared[[sradTile][sradTile]float32](t)
	below := gpu.Shared[[sradTile][sradTile]float32](t)
	left := gpu.Shared[[sradTile][sradTile]float32](t)
	right := gpu.Shared[[sradTile][sradTile]float32](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	x, y := t.BlockX()*sradTile+tx, t.BlockY()*sradTile+ty
	i := y*cols + x
	above[ty][tx] = image[max(t.BlockY()*sradTile-1, 0)*cols+x]
	below[ty][tx] = image[min(t.BlockY()*sradTile+sradTile, rows-1)*cols+x]
	left[ty][tx] = image[y*cols+max(t.BlockX()*sradTile-1, 0)]
	right[ty][tx] = image[y*cols+min(t.BlockX()*sradTile+sradTile, cols-1)]
	tile[ty][tx] = image[i]
	t.Sync()
	here := tile[ty][tx]
	var n, s, w, e float32
	if ty == 0 {
		n = above[ty][tx] - here
	} else {
		n = tile[ty-1][tx] - here
	}
	if ty == sradTile-1 {
		s = below[ty][tx] - here
	} else {
		s = tile[ty+1][tx] - here
	}
	if tx == 0 {
		w = left[ty][tx] - here
	} else {
		w = tile[ty][tx-1] - here
	}
	if tx == sradTile-1 {
		e = right[ty][tx] - here
	} else {
		e = tile[ty][tx+1] - here
	}
	g := (n*n + s*s + w*w + e*e) / (here * here)
	l := (n + s + w + e) / here
	num := 0.5*g - 0.0625*(l*l)
	den := 1 + 0.25*l
	q := num / (den * den)
	v := 1 / (1 + (q-q0)/(q0*(1+q0)))
	if v < 0 {
		v = 0
	} else if v > 1 {
		v = 1
	}
	c[i], north[i], south[i], west[i], east[i] = v, n, s, w, e
}

// srad2 updates the image by the divergence of the diffusion: the second half of the iteration that srad1 begins.
//
//gpu:kernel
//gpu:block 16,16
func srad2(t gpu.Thread, image, c, north, south, west, east []float32, cols, rows int, lambda float32) {
	tile := gpu.Shared[[sradTile][sradTile]float32](t)
	below := gpu.Shared[[sradTile][sradTile]float32](t)
	right := gpu.Shared[[sradTile][sradTile]float32](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	x, y := t.BlockX()*sradTile+tx, t.BlockY()*sradTile+ty
	i := y*cols + x
	below[ty][tx] = c[min(t.BlockY()*sradTile+sradTile, rows-1)*cols+x]
	right[ty][tx] = c[y*cols+min(t.BlockX()*sradTile+sradTile, cols-1)]
	tile[ty][tx] = c[i]
	t.Sync()
	here := tile[ty][tx]
	var s, e float32
	if ty == sradTile-1 {
		s = below[ty][tx]
	} else {
		s = tile[ty+1][tx]
	}
	if tx == sradTile-1 {
		e = right[ty][tx]
	} else {
		e = tile[ty][tx+1]
	}
	d := here*north[i] + s*south[i] + here*west[i] + e*east[i]
	image[i] += 0.25 * lambda * d
}

// newSRAD prepares two iterations on an n x n image. The speckle coefficient is that of the initial image.
func newSRAD(b *harness.Bench, n int) harness.Work {
	initial := harness.Input(b, harness.Random(b, n*n, func(r *rand.Rand, _ int) float32 { return float32(math.Exp(r.Float64())) }))
	image := harness.Result(b, n*n, harness.NaN[float32]())
	c, north, south := harness.Scratch[float32](b, n*n), harness.Scratch[float32](b, n*n), harness.Scratch[float32](b, n*n)
	west, east := harness.Scratch[float32](b, n*n), harness.Scratch[float32](b, n*n)
	const lambda = 0.5
	q0 := speckle(initial.Host)
	g, size := plane(n, n, device.Dim{X: sradTile, Y: sradTile}), harness.ByValue(n)
	one := harness.Of("srad1", Srad1, g, image, c, north, south, west, east, size, size, harness.ByValue(q0))
	two := harness.Of("srad2", Srad2, g, image, c, north, south, west, east, size, size, harness.ByValue(float32(lambda)))
	want := sync.OnceValue(func() []float64 {
		return diffused(diffused(widened(initial.Host), n, float64(q0), lambda), n, float64(q0), lambda)
	})
	return harness.Work{
		Ours:    []harness.Launch{one, two, one, two},
		Restore: restore(image, initial),
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-4, Scale: 1}, image.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// speckle returns the variance of an image over the square of its mean.
func speckle(image []float32) float32 {
	var sum, squares float64
	for _, v := range image {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(image))
	return float32((squares/float64(len(image)) - mean*mean) / (mean * mean))
}

// widened returns x in float64.
func widened(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// diffused returns an n x n image after an iteration, in float64.
func diffused(image []float64, n int, q0, lambda float64) []float64 {
	at := func(x, y int) float64 { return image[min(max(y, 0), n-1)*n+min(max(x, 0), n-1)] }
	c, result := make([]float64, n*n), make([]float64, n*n)
	derivatives := func(i int) (north, south, west, east float64) {
		x, y, here := i%n, i/n, image[i]
		return at(x, y-1) - here, at(x, y+1) - here, at(x-1, y) - here, at(x+1, y) - here
	}
	for i, here := range image {
		n, s, w, e := derivatives(i)
		g, l := (n*n+s*s+w*w+e*e)/(here*here), (n+s+w+e)/here
		q := (0.5*g - l*l/16) / ((1 + l/4) * (1 + l/4))
		c[i] = min(max(1/(1+(q-q0)/(q0*(1+q0))), 0), 1)
	}
	for i, here := range image {
		x, y := i%n, i/n
		north, south, west, east := derivatives(i)
		below, right := c[min(y+1, n-1)*n+x], c[y*n+min(x+1, n-1)]
		result[i] = here + lambda/4*(c[i]*north+below*south+c[i]*west+right*east)
	}
	return result
}
