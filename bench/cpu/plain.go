package cpu

func multiplyLoop(a, b, c []float32) {
	for i := range c {
		c[i] = a[i] * b[i]
	}
}

func stencilLoop(in, out []float32, n int) {
	for z := 1; z < n-1; z++ {
		for y := 1; y < n-1; y++ {
			for x := 1; x < n-1; x++ {
				i := (z*n+y)*n + x
				out[i] = 0.4*in[i] + 0.1*(in[i-1]+in[i+1]+in[i-n]+in[i+n]+in[i-n*n]+in[i+n*n])
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

// block is the side of the tiles that matmulLoop works on: three of them fit a first-level cache.
const block = 32

// matmulLoop is a blocked product as one writes it in Go: rows of tiles, the innermost loop along
// rows of b and c.
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
