package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// A source is where the reference takes a model's numbers from.
type source interface {
	// multiply returns the product of a matrix and x.
	multiply(k kind, layer int, x []float64) []float64
	gain(layer, which int) []float64
	vector(token int) []float64 // of the table
	cache(layer int) (k, v []float64)
}

// reference computes a step in float64, except that it rounds to bfloat16 what the kernels store as such. It returns the
// residual stream after the last layer and the logits.
func reference(of shape, from source, token int) (x, logits []float64) {
	x = from.vector(token)
	for l := range of.layers {
		k, v := from.cache(l)
		all := from.multiply(qkv, l, normed(x, from.gain(l, 0)))
		size := of.keyHeads * headSize
		queries, keys, values := all[:of.heads*headSize], all[len(all)-2*size:len(all)-size], all[len(all)-size:]
		of.rotate(queries)
		of.rotate(keys)
		for h := range of.keyHeads {
			at := of.cached(h, of.position)
			copy(k[at:at+headSize], rounded(keys[h*headSize:]))
			copy(v[at:at+headSize], rounded(values[h*headSize:]))
		}
		accumulate(x, from.multiply(output, l, rounded(of.attention(rounded(queries), k, v))))
		both := from.multiply(gateUp, l, normed(x, from.gain(l, 1)))
		mid := both[:of.inner]
		for i, gate := range mid {
			mid[i] = gate / (1 + math.Exp(-gate)) * both[of.inner+i]
		}
		accumulate(x, from.multiply(down, l, rounded(mid)))
	}
	return x, from.multiply(head, 0, normed(x, from.gain(of.layers, 0)))
}

// normed returns x divided by its root mean square and multiplied by gain.
func normed(x, gain []float64) []float64 {
	sum, out := 0.0, make([]float64, len(x))
	for _, v := range x {
		sum += v * v
	}
	for i, v := range x {
		out[i] = v / math.Sqrt(sum/float64(len(x))+epsilon) * gain[i]
	}
	return rounded(out)
}

// rounded returns x rounded to bfloat16.
func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = dtype.BF16From64(v).Float64()
	}
	return out
}

func accumulate(x, y []float64) {
	for i, v := range y {
		x[i] += v
	}
}

// rotate rotates the pairs of elements of heads by the angles of the position.
func (s shape) rotate(x []float64) {
	for ; len(x) > 0; x = x[headSize:] {
		for i := range half {
			sin, cos := math.Sincos(float64(s.position) * math.Pow(ropeTheta, -float64(i)/half))
			x[i], x[i+half] = x[i]*cos-x[i+half]*sin, x[i+half]*cos+x[i]*sin
		}
	}
}

// cached returns the index in a cache of the first element of a head at a position.
func (s shape) cached(head, at int) int {
	return ((at/matvec.PageTokens*s.keyHeads+head)*matvec.PageTokens + at%matvec.PageTokens) * headSize
}

// attention returns the result for each head of queries.
func (s shape) attention(queries, k, v []float64) []float64 {
	out := make([]float64, len(queries))
	for h := range s.heads {
		q, to := queries[h*headSize:][:headSize], out[h*headSize:]
		sum := 0.0
		for p := range s.position + 1 {
			at, score := s.cached(h/(s.heads/s.keyHeads), p), 0.0
			for i, x := range q {
				score += x * k[at+i] / math.Sqrt(headSize)
			}
			sum += math.Exp(score)
			for i := range q {
				to[i] += math.Exp(score) * v[at+i]
			}
		}
		for i := range q {
			to[i] /= sum
		}
	}
	return out
}
