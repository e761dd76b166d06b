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
	headSize  = 128 // elements of a query, a key or a value
	half      = headSize / 2
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
		{Rows: (s.heads + 2*s.keyHeads) * headSize, Columns: s.hidden},
		{Rows: s.hidden, Columns: s.heads * headSize},
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
	return s.pages() * s.keyHeads * matvec.PageTokens * headSize
}

// angles returns the cosines, then the sines, of the angles of a head's pairs of elements at the position.
func (s shape) angles() []float32 {
	all := make([]float32, headSize)
	for i := range half {
		sin, cos := math.Sincos(float64(s.position) * math.Pow(ropeTheta, -float64(i)/half))
		all[i], all[half+i] = float32(cos), float32(sin)
	}
	return all
}

// pageTable returns a table of pages that follow each other.
func (s shape) pageTable() []int32 {
	all := make([]int32, s.pages())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
