package ptx_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

const whole = `// a comment
.version 7.8
.target sm_70, debug
.address_size 64
.file 1 "kernels.go", 12, 34
/* another
   one */
.global .align 8 .u32 table[4] = {1, 0x10, 3U, -1};
.const .f32 pi = 0f40490FDB;
.global .u64 where = generic(table)+8;
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 r) later (.param .b32 x);

.func (.param .b32 r) later (.param .b32 x)
{
	.reg .b32 %a;
	ld.param.b32 %a, [x];
	st.param.b32 [r+0], %a;
	ret;
}

.visible .entry k(
	.param .align 8 .b8 block[40],
	.param .u64 .ptr .global .align 16 q
)
.reqntid 16, 2
{
	.reg .pred %p<3>;
	.reg.b32 %r<10>, single;
	.shared .align 4 .b8 tile[(2+2)*8];
	.loc 1 12 3, function_name foo, inlined_at 1 2 3
	ld.param.u32 %r1, [block+8];
	add.u32 %r2, %tid.x, WARP_SZ;
loop:
	setp.lt.s32 %p1|%p2, %r1, -7;
	.loc 1 13 9
	@!%p1 bra.uni loop;
	ld.global.L1::no_allocate.v2.f32 {%r3, _}, [table+-4];
	{
		.reg .b64 %r1;
		mov.b64 %r1, {%r2, %r3};
		bra inner;
	inner:
		mov.f32 single, 0f3F800000;
	}
	call.uni (%r4), later, (%r5, 2);
tab: .branchtargets loop, done;
	brx.idx %r1, tab;
done:
	ret;
}
.section .debug_info { .b8 1 .b8 { 2 } }
`

func parse(t *testing.T, src string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModule(t *testing.T) {
	m := parse(t, whole)
	if m.Version != [2]int{7, 8} || m.Target[0] != "sm_70" || m.AddressSize != 64 || m.Files[1] != "kernels.go" {
		t.Errorf("header is %v %v %d %v", m.Version, m.Target, m.AddressSize, m.Files)
	}
	table := m.Vars[0]
	if table.Size() != 16 || table.Align != 8 || table.Space != ptx.Global || len(table.Init) != 4 {
		t.Errorf("table is %+v", table)
	}
	if got := uint32(table.Init[3].Bits); got != 0xffffffff {
		t.Errorf("table[3] = %#x", got)
	}
	if where := m.Vars[2].Init[0]; where.Symbol != "table" || where.Bits != 8 {
		t.Errorf("where = %+v", where)
	}
	if !m.Vars[3].Extern || m.Vars[3].Align != 16 {
		t.Errorf("dynamic is %+v", m.Vars[3])
	}
}

func TestFunctions(t *testing.T) {
	m := parse(t, whole)
	if len(m.Funcs) != 2 || m.Func("later").Declared || m.Func("missing") != nil {
		t.Fatalf("functions are %v", m.Funcs)
	}
	var names []string
	for _, in := range m.Func("later").Code {
		names = append(names, fmt.Sprint(&in, " ", len(in.Args)))
	}
	if want := []string{"ld.param.b32 2", "st.param.b32 2", "ret 0"}; !slices.Equal(names, want) {
		t.Errorf("later is %q, want %q: each name and the number of its operands", names, want)
	}
	k := m.Func("k")
	if !k.Entry || k.ReqThreads != [3]int{16, 2, 1} || k.Params[0].Size() != 40 || k.Params[1].Align != 8 {
		t.Errorf("entry is %+v", k)
	}
	if k.Vars[0].Name != "tile" || k.Vars[0].Size() != 32 {
		t.Errorf("tile is %+v", k.Vars[0])
	}
}

func TestInstructions(t *testing.T) {
	k := parse(t, whole).Func("k")
	find := func(op string) *ptx.Instr {
		for i := range k.Code {
			if k.Code[i].String() == op {
				return &k.Code[i]
			}
		}
		t.Fatalf("no %s", op)
		return nil
	}
	if in := find("bra.uni"); in.Args[0].Target != 2 || !in.Guard.Negate || in.Loc != (ptx.Loc{File: 1, Line: 13, Col: 9}) || in.Line != 37 {
		t.Errorf("bra is at line %d, %+v, %+v", in.Line, in.Loc, in.Args)
	}
	if in := find("setp.lt.s32"); in.Args[0].Kind != ptx.PairOperand || int64(in.Args[2].Bits) != -7 {
		t.Errorf("setp is %+v", in)
	}
	in := find("ld.global.L1::no_allocate.v2.f32")
	if in.Args[0].Elems[1].Kind != ptx.SinkOperand || in.Args[1].Elems[0].Var.Name != "table" || int64(in.Args[1].Bits) != -4 {
		t.Errorf("ld is %+v", in)
	}
	if in := find("mov.b64"); k.Regs[in.Args[0].Reg].Type != ptx.B64 {
		t.Errorf("the inner %%r1 is %v", k.Regs[in.Args[0].Reg])
	}
	if in := find("call.uni"); in.Args[1].Kind != ptx.FuncOperand || in.Args[2].Elems[1].Bits != 2 {
		t.Errorf("call is %+v", in)
	}
	if in := find("brx.idx"); in.Args[1].Kind != ptx.TableOperand || k.Tables[0].Targets[0] != 2 || k.Tables[0].Targets[1] != len(k.Code)-1 {
		t.Errorf("brx is %+v with %v", in, k.Tables)
	}
	if in := find("bra"); in.Args[0].Kind != ptx.LabelOperand || k.Code[in.Args[0].Target].Op != "mov" {
		t.Errorf("bra inner is %+v", in)
	}
}

func TestErrors(t *testing.T) {
	const head = ".version 7.0\n.target sm_70\n.address_size 64\n"
	body := func(s string) string { return head + ".entry k()\n{\n.reg .b32 %r<4>;\n" + s + "\n}\n" }
	for _, c := range []struct{ src, want string }{
		{"", "line 1: no .version directive"},
		{head + "junk", `line 4: "junk" where a directive is expected`},
		{head + "/* open", "line 4: comment without an end"},
		{head + ".global .b32 a[0];", "line 4: variable a has no size"},
		{head + ".global .b32 a[1] = {1, 2};", "line 4: 8 bytes of initial values for variable a of 4"},
		{head + ".global .b8 a[1000000][1000000];", "line 4: variable a is too large"},
		{body("add.u32 %r1, %r2, x;"), ""}, // may name a function
		{body("add.u32 %r1, %r2, [x];"), "line 7: undeclared name x"},
		{body("add.u32 %r1 %r2;"), `line 7: "%r2" where ";" is expected`},
		{body("mov.f32 %r1, 0f123;"), `line 7: "0f123" is not a number of 8 hexadecimal digits`},
		{body("@%r1 ret;"), `line 7: "%r1" is not a predicate register`},
		{body("a: ret;\na: ret;"), "line 8: a is declared twice"},
		{body("mov.b32 %r1, 1/0;"), "line 7: division by zero"},
		{body("t: .branchtargets nowhere;"), "line 7: undeclared label nowhere"},
		{body("\x01"), "line 7: unexpected character outside ASCII"},
		{head + ".entry k()\n{\nret;", "line 6: function k without an end"},
		{head + ".entry k() { ret; }\n.entry k() { ret; }", "line 5: k is defined twice"},
		{head + ".entry k() { .reg .b32 %r<99999999>; }", "line 4: a number from 0 to 1048576 is expected"},
	} {
		_, err := ptx.Parse(c.src)
		if c.want == "" {
			if err != nil {
				t.Errorf("Parse(%q): %v", c.src, err)
			}
			continue
		}
		var e *ptx.Error
		if !errors.As(err, &e) || strings.TrimPrefix(err.Error(), "ptx: ") != c.want {
			t.Errorf("Parse(%q):\ngot  %v\nwant %s", c.src, err, c.want)
		}
	}
}

func TestConstantExpressions(t *testing.T) {
	for src, want := range map[string]int64{
		"1+2*3": 7, "(1+2)*3": 9, "-4": -4, "~0": -1, "1<<4|1": 17, "017": 15, "0b101": 5, "7/2-1": 2, "3 == 3": 1, "1 && 0": 0, "0xffffffffffffffff": -1,
		"10-4-3": 3, "8/2/2": 2, "1<<2+1": 8, "1|2^3&4": 3, "4&6|1": 5, "1 || 0 && 0": 1, "2*3==6": 1, "1 <= 2 == 0": 0, "-2*-3+1": 7,
	} {
		m := parse(t, ".version 7.0\n.entry k() { .reg .b64 %r; mov.b64 %r, "+src+"; }")
		if got := int64(m.Funcs[0].Code[0].Args[1].Bits); got != want {
			t.Errorf("%s = %d, want %d", src, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(".version 7.0\n.entry k(){.reg .pred p; @!p bra L; L: {mov.b64 {a,b}, ((1)); call (x), y, (z);}}")
	f.Add(".version 7.0 .global .b8 a[2][2]={{1,2},{3,4}};")
	f.Fuzz(func(t *testing.T, src string) {
		m, err := ptx.Parse(src)
		if (m == nil) == (err == nil) {
			t.Errorf("Parse(%q) = %v, %v", src, m, err)
		}
	})
}
