package driver

import "fmt"

// A LaunchTest is a program that computes a condition from the parameters and the grid of a launch. The launcher runs it
// once, so that the threads need not compute the condition. The empty LaunchTest computes nothing.
//
// A LaunchTest is a list of instructions. Each instruction is a letter and its operands. An operand is the result of an earlier
// instruction or an axis, written as one byte: 33 plus the index of the instruction or the axis. Results have 64 bits. If an instruction computes 32 bits, the
// upper half of its result is zero. A condition is 0 or 1. The last result is the condition that the LaunchTest computes.
//
//	=N;   the number N, in decimal, ended by a semicolon
//	pN;   the 64 bits at offset N of the parameter block
//	PN;   the 32 bits at offset N of the parameter block
//	gk    the number of blocks along axis k; bk the number of threads of a block
//	apq   p + q; spq p - q; mpq p * q; lpq p << q; in 32 bits: Apq, Spq, Mpq and Lpq
//	rpq   p >> q, unsigned
//	&pq   p & q; |pq p | q; ^pq p ^ q
//	epq   p == q; npq p != q; upq p < q, unsigned; vpq p <= q, unsigned
//	ipq   p < q, signed; jpq p <= q, signed; in 32 bits: Ipq and Jpq
//	?opq  p if o is not 0, else q
//	tp    the lower 32 bits of p; xp the lower 32 bits of p, sign-extended
type LaunchTest string

// MaxLaunchTest is the number of instructions that a LaunchTest may have.
const MaxLaunchTest = 200

// testBase is the byte of operand 0.
const testBase = '!'

// TestOperand returns the byte that represents the result of instruction n, or axis n, in a LaunchTest.
func TestOperand(n int) byte { return byte(testBase + n) }

// holds computes the condition for a parameter block, and a number of blocks and of the threads of each.
func (t LaunchTest) holds(params []uint64, blocks, threads *[3]int) bool {
	var results [MaxLaunchTest]uint64
	n := 0
	operand := func(i int) int { return int(t[i]) - testBase }
	for i := 0; i < len(t); n++ {
		switch op := t[i]; op {
		case '=', 'p', 'P':
			var x uint64
			x, i = t.number(i + 1)
			results[n] = leaf(op, x, params)
		case 'g':
			results[n] = uint64(blocks[operand(i+1)])
			i += 2
		case 'b':
			results[n] = uint64(threads[operand(i+1)])
			i += 2
		case 't':
			results[n] = uint64(uint32(results[operand(i+1)]))
			i += 2
		case 'x':
			results[n] = uint64(int32(results[operand(i+1)]))
			i += 2
		case '?':
			chosen := i + 2
			if results[operand(i+1)] == 0 {
				chosen++
			}
			results[n] = results[operand(chosen)]
			i += 4
		default:
			results[n] = combine(op, results[operand(i+1)], results[operand(i+2)])
			i += 3
		}
	}
	return n > 0 && results[n-1] != 0
}

// number reads a decimal number from byte i on, and returns the place after its semicolon.
func (t LaunchTest) number(i int) (n uint64, after int) {
	negative := t[i] == '-'
	if negative {
		i++
	}
	for ; t[i] != ';'; i++ {
		n = 10*n + uint64(t[i]-'0')
	}
	if negative {
		n = -n
	}
	return n, i + 1
}

// leaf returns the constant n, or the parameter at offset n.
func leaf(op byte, n uint64, params []uint64) uint64 {
	switch op {
	case 'p':
		return params[n/8]
	case 'P':
		return uint64(uint32(params[n/8] >> (n % 8 * 8)))
	}
	return n
}

// combine computes an instruction with two operands.
func combine(op byte, x, y uint64) uint64 {
	switch op {
	case 'a':
		return x + y
	case 'A':
		return uint64(uint32(x + y))
	case 's':
		return x - y
	case 'S':
		return uint64(uint32(x - y))
	case 'm':
		return x * y
	case 'M':
		return uint64(uint32(x * y))
	case 'l':
		return x << y
	case 'L':
		return uint64(uint32(x << y))
	case 'r':
		return x >> y
	case '&':
		return x & y
	case '|':
		return x | y
	case '^':
		return x ^ y
	}
	return bit(compares(op, x, y))
}

// compares computes a comparison.
func compares(op byte, x, y uint64) bool {
	switch op {
	case 'e':
		return x == y
	case 'n':
		return x != y
	case 'u':
		return x < y
	case 'v':
		return x <= y
	case 'i':
		return int64(x) < int64(y)
	case 'j':
		return int64(x) <= int64(y)
	case 'I':
		return int32(x) < int32(y)
	case 'J':
		return int32(x) <= int32(y)
	}
	panic(fmt.Sprintf("BUG: driver: %q in a test of launches", op))
}

func bit(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}
