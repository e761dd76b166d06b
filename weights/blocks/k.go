package blocks

import "github.com/gopherwarp/gopherwarp/dtype"

// Q2_K has 2 bits for each weight, in Q. Each group of 16 weights has a byte in Scales: the lower four bits are the scale of the group in
// units of D, and the upper four bits are the amount to subtract in units of Min.
type Q2_K struct {
	Scales [SizeK / 16]uint8
	Q      [SizeK / 4]uint8 // byte i of a half has weights i, i+32, i+64 and i+96 (see the package comment)
	D, Min dtype.F16
}

// Weights returns the weights of the block.
func (b *Q2_K) Weights() (w [SizeK]float32) {
	d, m := b.D.Float32(), b.Min.Float32()
	for group, s := range b.Scales {
		scale, offset := d*float32(s&15), m*float32(s>>4)
		for i := group * 16; i < group*16+16; i++ {
			w[i] = float32(scale*float32(twoBits(&b.Q, i))) - offset
		}
	}
	return w
}

// twoBits returns two bits of weight i: byte i%32 of each half of q has those of four weights.
func twoBits(q *[SizeK / 4]uint8, i int) uint8 {
	return q[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
}

// Q3_K has 3 bits for each weight: two bits in Q, and the inverted sign bit in High. Bit i/32 of High[i%32] is the inverted sign bit of weight
// i. Each group of 16 weights has a signed scale of 6 bits, in units of D.
type Q3_K struct {
	High   [SizeK / 8]uint8
	Q      [SizeK / 4]uint8 // in the order of Q2_K
	Scales [12]uint8
	D      dtype.F16
}

// Weights returns the weights of the block.
func (b *Q3_K) Weights() (w [SizeK]float32) {
	d := b.D.Float32()
	for i := range w {
		q := int(twoBits(&b.Q, i)) - 4 + int(b.High[i%32]>>(i/32)&1)*4
		w[i] = float32(d*float32(b.Scale(i/16))) * float32(q)
	}
	return w
}

// Scale returns the scale of a group of 16 weights, in units of D. Four bits of the scale are in bytes 0 to 7 of Scales, and two bits in
// bytes 8 to 11.
func (b *Q3_K) Scale(group int) int {
	low := b.Scales[group%8] >> (group / 8 * 4) & 15
	high := b.Scales[8+group%4] >> (group / 4 * 2) & 3
	return int(low|high<<4) - 32
}

// Q4_K has 4 bits for each weight. Each group of 32 weights has a scale in units of D, and an amount to subtract in units of Min, of 6 bits
// each.
type Q4_K struct {
	D, Min dtype.F16
	Scales [12]uint8
	Q      [SizeK / 2]uint8 // byte i of a quarter has weights i and i+32
}

// Group returns the scale of a group of 32 weights, in units of D, and the amount to subtract, in units of Min.
func (b *Q4_K) Group(i int) (scale, offset uint8) { return scaleAndOffset(&b.Scales, i) }

// Weights returns the weights of the block.
func (b *Q4_K) Weights() (w [SizeK]float32) {
	d, m := b.D.Float32(), b.Min.Float32()
	for group := range SizeK / 32 {
		s, o := b.Group(group)
		scale, offset := d*float32(s), m*float32(o)
		for i := group * 32; i < group*32+32; i++ {
			w[i] = float32(scale*float32(fourBits(&b.Q, i))) - offset
		}
	}
	return w
}

// fourBits returns four bits of weight i: byte i%32 of each quarter of q has those of two weights.
func fourBits(q *[SizeK / 2]uint8, i int) uint8 {
	return q[i/64*32+i%32] >> (i % 64 / 32 * 4) & 15
}

// scaleAndOffset unpacks the two numbers of a group. Bytes 0 to 3 have the scales of groups 0 to 3 in their lower six bits, and bytes 4 to 7
// their offsets. Bytes 8 to 11 have four bits of the scales and offsets of groups 4 to 7; the upper two bits of bytes 0 to 7 complete them.
func scaleAndOffset(packed *[12]uint8, group int) (scale, offset uint8) {
	if group < 4 {
		return packed[group] & 63, packed[group+4] & 63
	}
	scale = packed[group+4]&15 | packed[group-4]>>6<<4
	offset = packed[group+4]>>4 | packed[group]>>6<<4
	return scale, offset
}

// Q5_K has 5 bits for each weight. Q has the lower four bits, in the order of Q4_K; bit i/32 of High[i%32] is the fifth bit of weight i.
// Scales and offsets are those of Q4_K.
type Q5_K struct {
	D, Min dtype.F16
	Scales [12]uint8
	High   [SizeK / 8]uint8
	Q      [SizeK / 2]uint8
}

// Group returns the scale of a group of 32 weights, in units of D, and the amount to subtract, in units of Min.
func (b *Q5_K) Group(i int) (scale, offset uint8) { return scaleAndOffset(&b.Scales, i) }

// Weights returns the weights of the block.
func (b *Q5_K) Weights() (w [SizeK]float32) {
	d, m := b.D.Float32(), b.Min.Float32()
	for group := range SizeK / 32 {
		s, o := b.Group(group)
		scale, offset := d*float32(s), m*float32(o)
		for i := group * 32; i < group*32+32; i++ {
			q := fourBits(&b.Q, i) | b.High[i%32]>>group&1<<4
			w[i] = float32(scale*float32(q)) - offset
		}
	}
	return w
}

// Q6_K has a number q of 6 bits for each weight: four bits in Low, and two bits in High. Each group of 16 weights has a signed scale. The
// weight is D*scale*(q-32).
type Q6_K struct {
	Low    [SizeK / 2]uint8 // byte i of a half has weights i and i+64
	High   [SizeK / 4]uint8 // in the order of Q2_K
	Scales [SizeK / 16]int8
	D      dtype.F16
}

// Weights returns the weights of the block.
func (b *Q6_K) Weights() (w [SizeK]float32) {
	d := b.D.Float32()
	for i := range w {
		low := b.Low[i/128*64+i%64] >> (i % 128 / 64 * 4) & 15
		q := int(low|twoBits(&b.High, i)<<4) - 32
		w[i] = float32(d*float32(b.Scales[i/16])) * float32(q)
	}
	return w
}
