package blocks

import (
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Size is the number of weights in a block of the types whose names end with _0 or _1. SizeK is the number of weights in a block of the
// types whose names end with _K.
const (
	Size  = 32
	SizeK = 256
)

// Q4_0 has a number q of 4 bits for each weight. The weight is D*(q-8). The lower four bits of the bytes of Q have weights 0 to 15, the upper
// four bits have weights 16 to 31.
type Q4_0 struct {
	D dtype.F16
	Q [Size / 2]uint8
}

// Weights returns the weights of the block.
func (b *Q4_0) Weights() (w [Size]float32) {
	d := b.D.Float32()
	for i, q := range b.Q {
		w[i] = d * float32(int(q&15)-8)
		w[i+Size/2] = d * float32(int(q>>4)-8)
	}
	return w
}

// Q4_1 has a number q of 4 bits for each weight, in the order of Q4_0. The weight is D*q + M.
type Q4_1 struct {
	D, M dtype.F16
	Q    [Size / 2]uint8
}

// Weights returns the weights of the block.
func (b *Q4_1) Weights() (w [Size]float32) {
	d, m := b.D.Float32(), b.M.Float32()
	for i, q := range b.Q {
		w[i] = float32(d*float32(q&15)) + m
		w[i+Size/2] = float32(d*float32(q>>4)) + m
	}
	return w
}

// Q5_0 has a number q of 5 bits for each weight. The weight is D*(q-16). Q has the lower four bits, in the order of Q4_0; bit i%8 of
// High[i/8] is the fifth bit of weight i.
type Q5_0 struct {
	D    dtype.F16
	High [Size / 8]uint8
	Q    [Size / 2]uint8
}

// Weights returns the weights of the block.
func (b *Q5_0) Weights() (w [Size]float32) {
	d := b.D.Float32()
	for i := range w {
		w[i] = d * float32(int(fifth(&b.High, &b.Q, i))-16)
	}
	return w
}

// Q5_1 has a number q of 5 bits for each weight, in the order of Q5_0. The weight is D*q + M.
type Q5_1 struct {
	D, M dtype.F16
	High [Size / 8]uint8
	Q    [Size / 2]uint8
}

// Weights returns the weights of the block.
func (b *Q5_1) Weights() (w [Size]float32) {
	d, m := b.D.Float32(), b.M.Float32()
	for i := range w {
		w[i] = float32(d*float32(fifth(&b.High, &b.Q, i))) + m
	}
	return w
}

// fifth returns the five bits of weight i.
func fifth(high *[Size / 8]uint8, q *[Size / 2]uint8, i int) uint8 {
	low := q[i%(Size/2)] >> (i / (Size / 2) * 4) & 15
	return low | high[i/8]>>(i%8)&1<<4
}

// Q8_0 has a signed byte q for each weight. The weight is D*q.
type Q8_0 struct {
	D dtype.F16
	Q [Size]int8
}

// Weights returns the weights of the block.
func (b *Q8_0) Weights() (w [Size]float32) {
	d := b.D.Float32()
	for i, q := range b.Q {
		w[i] = d * float32(q)
	}
	return w
}
