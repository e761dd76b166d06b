package cpu

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

//go:generate go tool kernelgen .

// nothing does nothing. Its time is the time of a launch.
//
//gpu:kernel
func nothing(t gpu.Thread) {}

// multiply stores the element-wise product of a and b in c.
//
//gpu:kernel
func multiply(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] * b[i]
	}
}

// saxpy adds f times x to y.
//
//gpu:kernel
func saxpy(t gpu.Thread, x, y []float32, f float32) {
	if i := t.GlobalX(); i < len(y) {
		y[i] += f * x[i]
	}
}

// mandelbrot stores, for each pixel of an n x n picture, the number of steps after which the
// iteration diverges.
//
//gpu:kernel
func mandelbrot(t gpu.Thread, steps []float32, n int) {
	x, y := t.GlobalX(), t.GlobalY()
	if x < n && y < n {
		steps[y*n+x] = escape(float32(x)*3/float32(n)-2, float32(y)*3/float32(n)-1.5)
	}
}

// maxSteps is the maximum number of steps.
const maxSteps = 256

func escape(re, im float32) float32 {
	var x, y float32
	steps := 0
	for steps < maxSteps && x*x+y*y < 4 {
		x, y = x*x-y*y+re, 2*x*y+im
		steps++
	}
	return float32(steps)
}

// blackScholes stores in value the price of each European call option, given the price of the share, the strike
// price and the years to maturity.
//
//gpu:kernel
func blackScholes(t gpu.Thread, price, strike, years, value []float32) {
	if i := t.GlobalX(); i < len(value) {
		value[i] = call(price[i], strike[i], years[i])
	}
}

// call returns the price of a call option by the Black-Scholes formula.
func call(price, strike, years float32) float32 {
	const rate, volatility = 0.02, 0.3
	spread := volatility * math32.Sqrt(years)
	d1 := (math32.Log(price/strike) + (rate+volatility*volatility/2)*years) / spread
	return price*normal(d1) - strike*math32.Exp(-rate*years)*normal(d1-spread)
}

// normal is the distribution function of the normal distribution, by a polynomial (Abramowitz and
// Stegun 26.2.17).
func normal(d float32) float32 {
	k := 1 / (1 + 0.2316419*math32.Abs(d))
	sum := k * (0.31938153 + k*(-0.356563782+k*(1.781477937+k*(-1.821255978+k*1.330274429))))
	tail := 0.39894228 * math32.Exp(-0.5*d*d) * sum
	if d > 0 {
		return 1 - tail
	}
	return tail
}

// nbody stores the accelerations of n bodies of equal mass in force: all x, then all y, then all z
// components. The argument at has the bodies' coordinates in the same order.
//
//gpu:kernel
func nbody(t gpu.Thread, at, force []float32, n int) {
	i := t.GlobalX()
	if i >= n {
		return
	}
	x, y, z := at[i], at[n+i], at[2*n+i]
	var fx, fy, fz float32
	for j := range n {
		dx, dy, dz := at[j]-x, at[n+j]-y, at[2*n+j]-z
		d := dx*dx + dy*dy + dz*dz + 0.01
		w := 1 / (d * math32.Sqrt(d))
		fx += dx * w
		fy += dy * w
		fz += dz * w
	}
	force[i], force[n+i], force[2*n+i] = fx, fy, fz
}

// stencil stores, for each inner element of a volume of w x h x d elements, the weighted sum of the
// element and its six neighbors.
//
//gpu:kernel
func stencil(t gpu.Thread, in, out []float32, w, h, d int) {
	x, y, z := t.GlobalX(), t.GlobalY(), t.GlobalZ()
	if x < 1 || y < 1 || z < 1 || x >= w-1 || y >= h-1 || z >= d-1 {
		return
	}
	i := (z*h+y)*w + x
	out[i] = 0.4*in[i] + 0.1*(in[i-1]+in[i+1]+in[i-w]+in[i+w]+in[i-w*h]+in[i+w*h])
}

// width is the number of threads in a block of sums.
const width = 256

// sums stores in out the sum of each block's elements of x.
//
//gpu:kernel
//gpu:block 256
func sums(t gpu.Thread, x, out []float32) {
	part := gpu.Shared[[width]float32](t)
	i := t.ThreadX()
	part[i] = 0
	if g := t.GlobalX(); g < len(x) {
		part[i] = x[g]
	}
	for half := width / 2; half > 0; half /= 2 {
		t.Sync()
		if i < half {
			part[i] += part[i+half]
		}
	}
	if i == 0 {
		out[t.BlockX()] = part[0]
	}
}

// tile is the side of a block of matmul.
const tile = 16

// matmul stores the product of the n x n matrices a and b in c, one tile at a time. n is a multiple
// of 16.
//
//gpu:kernel
//gpu:block 16,16
func matmul(t gpu.Thread, a, b, c []float32, n int) {
	as := gpu.Shared[[tile][tile]float32](t)
	bs := gpu.Shared[[tile][tile]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	row, col := t.GlobalY(), t.GlobalX()
	var sum float32
	for start := 0; start < n; start += tile {
		as[y][x] = a[row*n+start+x]
		bs[y][x] = b[(start+y)*n+col]
		t.Sync()
		for k := range tile {
			sum += as[y][k] * bs[k][x]
		}
		t.Sync()
	}
	c[row*n+col] = sum
}

// naive is like matmul, but does not use tiles.
//
//gpu:kernel
//gpu:block 16,16
func naive(t gpu.Thread, a, b, c []float32, n int) {
	row, col := t.GlobalY(), t.GlobalX()
	if row >= n || col >= n {
		return
	}
	var sum float32
	for k := range n {
		sum += a[row*n+k] * b[k*n+col]
	}
	c[row*n+col] = sum
}
