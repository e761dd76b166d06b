package scalar_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

var integers = []ptx.Type{ptx.U16, ptx.S16, ptx.U32, ptx.S32, ptx.U64, ptx.S64}

// samples are bit patterns where things go wrong, and others.
func samples(t ptx.Type) []uint64 {
	bits := 8 * t.Size()
	mask := ^uint64(0) >> (64 - bits)
	v := []uint64{0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 0x5555, mask >> 1, mask>>1 + 1, mask>>1 + 2, mask, mask - 1}
	r := rand.New(rand.NewPCG(1, uint64(t)))
	for range 12 {
		v = append(v, r.Uint64(), r.Uint64()>>r.IntN(64))
	}
	for i := range v {
		v[i] &= mask
	}
	return v
}

// number returns the integer that the bits mean.
func number(t ptx.Type, bits uint64) *big.Int {
	n := new(big.Int).SetUint64(bits)
	if size := 8 * t.Size(); t.Class() == ptx.Signed && bits>>(size-1) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(size)))
	}
	return n
}

// low returns the lowest size bytes of a number in two's complement.
func low(n *big.Int, size int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*size))
	return new(big.Int).Mod(n, m).Uint64()
}

// TestArithmetic compares with arithmetic on whole numbers.
func TestArithmetic(t *testing.T) {
	type op struct {
		name string
		f    func(ptx.Type) scalar.Binary
		want func(a, b *big.Int, bits uint) *big.Int
	}
	wrap := func(f func(z, a, b *big.Int) *big.Int) func(a, b *big.Int, bits uint) *big.Int {
		return func(a, b *big.Int, _ uint) *big.Int { return f(new(big.Int), a, b) }
	}
	pick := func(sign int) func(a, b *big.Int, bits uint) *big.Int {
		return func(a, b *big.Int, _ uint) *big.Int {
			if a.Cmp(b) == sign {
				return a
			}
			return b
		}
	}
	for _, o := range []op{
		{"add", scalar.Add, wrap((*big.Int).Add)},
		{"sub", scalar.Sub, wrap((*big.Int).Sub)},
		{"mul.lo", scalar.MulLo, wrap((*big.Int).Mul)},
		{"mul.hi", scalar.MulHi, func(a, b *big.Int, bits uint) *big.Int {
			return new(big.Int).Rsh(new(big.Int).Mul(a, b), bits)
		}},
		{"div", scalar.Div, wrap((*big.Int).Quo)},
		{"rem", scalar.Rem, wrap((*big.Int).Rem)},
		{"min", scalar.Min, pick(-1)},
		{"max", scalar.Max, pick(1)},
	} {
		for _, typ := range integers {
			f := o.f(typ)
			for _, a := range samples(typ) {
				for _, b := range samples(typ) {
					if b == 0 && (o.name == "div" || o.name == "rem") {
						continue
					}
					want := low(o.want(number(typ, a), number(typ, b), uint(8*typ.Size())), typ.Size())
					if got := f(a, b); got != want {
						t.Fatalf("%s%v(%#x, %#x) = %#x, want %#x", o.name, typ, a, b, got, want)
					}
				}
			}
		}
	}
}

func TestMulWide(t *testing.T) {
	for _, typ := range []ptx.Type{ptx.U16, ptx.S16, ptx.U32, ptx.S32} {
		f := scalar.MulWide(typ)
		for _, a := range samples(typ) {
			for _, b := range samples(typ) {
				want := low(new(big.Int).Mul(number(typ, a), number(typ, b)), 2*typ.Size())
				if got := f(a, b); got != want {
					t.Fatalf("mul.wide%v(%#x, %#x) = %#x, want %#x", typ, a, b, got, want)
				}
			}
		}
	}
}

// TestShifts follows the manual: amounts are unsigned 32-bit numbers, those past the width
// act like the width.
func TestShifts(t *testing.T) {
	for _, typ := range integers {
		size := uint64(8 * typ.Size())
		shl, shr := scalar.Shl(typ), scalar.Shr(typ)
		for _, a := range samples(typ) {
			for _, b := range []uint64{0, 1, size - 1, size, size + 1, 255, 256, 0x80000000, 0xffffffff} {
				n := uint(min(b, size))
				if want := low(new(big.Int).Lsh(number(typ, a), n), typ.Size()); shl(a, b) != want {
					t.Errorf("shl%v(%#x, %d) = %#x, want %#x", typ, a, b, shl(a, b), want)
				}
				if want := low(new(big.Int).Rsh(number(typ, a), n), typ.Size()); shr(a, b) != want {
					t.Errorf("shr%v(%#x, %d) = %#x, want %#x", typ, a, b, shr(a, b), want)
				}
			}
		}
	}
}

// TestFields follows the loops in the manual's description of bfe and bfi.
func TestFields(t *testing.T) {
	for _, typ := range []ptx.Type{ptx.U32, ptx.S32, ptx.U64, ptx.S64} {
		bfe, bfi := scalar.Bfe(typ), scalar.Bfi(typ)
		msb := uint64(8*typ.Size() - 1)
		for _, a := range samples(typ) {
			for _, pos := range []uint64{0, 1, 5, 31, 32, 63, 64, 255, 256 + 3} {
				for _, n := range []uint64{0, 1, 8, 31, 32, 63, 64, 200, 255, 256 + 7} {
					p, l := pos&0xff, n&0xff
					var sign, extracted uint64
					if typ.Class() == ptx.Signed && l > 0 {
						sign = a >> min(p+l-1, msb) & 1
					}
					inserted := uint64(0xaaaaaaaaaaaaaaaa) & (^uint64(0) >> (63 - msb))
					for i := range msb + 1 {
						bit := sign
						if i < l && p+i <= msb {
							bit = a >> (p + i) & 1
						}
						extracted |= bit << i
						if i < l && p+i <= msb {
							inserted = inserted&^(1<<(p+i)) | a>>i&1<<(p+i)
						}
					}
					if got := bfe(a, pos, n); got != extracted {
						t.Fatalf("bfe%v(%#x, %d, %d) = %#x, want %#x", typ, a, pos, n, got, extracted)
					}
					if got := bfi(a, 0xaaaaaaaaaaaaaaaa&(^uint64(0)>>(63-msb)), pos, n); got != inserted {
						t.Fatalf("bfi%v(%#x, %d, %d) = %#x, want %#x", typ, a, pos, n, got, inserted)
					}
				}
			}
		}
	}
}

func TestLop3(t *testing.T) {
	const ta, tb, tc = 0xf0, 0xcc, 0xaa // the manual's way to make a table
	a, b, c := uint64(0x12345678), uint64(0x9abcdef0), uint64(0x0f1e2d3c)
	for _, x := range []struct {
		table uint8
		want  uint64
	}{
		{ta & tb & tc, a & b & c},
		{ta | tb | tc, a | b | c},
		{ta & tb & (0xff &^ tc), a & b &^ c},
		{ta&tb | tc, a&b | c},
		{ta ^ tb ^ tc, a ^ b ^ c},
		{0x00, 0}, {0xff, 0xffffffff},
	} {
		if got := scalar.Lop3(ptx.B32, x.table)(a, b, c); got != x.want {
			t.Errorf("lop3 %#x = %#x, want %#x", x.table, got, x.want)
		}
	}
}

func TestPrmt(t *testing.T) {
	a, b := uint64(0x83828100), uint64(0x07060504) // byte i has the low bits i
	for _, x := range []struct {
		mode     string
		selector uint64
		want     uint64
	}{
		{"", 0x3210, 0x83828100},
		{"", 0x7654, 0x07060504},
		{"", 0x0246, 0x00820406},
		{"", 0xba98, 0xffffff00}, // replicated signs
		{"f4e", 1, 0x04838281},
		{"b4e", 1, 0x06070081},
		{"rc8", 2, 0x82828282},
		{"ecl", 1, 0x83828181},
		{"ecr", 2, 0x82828100},
		{"rc16", 1, 0x83828382},
		{"rc16", 4 + 2, 0x81008100},
	} {
		f, ok := scalar.Prmt(x.mode)
		if got := f(a, b, x.selector); !ok || got != x.want {
			t.Errorf("prmt.%s %#x = %#x, want %#x", x.mode, x.selector, got, x.want)
		}
	}
	if _, ok := scalar.Prmt("nope"); ok {
		t.Error("mode nope exists")
	}
}

// TestIntegerCases has single values of the instructions without a test of their own.
func TestIntegerCases(t *testing.T) {
	const top32, top64 = 0x80000000, 0x8000000000000000
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"div.s32 by zero", scalar.Div(ptx.S32)(5, 0), 0xffffffff},
		{"div.u64 by zero", scalar.Div(ptx.U64)(5, 0), 1<<64 - 1},
		{"rem.u32 by zero", scalar.Rem(ptx.U32)(5, 0), 0xffffffff},
		{"div.s32 MIN/-1", scalar.Div(ptx.S32)(top32, 0xffffffff), top32},
		{"div.s64 MIN/-1", scalar.Div(ptx.S64)(top64, 1<<64-1), top64},
		{"rem.s64 MIN/-1", scalar.Rem(ptx.S64)(top64, 1<<64-1), 0},
		{"rem.s32 -7, 3", scalar.Rem(ptx.S32)(0xfffffff9, 3), 0xffffffff},
		{"abs.s32 MIN", scalar.Abs(ptx.S32)(top32), top32},
		{"abs.s16 -5", scalar.Abs(ptx.S16)(0xfffb), 5},
		{"neg.s16 5", scalar.Neg(ptx.S16)(5), 0xfffb},
		{"add.sat.s32", scalar.AddSat()(0x7fffffff, 1), 0x7fffffff},
		{"sub.sat.s32", scalar.SubSat()(top32, 1), top32},
		{"mad.hi.sat.s32", scalar.MadHiSat()(0x7fffffff, 0x7fffffff, 0x7fffffff), 0x7fffffff},
		{"mad.lo.u16 wraps", scalar.Mad(scalar.MulLo(ptx.U16), ptx.U16)(300, 300, 7), 24471},
		{"mad.wide.s32", scalar.Mad(scalar.MulWide(ptx.S32), ptx.S64)(0xffffffff, 4, 100), 96},
		{"mul24.lo.s32", scalar.Mul24(ptx.S32, false)(0xffffff, 2), 0xfffffffe},
		{"mul24.hi.u32", scalar.Mul24(ptx.U32, true)(0xffffff, 0xffffff), 0xfffffe00},
		{"sad.s32", scalar.Sad(ptx.S32)(0xfffffffe, 3, 10), 15},
		{"sad.u32", scalar.Sad(ptx.U32)(3, 0xfffffffe, 10), 5},
		{"dp4a.s32.u32", scalar.Dot4(ptx.S32, ptx.U32)(0xff01ff02, 0x04030201, 5), 4},
		{"popc.b64", scalar.Popc(0xf0000000000000ff), 12},
		{"clz.b32 0", scalar.Clz(ptx.B32)(0), 32},
		{"clz.b32", scalar.Clz(ptx.B32)(0x00010000), 15},
		{"clz.b64 0", scalar.Clz(ptx.B64)(0), 64},
		{"brev.b32", scalar.Brev(ptx.B32)(0x80000001), 0x80000001},
		{"brev.b64", scalar.Brev(ptx.B64)(2), 1 << 62},
		{"bfind.u32", scalar.Bfind(ptx.U32, false)(0x00010000), 16},
		{"bfind.s32 -1", scalar.Bfind(ptx.S32, false)(0xffffffff), 0xffffffff},
		{"bfind.s32 -3", scalar.Bfind(ptx.S32, false)(0xfffffffd), 1},
		{"bfind.shiftamt.u64", scalar.Bfind(ptx.U64, true)(1), 63},
		{"cnot 0", scalar.Cnot(0), 1},
		{"cnot 9", scalar.Cnot(9), 0},
		{"not.b16", scalar.Not(ptx.B16)(0xff), 0xff00},
		{"shf.l.wrap 33", scalar.Funnel(true, true)(0x80000000, 1, 33), 3},
		{"shf.l.clamp 33", scalar.Funnel(true, false)(0x80000000, 1, 33), 0x80000000},
		{"shf.r.wrap 8", scalar.Funnel(false, true)(0x11223344, 0xaabbccdd, 8), 0xdd112233},
		{"bmsk.clamp", scalar.Bmsk(false)(4, 8), 0xff0},
		{"bmsk.clamp 32", scalar.Bmsk(false)(0, 99), 0xffffffff},
		{"bmsk.wrap 33", scalar.Bmsk(true)(0, 33), 1},
		{"szext.s32", scalar.Szext(ptx.S32, false)(0xff, 8), 0xffffffff},
		{"szext.u32", scalar.Szext(ptx.U32, false)(0x1ff, 8), 0xff},
		{"fns up", scalar.Fns(0b101100, 0, 2), 3},
		{"fns down", scalar.Fns(0b101100, 4, 0xfffffffe), 2},
		{"fns none", scalar.Fns(0b1, 1, 1), 0xffffffff},
		{"fns 0", scalar.Fns(0b101, 2, 0), 2},
		{"inc wraps", atomic("inc", ptx.U32)(5, 5), 0},
		{"inc", atomic("inc", ptx.U32)(4, 5), 5},
		{"dec of 0", atomic("dec", ptx.U32)(0, 5), 5},
		{"dec from above", atomic("dec", ptx.U32)(9, 5), 5},
		{"dec", atomic("dec", ptx.U32)(3, 5), 2},
		{"exch", atomic("exch", ptx.B64)(3, 5), 5},
		{"atom.min.s32", atomic("min", ptx.S32)(0xffffffff, 1), 0xffffffff},
		{"atom.max.u64", atomic("max", ptx.U64)(1<<64-1, 1), 1<<64 - 1},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
	for _, no := range []struct {
		op string
		t  ptx.Type
	}{{"inc", ptx.U64}, {"and", ptx.U32}, {"add", ptx.U16}, {"add", ptx.B32}, {"sub", ptx.U32}} {
		if _, ok := scalar.Atomic(no.op, no.t, false); ok {
			t.Errorf("atom.%s%v exists", no.op, no.t)
		}
	}
}

func atomic(op string, t ptx.Type) scalar.Binary {
	f, _ := scalar.Atomic(op, t, false)
	return f
}
