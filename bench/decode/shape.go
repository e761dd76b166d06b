package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// shape is the shape of a model of the Llama family.
type shape struct {
	layers, hidden  int
	heads, keyHeads int // of queries, and of keys and values
	inner           int // numbers between gate and down
	vocabulary      int
	position        int // of the token that a step computes: the number of tokens before
}

// llama8B is the shape of Llama 3.1 8B after 127 tokens.
var llama8B = shape{layers: 32, hidden: 4096, heads: 32, keyHeads: 8, inner: 14336, vocabulary: 128256, position: 127}

const (
	epsilon   = 1e-5
	ropeTheta = 500000
	half      = matvec.HeadSize / 2
)

// kind is a kind of matrix.
type kind int

// The matrices of a layer, and the last one of the model.
const (
	qkv kind = iota
	output
	gateUp
	down
	head
	kinds
)

var kindNames = [kinds]string{"qkv", "output", "gate+up", "down", "head"}

// matrix returns the shape of a matrix.
func (s shape) matrix(k kind) matvec.Shape {
	return [kinds]matvec.Shape{
		{Rows: (s.heads + 2*s.keyHeads) * matvec.HeadSize, Columns: s.hidden},
		{Rows: s.hidden, Columns: s.heads * matvec.HeadSize},
		{Rows: 2 * s.inner, Columns: s.hidden},
		{Rows: s.hidden, Columns: s.inner},
		{Rows: s.vocabulary, Columns: s.hidden},
	}[k]
}

// count returns the number of matrices of a kind.
func (s shape) count(k kind) int {
	if k == head {
		return 1
	}
	return s.layers
}

// bytes returns the size of the matrices that a step reads.
func (s shape) bytes() (n int) {
	for k := range kinds {
		n += s.count(k) * s.size(k)
	}
	return n
}

// size returns the bytes of a matrix.
func (s shape) size(k kind) int {
	m := s.matrix(k)
	return 2 * m.Rows * m.Columns
}

// workspace returns the elements of scratch memory for any of the matrices.
func (s shape) workspace() (most int) {
	for k := range kinds {
		most = max(most, s.matrix(k).Workspace())
	}
	return most
}

// pages returns the number of pages of the cache.
func (s shape) pages() int { return s.position/matvec.PageTokens + 1 }

// parts returns the number of parts of tokens that attention works on.
func (s shape) parts() int { return s.pages() * matvec.PageTokens / partTokens }

// cache returns the number of elements of the keys, or of the values, of a layer.
func (s shape) cache() int {
	return s.pages() * s.keyHeads * matvec.PageTokens * matvec.HeadSize
}

// turns returns the cosine and the sine of the angle of each pair of elements, at each position of the cache.
func (s shape) turns() (all [][2]float32) {
	for p := range s.pages() * matvec.PageTokens {
		for i := range half {
			sin, cos := math.Sincos(float64(p) * math.Pow(ropeTheta, -float64(i)/half))
			all = append(all, [2]float32{float32(cos), float32(sin)})
		}
	}
	return all
}
