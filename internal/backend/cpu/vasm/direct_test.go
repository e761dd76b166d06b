package vasm

import (
	"regexp"
	"strings"
	"testing"
)

// tiny has so few registers that the values that a test uses least live in the frame.
var tiny = Machine{[classes][]string{Integer: {"AX", "BX", "CX"}, Vector: numbered(3)}, AVX2.parts, 32}

// framed is a function in which x and y live in the frame, and a and b in registers.
type framed struct {
	*Func
	x, y, a, b Reg
}

func newFramed(c Class) *framed {
	f := New(&tiny)
	return &framed{f, f.Reg(c), f.Reg(c), f.Reg(c), f.Reg(c)}
}

// start defines the values: x by define, or by an instruction X.
func (f *framed) start(define func()) {
	if define == nil {
		f.Op("X", Def(f.x))
	} else {
		define()
	}
	f.Op("Y", Def(f.y))
	f.Op("A", Def(f.a))
	f.Op("B", Def(f.b))
}

var definitions = regexp.MustCompile(`[XY] (CX|Y2);V?MOV(Q|UPS) (CX|Y2),\d*\(SP\);|[AB] \w+;`)

// text returns the instructions without those of start and of the last uses.
func (f *framed) text() string {
	f.Deeper(2)
	f.Op("USE", Use(f.a), Use(f.b))
	f.Deeper(-2)
	f.Op("END", Use(f.x))
	f.Op("END", Use(f.y))
	text := strings.ReplaceAll(body(f.Func), "\n", ";")
	text, _, _ = strings.Cut(text, ";USE")
	return strings.Trim(definitions.ReplaceAllString(text+";", ""), ";")
}

// TestFrameOperands has the forms of instructions on integers in the frame.
func TestFrameOperands(t *testing.T) {
	for _, test := range []struct {
		name, want string
		define     func(f *framed)
		write      func(f *framed)
	}{
		{"constant", "MOVQ $7,(SP)", func(f *framed) { f.Op("MOVQ", Imm(7), Def(f.x)) }, nil},
		{"large constant", "MOVQ $4294967296,CX;MOVQ CX,(SP)", func(f *framed) { f.Op("MOVQ", Imm(1<<32), Def(f.x)) }, nil},
		{"zero", "MOVQ $0,8(SP)", func(f *framed) { f.Op("XORQ", Def(f.x), Def(f.x)) }, nil},
		{"parameter", "SUBQ a0+0(FP),BX", func(f *framed) { f.Op("MOVQ", f.Param("int"), Def(f.x)) }, func(f *framed) { f.Op("SUBQ", Use(f.x), Mod(f.a)) }},
		{"parameter of 32 bits", "MOVQ a0+0(FP),CX;ADDL CX,BX", func(f *framed) { f.Op("MOVQ", f.Param("int"), Def(f.x)) },
			func(f *framed) { f.Op("ADDL", Use(f.x), Mod(f.a)) }},
		{"parameter written again", "MOVQ a0+0(FP),CX;MOVQ CX,8(SP);ADDQ $1,8(SP)",
			func(f *framed) { f.Op("MOVQ", f.Param("int"), Def(f.x)); f.Op("ADDQ", Imm(1), Mod(f.x)) }, nil},
		{"byte of a parameter", "MOVBLZX a0+0(FP),CX;MOVQ CX,8(SP);CMPB 8(SP),$0;JEQ l1;ADDQ $1,AX;l1:ADDQ $1,BX",
			func(f *framed) { f.Op("MOVBLZX", f.Param("bool"), Def(f.x)) },
			func(f *framed) {
				f.Op("TESTB", Use(f.x), Use(f.x))
				f.Jump("JEQ", "l1")
				f.Op("ADDQ", Imm(1), Mod(f.b))
				f.Label("l1")
				f.Op("ADDQ", Imm(1), Mod(f.a))
			}},
		{"modified by a constant", "SHLQ $3,8(SP)", nil, func(f *framed) { f.Op("SHLQ", Imm(3), Mod(f.x)) }},
		{"modified by a large constant", "MOVQ 8(SP),CX;ADDQ $4294967296,CX;MOVQ CX,8(SP)", nil, func(f *framed) { f.Op("ADDQ", Imm(1<<32), Mod(f.x)) }},
		{"modified by a register", "SUBQ BX,8(SP)", nil, func(f *framed) { f.Op("SUBQ", Use(f.a), Mod(f.x)) }},
		{"32 bits modified", "MOVQ 8(SP),CX;ADDL $1,CX;MOVQ CX,8(SP)", nil, func(f *framed) { f.Op("ADDL", Imm(1), Mod(f.x)) }},
		{"sum", "ADDQ 8(SP),BX", nil, func(f *framed) { f.Op("LEAQ", Indexed(f.x, f.a, 1), Def(f.a)) }},
		{"sum the other way round", "MOVQ AX,BX;ADDQ 8(SP),BX", nil, func(f *framed) { f.Op("LEAQ", Indexed(f.b, f.x, 1), Def(f.a)) }},
		{"sum with a constant", "MOVQ 8(SP),BX;ADDQ $8,BX", nil, func(f *framed) { f.Op("LEAQ", Mem(f.x, 8), Def(f.a)) }},
		{"scaled", "MOVQ 8(SP),CX;LEAQ (CX)(AX*8),BX", nil, func(f *framed) { f.Op("LEAQ", Indexed(f.x, f.b, 8), Def(f.a)) }},
		{"sum with flags", "CMPQ BX,AX;MOVQ 8(SP),CX;LEAQ (CX)(BX*1),BX;JLT l1;ADDQ $1,AX;l1:ADDQ $1,BX", nil, func(f *framed) {
			f.Op("CMPQ", Use(f.a), Use(f.b))
			f.Op("LEAQ", Indexed(f.x, f.a, 1), Def(f.a))
			f.Jump("JLT", "l1")
			f.Op("ADDQ", Imm(1), Mod(f.b))
			f.Label("l1")
			f.Op("ADDQ", Imm(1), Mod(f.a))
		}},
		{"sum of what a register has", "MOVQ 8(SP),CX;OP CX,CX;LEAQ (CX)(BX*1),BX", nil, func(f *framed) {
			f.Op("OP", Use(f.x), Use(f.x))
			f.Op("LEAQ", Indexed(f.x, f.a, 1), Def(f.a))
		}},
	} {
		f := newFramed(Integer)
		var define func()
		if test.define != nil {
			define = func() { test.define(f) }
		}
		f.start(define)
		if test.write != nil {
			test.write(f)
		}
		if got := f.text(); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestAddresses has what becomes one LEAQ, and what does not. It also has products with powers of two.
func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		name, want string
		write      func(f *Func, a, b, d Reg)
	}{
		{"address", "LEAQ (BX)(AX*4),CX", func(f *Func, a, b, d Reg) { address(f, 2, a, b, d) }},
		{"shift by 4", "MOVQ AX,CX;SHLQ $4,CX;ADDQ BX,CX", func(f *Func, a, b, d Reg) { address(f, 4, a, b, d) }},
		{"the sum's own register", "MOVQ AX,BX;SHLQ $2,BX;ADDQ BX,BX", func(f *Func, a, b, d Reg) { address(f, 2, a, b, b) }},
		{"flags", "MOVQ AX,CX;SHLQ $2,CX;ADDQ BX,CX;CMOVQGT AX,CX", func(f *Func, a, b, d Reg) {
			address(f, 2, a, b, d)
			f.Op("CMOVQGT", Use(a), Mod(d))
		}},
		{"product", "SHLQ $6,AX", func(f *Func, a, b, d Reg) { f.Op("IMUL3Q", Imm(64), Use(a), Def(a)) }},
		{"product elsewhere", "IMUL3Q $64,AX,CX", func(f *Func, a, b, d Reg) { f.Op("IMUL3Q", Imm(64), Use(a), Def(d)) }},
		{"product with 24", "IMUL3Q $24,AX,AX", func(f *Func, a, b, d Reg) { f.Op("IMUL3Q", Imm(24), Use(a), Def(a)) }},
	} {
		f := New(&AVX2)
		a, b, d := f.Reg(Integer), f.Reg(Integer), f.Reg(Integer)
		for _, r := range []Reg{a, b, d} {
			f.Op("READ", Def(r))
		}
		test.write(f, a, b, d)
		f.Op("END", Use(a), Use(b), Use(d))
		got := strings.ReplaceAll(body(f), "\n", ";")
		got = strings.TrimSuffix(strings.TrimPrefix(got, "READ AX;READ BX;READ CX;"), ";END AX,BX,CX")
		if got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// address appends the instructions of base + index<<shift, where list has the index, the base and the result.
func address(f *Func, shift int64, list ...Reg) {
	index, base, to := list[0], list[1], list[2]
	f.Op("MOVQ", Use(index), Def(to))
	f.Op("SHLQ", Imm(shift), Mod(to))
	f.Op("ADDQ", Use(base), Mod(to))
}

// TestCommutative has the operand in the frame first where the order does not matter.
func TestCommutative(t *testing.T) {
	for op, want := range map[string]string{
		"VPADDQ": "VPADDQ 32(SP),Y1,Y1",
		"VADDPS": "VMOVUPS 32(SP),Y2;VADDPS Y1,Y2,Y1", // the first of two NaNs is the result
		"VPSUBD": "VMOVUPS 32(SP),Y2;VPSUBD Y1,Y2,Y1",
	} {
		f := newFramed(Vector)
		f.start(nil)
		f.Op(op, Use(f.a), Use(f.x), Def(f.a))
		if got := f.text(); got != want {
			t.Errorf("%s: got %s, want %s", op, got, want)
		}
	}
}

// TestMergedLines has no directives for a few instructions between others of one line.
func TestMergedLines(t *testing.T) {
	f := New(&AVX2)
	f.At(Pos{"kernel.go", 7})
	r := f.Reg(Integer)
	f.Op("MOVQ", f.Param("int"), Def(r))
	for _, run := range []struct{ line, count int }{{9, 1}, {7, 2}, {9, 3}, {7, 1}, {20, 4}, {7, 1}, {21, 1}, {22, 1}} {
		f.At(Pos{"kernel.go", run.line})
		for range run.count {
			f.Op("ADDQ", Imm(int64(run.line)), Mod(r))
		}
	}
	f.Op("MOVQ", Use(r), f.Result())
	f.SetName("F")
	want := `#line 7 "kernel.go"
TEXT ·F(SB), 0, $0-16
MOVQ a0+0(FP),AX;ADDQ $9,AX;ADDQ $7,AX;ADDQ $7,AX;ADDQ $9,AX;ADDQ $9,AX;ADDQ $9,AX;ADDQ $7,AX












ADDQ $20,AX;ADDQ $20,AX;ADDQ $20,AX;ADDQ $20,AX
#line 8 "kernel.go"
ADDQ $7,AX













ADDQ $21,AX
ADDQ $22,AX;MOVQ AX,done+8(FP)
`
	if got := f.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestVetSizes starts a line where go vet would compare a parameter with the size of another operation.
func TestVetSizes(t *testing.T) {
	for op, size := range map[string]int{"MOVQ": 8, "IMUL3Q": 4, "VFMADD231PS": 8, "CMPL": 4, "KMOVW": 2, "TESTB": 1, "VMOVUPS": 0, "VBROADCASTSS": 4, "JEQ": 8} {
		if got := vetSize(op); got != size {
			t.Errorf("go vet takes %s for %d bytes, want %d", op, got, size)
		}
	}
	f := New(&AVX2)
	f.At(Pos{"kernel.go", 7})
	r, s := f.Reg(Integer), f.Reg(Integer)
	f.Op("MOVQ", Imm(1), Def(r))
	f.Op("ADDQ", f.Param("int"), Mod(r))
	f.Op("MOVBLZX", f.Param("bool"), Def(s))
	f.Op("MOVQ", Use(s), Mem(r, 0))
	f.Op("MOVQ", Use(r), f.Result())
	want := "MOVQ $1,AX;ADDQ a0+0(FP),AX\n#line 8 \"kernel.go\"\nMOVBLZX a1+8(FP),BX;MOVQ BX,(AX);MOVQ AX,done+16(FP)"
	if got := body(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
