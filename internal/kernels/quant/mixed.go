package quant

import "github.com/gopherwarp/gopherwarp/weights/blocks"

// superBlocks is the number of blocks in a superblock.
const superBlocks = blocks.SizeK / BlockSize

// fields is a format as data: where the bits of a weight are in planes, and where the integers of a scale and a minimum are in a group.
// A kernel for several formats takes it as an argument.
type fields struct {
	Planes               int32  // of a block
	Lower                uint32 // bits of a weight in the first planes, of which there are as many
	Cycle                int32  // Lower - 1
	Upper, Odd           int32  // the first plane with upper bits, and the number of planes after it
	LowerMask, UpperMask uint32 // these bits of each byte, shifted to the right
	Super                int32  // -1 if a superblock has a scale, 0 if each block has one
	Group                group
}

// group is how the scale and the minimum of half a block are computed: a float16 number times an integer. The integer is the bits Mask of
// the group after a shift, by Next more for the second half, of which Sign is flipped, minus Bias. Without groups, it is 1.
type group struct {
	Scale, Minimum, Next uint32
	Mask, Sign, Bias     int32
}

// How blocks have scales.
var (
	single    = group{Bias: -1}                                 // a scale and a minimum for each block
	whole     = group{Minimum: 8, Mask: 255}                    // of a superblock, each times an integer of 8 bits
	halved    = group{Next: 8, Mask: 255, Sign: 128, Bias: 128} // of a superblock, both times the signed integer of a half
	quartered = group{Minimum: 4, Next: 8, Mask: 15}            // of a superblock, times four integers of 4 bits
)

// fields returns the format as data, unless its weights have eight bits.
func (f Format) fields() (of fields) {
	l := layouts[f]
	if l.lower > 4 {
		return of
	}
	of = fields{Planes: int32(f.planes()), Lower: uint32(l.lower), Cycle: int32(l.lower - 1), LowerMask: fieldMask(l.lower), UpperMask: fieldMask(l.upper), Group: l.group}
	if l.upper > 0 {
		of.Upper, of.Odd = int32(l.lower), int32(l.upper-1)
	}
	if f.groups() {
		of.Super = -1
	}
	return of
}

// fieldMask returns the lower bits of each byte of a word.
func fieldMask(bits int) uint32 { return 0x01010101 * (1<<bits - 1) }

// lower and upper return which planes have the lower and the upper bits of word j of a half of a block.
func (of fields) lower(j int) int { return int(int32(j) & of.Cycle) }
func (of fields) upper(j int) int { return int(of.Upper + int32(j)&of.Odd) }

// scale returns the number of the scale of a block. It has no shift by a variable, for which vector code would gather scales.
func (of fields) scale(block int) int {
	return block>>3&int(of.Super) | block&^int(of.Super)
}

// lowerBits and upperBits return bits of the integers of a word, whose sum is the integers, as bytes. They take the planes with these bits. Of
// n planes with n bits of each weight, bits nk to nk+n-1 of byte i of plane j belong to weight 4(j+nk)+i of the block.
func (of fields) lowerBits(plane uint32, w wordOf) uint32 {
	return plane >> (uint32(4*w.half) + uint32(int32(w.j)&^of.Cycle)) & of.LowerMask
}

func (of fields) upperBits(plane uint32, w wordOf) uint32 {
	return plane >> (uint32(4*w.half) + uint32(int32(w.j)&^of.Odd)) & of.UpperMask << of.Lower
}

// scale and minimum return the integers of a half in a group.
func (g group) scale(x int32, half int) float32 {
	return g.integer(x >> (g.Scale + uint32(half)*g.Next))
}
func (g group) minimum(x int32, half int) float32 {
	return g.integer(x >> (g.Minimum + uint32(half)*g.Next))
}

func (g group) integer(x int32) float32 { return float32((x&g.Mask ^ g.Sign) - g.Bias) }
