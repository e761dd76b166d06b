package quant

import (
	"encoding/binary"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// words are the integers of a block of 32 weights, as bytes: word j has weights 4j to 4j+3.
type words = [BlockSize / 4]uint32

// unpacked is a block of a file as up to eight blocks of 32 weights. Those of Q8_0 are in two's complement; to those of other formats with
// signed integers, a number is added that makes them positive or zero.
type unpacked struct {
	scale, minimum dtype.F16
	groups         [superBlocks]uint16
	words          [superBlocks]words
}

// Masks of the bits of each byte of a word.
const (
	ones    = 0x01010101
	twos    = 0x03030303
	nibbled = 0x0f0f0f0f
)

// read copies a block of a file to a struct of package blocks.
func read[B any](b *B, data []byte) *B {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(b)), unsafe.Sizeof(*b)), data)
	return b
}

// at returns the bytes 4j to 4j+3.
func at(data []byte, j int) uint32 { return binary.LittleEndian.Uint32(data[4*j:]) }

// halfBytes stores the integers of 4 bits of the formats whose names begin with Q4 or Q5 and end with _0 or _1.
func halfBytes(q *[BlockSize / 2]uint8, to *words) {
	for j := range to {
		to[j] = at(q[:], j%4) >> (j / 4 * 4) & nibbled
	}
}

// fifthBits adds the fifth bits: bit i of high is that of weight i.
func fifthBits(high *[BlockSize / 8]uint8, to *words) {
	bits := at(high[:], 0)
	for j := range to {
		four := bits >> (4 * j) & 15
		to[j] |= (four | four<<7 | four<<14 | four<<21) & ones << 4
	}
}

func unpackQ40(data []byte, to *unpacked) {
	b := read(&blocks.Q4_0{}, data)
	to.scale = b.D
	halfBytes(&b.Q, &to.words[0])
}

func unpackQ41(data []byte, to *unpacked) {
	b := read(&blocks.Q4_1{}, data)
	to.scale, to.minimum = b.D, b.M
	halfBytes(&b.Q, &to.words[0])
}

func unpackQ50(data []byte, to *unpacked) {
	b := read(&blocks.Q5_0{}, data)
	to.scale = b.D
	halfBytes(&b.Q, &to.words[0])
	fifthBits(&b.High, &to.words[0])
}

func unpackQ51(data []byte, to *unpacked) {
	b := read(&blocks.Q5_1{}, data)
	to.scale, to.minimum = b.D, b.M
	halfBytes(&b.Q, &to.words[0])
	fifthBits(&b.High, &to.words[0])
}

func unpackQ80(data []byte, to *unpacked) {
	to.scale = dtype.F16(binary.LittleEndian.Uint16(data))
	for j := range to.words[0] {
		to.words[0][j] = at(data[2:], j)
	}
}

// twoBits adds the integers of 2 bits of all blocks, shifted to the left: byte i of each half of q has those of weight i of four
// blocks.
func twoBits(q *[blocks.SizeK / 4]uint8, shift int, to *unpacked) {
	for g := 0; g < len(to.words); g += 4 {
		for j := range to.words[g] {
			x := at(q[8*g:], j)
			for i := range 4 {
				to.words[g+i][j] |= x >> (2 * i) & twos << shift
			}
		}
	}
}

// fourBits stores the integers of 4 bits of all blocks: byte i of each quarter of q has those of weight i of two blocks.
func fourBits(q *[blocks.SizeK / 2]uint8, to *unpacked) {
	for g := 0; g < len(to.words); g += 2 {
		for j := range to.words[g] {
			x := at(q[16*g:], j)
			to.words[g][j], to.words[g+1][j] = x&nibbled, x>>4&nibbled
		}
	}
}

// highBits adds a bit to the integers of all blocks: bit g of byte i is that of weight i of block g.
func highBits(high *[blocks.SizeK / 8]uint8, shift int, to *unpacked) {
	for j := range len(high) / 4 {
		x := at(high[:], j)
		for g := range to.words {
			to.words[g][j] |= x >> g & ones << shift
		}
	}
}

func unpackQ2K(data []byte, to *unpacked) {
	b := read(&blocks.Q2_K{}, data)
	to.scale, to.minimum = b.D, b.Min
	for g := range to.groups {
		to.groups[g] = binary.LittleEndian.Uint16(b.Scales[2*g:])
	}
	to.words = [superBlocks]words{}
	twoBits(&b.Q, 0, to)
}

func unpackQ3K(data []byte, to *unpacked) {
	b := read(&blocks.Q3_K{}, data)
	to.scale = b.D
	for g := range to.groups {
		to.groups[g] = uint16(uint8(b.Scale(2*g))) | uint16(uint8(b.Scale(2*g+1)))<<8
	}
	to.words = [superBlocks]words{}
	twoBits(&b.Q, 0, to)
	highBits(&b.High, 2, to)
}

func unpackQ4K(data []byte, to *unpacked) {
	b := read(&blocks.Q4_K{}, data)
	to.scale, to.minimum = b.D, b.Min
	for g := range to.groups {
		s, o := b.Group(g)
		to.groups[g] = uint16(s) | uint16(o)<<8
	}
	fourBits(&b.Q, to)
}

func unpackQ5K(data []byte, to *unpacked) {
	b := read(&blocks.Q5_K{}, data)
	to.scale, to.minimum = b.D, b.Min
	for g := range to.groups {
		s, o := b.Group(g)
		to.groups[g] = uint16(s) | uint16(o)<<8
	}
	fourBits(&b.Q, to)
	highBits(&b.High, 4, to)
}

func unpackQ6K(data []byte, to *unpacked) {
	b := read(&blocks.Q6_K{}, data)
	to.scale = b.D
	for g := range to.groups {
		to.groups[g] = uint16(uint8(b.Scales[2*g])) | uint16(uint8(b.Scales[2*g+1]))<<8
	}
	for half := range 2 {
		four := to.words[4*half:][:4]
		for j := range 16 { // byte i of each half of Low has weights i and i+64
			x := at(b.Low[64*half:], j)
			four[j/8][j%8], four[2+j/8][j%8] = x&nibbled, x>>4&nibbled
		}
	}
	twoBits(&b.High, 4, to)
}
