package public

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// A key has keyBytes bytes, each with one of keyValues values.
const (
	keyBytes  = 7
	keyValues = 10
)

// digestState is the state of MD5 (RFC 1321).
type digestState struct{ a, b, c, d uint32 }

// digestStep returns the state after a step with f, the value of the round's function, and the step's other input.
func digestStep(s digestState, f, input uint32, shift int) digestState {
	return digestState{s.d, s.b + bits.RotateLeft32(s.a+f+input, shift), s.b, s.c}
}

func digestF(s digestState, x uint32, shift int, k uint32) digestState {
	return digestStep(s, s.b&s.c|^s.b&s.d, x+k, shift)
}

func digestG(s digestState, x uint32, shift int, k uint32) digestState {
	return digestStep(s, s.b&s.d|s.c&^s.d, x+k, shift)
}

func digestH(s digestState, x uint32, shift int, k uint32) digestState {
	return digestStep(s, s.b^s.c^s.d, x+k, shift)
}

func digestI(s digestState, x uint32, shift int, k uint32) digestState {
	return digestStep(s, s.c^(s.b|^s.d), x+k, shift)
}

// digestOf returns the MD5 of a padded message of two words and a number of bits.
func digestOf(first, second, bits uint32) digestState {
	start := digestState{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}
	s := start
	s = digestF(s, first, 7, 0xd76aa478)
	s = digestF(s, second, 12, 0xe8c7b756)
	s = digestF(s, 0, 17, 0x242070db)
	s = digestF(s, 0, 22, 0xc1bdceee)
	s = digestF(s, 0, 7, 0xf57c0faf)
	s = digestF(s, 0, 12, 0x4787c62a)
	s = digestF(s, 0, 17, 0xa8304613)
	s = digestF(s, 0, 22, 0xfd469501)
	s = digestF(s, 0, 7, 0x698098d8)
	s = digestF(s, 0, 12, 0x8b44f7af)
	s = digestF(s, 0, 17, 0xffff5bb1)
	s = digestF(s, 0, 22, 0x895cd7be)
	s = digestF(s, 0, 7, 0x6b901122)
	s = digestF(s, 0, 12, 0xfd987193)
	s = digestF(s, bits, 17, 0xa679438e)
	s = digestF(s, 0, 22, 0x49b40821)
	s = digestG(s, second, 5, 0xf61e2562)
	s = digestG(s, 0, 9, 0xc040b340)
	s = digestG(s, 0, 14, 0x265e5a51)
	s = digestG(s, first, 20, 0xe9b6c7aa)
	s = digestG(s, 0, 5, 0xd62f105d)
	s = digestG(s, 0, 9, 0x02441453)
	s = digestG(s, 0, 14, 0xd8a1e681)
	s = digestG(s, 0, 20, 0xe7d3fbc8)
	s = digestG(s, 0, 5, 0x21e1cde6)
	s = digestG(s, bits, 9, 0xc33707d6)
	s = digestG(s, 0, 14, 0xf4d50d87)
	s = digestG(s, 0, 20, 0x455a14ed)
	s = digestG(s, 0, 5, 0xa9e3e905)
	s = digestG(s, 0, 9, 0xfcefa3f8)
	s = digestG(s, 0, 14, 0x676f02d9)
	s = digestG(s, 0, 20, 0x8d2a4c8a)
	s = digestH(s, 0, 4, 0xfffa3942)
	s = digestH(s, 0, 11, 0x8771f681)
	s = digestH(s, 0, 16, 0x6d9d6122)
	s = digestH(s, bits, 23, 0xfde5380c)
	s = digestH(s, second, 4, 0xa4beea44)
	s = digestH(s, 0, 11, 0x4bdecfa9)
	s = digestH(s, 0, 16, 0xf6bb4b60)
	s = digestH(s, 0, 23, 0xbebfbc70)
	s = digestH(s, 0, 4, 0x289b7ec6)
	s = digestH(s, first, 11, 0xeaa127fa)
	s = digestH(s, 0, 16, 0xd4ef3085)
	s = digestH(s, 0, 23, 0x04881d05)
	s = digestH(s, 0, 4, 0xd9d4d039)
	s = digestH(s, 0, 11, 0xe6db99e5)
	s = digestH(s, 0, 16, 0x1fa27cf8)
	s = digestH(s, 0, 23, 0xc4ac5665)
	s = digestI(s, first, 6, 0xf4292244)
	s = digestI(s, 0, 10, 0x432aff97)
	s = digestI(s, bits, 15, 0xab9423a7)
	s = digestI(s, 0, 21, 0xfc93a039)
	s = digestI(s, 0, 6, 0x655b59c3)
	s = digestI(s, 0, 10, 0x8f0ccc92)
	s = digestI(s, 0, 15, 0xffeff47d)
	s = digestI(s, second, 21, 0x85845dd1)
	s = digestI(s, 0, 6, 0x6fa87e4f)
	s = digestI(s, 0, 10, 0xfe2ce6e0)
	s = digestI(s, 0, 15, 0xa3014314)
	s = digestI(s, 0, 21, 0x4e0811a1)
	s = digestI(s, 0, 6, 0xf7537e82)
	s = digestI(s, 0, 10, 0xbd3af235)
	s = digestI(s, 0, 15, 0x2ad7d2bb)
	s = digestI(s, 0, 21, 0xeb86d391)
	return digestState{start.a + s.a, start.b + s.b, start.c + s.c, start.d + s.d}
}

// keyOf returns the digits of a number, the least significant one first.
func keyOf(number int) (key [keyBytes]uint8) {
	for i := range key {
		key[i] = uint8(number % keyValues)
		number /= keyValues
	}
	return key
}

// md5hash looks for the key with the given digest among the keys below count. It is the kernel of SHOC's md5hash. Each
// thread, in blocks of 384, tries keys that differ only in their first byte.
//
//gpu:kernel
//gpu:block 384
func md5hash(t gpu.Thread, digest, found []uint32, count int) {
	start := t.GlobalX() * keyValues
	key := keyOf(start)
	for i := 0; i < keyValues && start+i < count; i++ {
		first := uint32(key[0]) | uint32(key[1])<<8 | uint32(key[2])<<16 | uint32(key[3])<<24
		second := uint32(key[4]) | uint32(key[5])<<8 | uint32(key[6])<<16 | 0x80<<24
		s := digestOf(first, second, 8*keyBytes)
		if s.a == digest[0] && s.b == digest[1] && s.c == digest[2] && s.d == digest[3] {
			found[0], found[1], found[2] = uint32(start+i), first, second
		}
		key[0]++
	}
}

// newMD5Hash prepares a search among n keys.
func newMD5Hash(b *harness.Bench, n int) harness.Work {
	wanted := int(b.Seed() * 0x9e3779b97f4a7c15 % uint64(n))
	key := keyOf(wanted)
	sum := md5.Sum(key[:])
	var words []uint32
	for i := 0; i < len(sum); i += 4 {
		words = append(words, binary.LittleEndian.Uint32(sum[i:]))
	}
	found := harness.Result(b, 3, ^uint32(0))
	return harness.Work{
		Ours: []harness.Launch{harness.Of("md5hash", Md5hash, device.Cover((n+keyValues-1)/keyValues, 384), harness.Input(b, words), found, harness.ByValue(n))},
		Check: func() error {
			if got := found.Host[0]; got != uint32(wanted) {
				return fmt.Errorf("the search found key %d, want %d", got, wanted)
			}
			return nil
		},
	}
}
