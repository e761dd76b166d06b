package cpu

import "github.com/gopherwarp/gopherwarp/math32"

func saxpyLoop(x, y []float32, f float32) {
	for i := range y {
		y[i] += f * x[i]
	}
}

func mandelbrotLoop(steps []float32, n int) {
	for y := range n {
		for x := range n {
			steps[y*n+x] = escape(float32(x)*3/float32(n)-2, float32(y)*3/float32(n)-1.5)
		}
	}
}

func blackScholesLoop(price, strike, years, value []float32) {
	for i := range value {
		value[i] = call(price[i], strike[i], years[i])
	}
}

func nbodyLoop(at, force []float32, n int) {
	for i := range n {
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
}

func multiplyLoop(a, b, c []float32) {
	for i := range c {
		c[i] = a[i] * b[i]
	}
}

func stencilLoop(in, out []float32, size [3]int) {
	w, h, d := size[0], size[1], size[2]
	for z := 1; z < d-1; z++ {
		for y := 1; y < h-1; y++ {
			for x := 1; x < w-1; x++ {
				i := (z*h+y)*w + x
				out[i] = 0.4*in[i] + 0.1*(in[i-1]+in[i+1]+in[i-w]+in[i+w]+in[i-w*h]+in[i+w*h])
			}
		}
	}
}

func sumsLoop(x, out []float32) {
	for b := range out {
		var sum float32
		for _, v := range x[b*width : (b+1)*width] {
			sum += v
		}
		out[b] = sum
	}
}

// block is the side of the tiles that matmulLoop works on: three of them fit in a first-level
// cache.
const block = 32

// matmulLoop is a blocked matrix product in idiomatic Go: rows of tiles, with the innermost loop
// along rows of b and c.
func matmulLoop(a, b, c []float32, n int) {
	clear(c)
	for i0 := 0; i0 < n; i0 += block {
		for k0 := 0; k0 < n; k0 += block {
			for j0 := 0; j0 < n; j0 += block {
				for i := i0; i < i0+block; i++ {
					to := c[i*n+j0 : i*n+j0+block]
					for k := k0; k < k0+block; k++ {
						x := a[i*n+k]
						from := b[k*n+j0 : k*n+j0+block]
						for j := range to {
							to[j] += x * from[j]
						}
					}
				}
			}
		}
	}
}
