package machine

import (
	"errors"
	"strings"
	"testing"
)

// entry returns a module with one kernel, k, of a pointer; the code's first line is line 12.
func entry(code string) string {
	return `.version 7.0
.target sm_70
.address_size 64
.file 1 "k.go"
.const .align 4 .u32 fixed[2] = {1, 2};
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .b16 %h<3>;
	.shared .align 16 .b8 tile[64]; .local .align 4 .b8 stack[8];
	mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, 0;
	ld.param.u64 %rd1, [out]; add.s64 %rd2, %rd2, %rd1;
` + code + "\n}\n"
}

// TestChecks plants mistakes and demands the kind of error, its line and thread, and words of
// its text. The kernel gets an allocation of 40 bytes and runs with 64 threads.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name, code string
		err        error
		line       int
		thread     int
		words      string
	}{
		{"past the end", "ld.global.u32 %r2, [%rd2];", ErrAddress, 12, 10, "4 bytes at 0x100020028, 0 bytes past the end of an allocation of 40 bytes"},
		{"across the end", "ld.global.v2.u32 {%r2, %r3}, [%rd1+40];", ErrAddress, 12, 0, "past the end"},
		{"before the start", "ld.global.u32 %r2, [%rd1+-4];", ErrAddress, 12, 0, "past the end of variable fixed"},
		{"null", "mov.u64 %rd1, 0; st.global.u32 [%rd1], 1;", ErrAddress, 12, 0, "4 bytes at 0x0, below all memory"},
		{"misaligned", "ld.global.u32 %r2, [%rd1+2];", ErrAlignment, 12, 0, "0x100020002 for an access of 4 bytes"},
		{"misaligned vector", "ld.global.v4.f32 {%f0, %f1, %f2, _}, [%rd1+8];", ErrAlignment, 12, 0, "16 bytes"},
		{"misaligned atomic", "atom.global.add.u64 %rd3, [%rd1+4], 1;", ErrAlignment, 12, 0, "8 bytes"},
		{"constant", "mov.u64 %rd1, fixed;\nst.global.u32 [%rd1+4], 1;", ErrReadOnly, 13, 0, "variable fixed"},
		{"shared", "st.shared.u32 [tile+64], 1;", ErrAddress, 12, 0, "past the end of shared memory of 64 bytes"},
		{"shared null", "mov.u32 %r2, 0; st.shared.u32 [%r2], 1;", ErrAddress, 12, 0, "before shared memory"},
		{"local", "shl.b32 %r2, %r1, 2; mov.u32 %r3, stack; add.u32 %r3, %r3, %r2;\nld.local.u32 %r2, [%r3+-4];", ErrAddress, 13, 0, "before local memory of 16 bytes"},
		{"shared address in global space", "mov.u64 %rd3, tile; st.global.u32 [%rd3], 1;", ErrAddress, 12, 0, "below all memory"},
		{"parameter", "ld.param.u32 %r2, [out+8];", ErrAddress, 12, 0, "past the end of the parameters"},
		{"some thread", "setp.ne.u32 %p1, %r1, 37;\n@%p1 ret;\nst.global.u32 [%rd1+400], 1;", ErrAddress, 14, 37, ""},
		{"position", ".loc 1 77 3\nst.global.u32 [%rd1+400], 1;", ErrAddress, 13, 0, ""},
		{"trap", "setp.eq.u32 %p1, %r1, 33;\n@%p1 trap;", ErrTrap, 13, 33, ""},
		{"endless", "L: bra L;", ErrBudget, 12, 0, "100000 instructions"},

		{"divergent barrier", "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra A;\nbar.sync 0;\nbra.uni B;\nA:\nbar.sync 0;\nB:", ErrBarrier, 17, 0, "other threads of the warp are at line 14"},
		{"half a warp", "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra A;\nbar.sync 0;\nbra.uni B;\nA:\nbar.sync 1;\nB:", ErrBarrier, 14, 7, "threads 7-31 at line 14 (bar.sync), threads 0-6 at line 17"},
		{"two barriers", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1;\n@!%p1 bar.sync 2;", ErrDeadlock, 13, 0, "threads 32-63 at line 14"},
		{"too few", "setp.lt.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 3, 64;", ErrDeadlock, 14, 32, "threads 32-63 at line 14"},
		{"warp mask", "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra A;\nbar.warp.sync 0xffffffff;\nret;\nA:\nbar.sync 0;", ErrBarrier, 17, 0, "threads 3-31 at line 14 (bar.warp.sync)"},
		{"not in the mask", "bar.warp.sync 0xfffffff7;", ErrUndefined, 12, 3, "thread is not in its mask 0xfffffff7"},
		{"product without a thread", "setp.eq.u32 %p1, %r1, 9;\n@%p1 ret;\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, _}, {%r2, %r2, %r2, %r2}, {%r2, %r2}, {%f0, %f1, %f2, %f0};", ErrUndefined, 14, 0, "of the warp only threads 0xfffffdff are there"},
		{"tile past the end", "mov.u32 %r2, tile; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2+64];", ErrAddress, 12, 0, "past the end of shared memory"},
		{"misaligned tile", "mov.u32 %r2, tile;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2+8];", ErrAlignment, 13, 0, "16 bytes"},
		{"part of a copy", "mov.u32 %r2, tile; cp.async.cg.shared.global [%r2], [%rd1], 16, 8;", ErrUndefined, 12, 0, "copy of 8 out of 16 bytes"},
		{"barrier number", "bar.sync 16;", ErrUndefined, 12, 0, "barrier 16 of 16"},
		{"barrier of odd size", "bar.sync 0, 40;", ErrUndefined, 12, 0, "40 threads"},
		{"branch table", "t: .branchtargets A, A;\nbrx.idx %r1, t;\nA:", ErrUndefined, 13, 2, "index 2 in a table of 2 targets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := compile(t, entry(c.code), "k")
			_, err := b.run(Launch{Block: [3]int{64, 1, 1}, Params: params(b.words(make([]uint32, 10)...)), Budget: 100000})
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, c.err) {
				t.Fatalf("error %v, want one that is %q", err, c.err)
			}
			if e.Line != c.line || e.Thread != [3]int{c.thread} || !strings.Contains(e.Text, c.words) {
				t.Errorf("error %v\nwant line %d, thread %d, words %q", err, c.line, c.thread, c.words)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	b := compile(t, entry(".loc 1 77 3\nst.global.u32 [%rd1+400], 1;"), "k")
	_, err := b.run(Launch{Grid: [3]int{1, 2, 1}, Block: [3]int{2, 1, 1}, Params: params(b.words(1))})
	const want = "k: k.go:77 (PTX line 13, st.global.u32): address out of bounds: " +
		"4 bytes at 0x100020190, 396 bytes past the end of an allocation of 4 bytes at 0x100020000 (block 0,0,0 thread 0,0,0)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestFreed(t *testing.T) {
	b := compile(t, entry("ld.global.u32 %r2, [%rd1];"), "k")
	at := b.words(1)
	if err := b.mem.Free(at); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(Launch{Block: [3]int{1, 1, 1}, Params: params(at)}); !errors.Is(err, ErrFreed) {
		t.Errorf("read of freed memory: %v", err)
	}
	if err := b.mem.Free(at); !errors.Is(err, ErrFreed) {
		t.Errorf("second free: %v", err)
	}
	if err := b.mem.Free(at + 4); !errors.Is(err, ErrAddress) {
		t.Errorf("free of an address inside: %v", err)
	}
	if _, err := b.mem.Bytes(at, 1); !errors.Is(err, ErrFreed) {
		t.Errorf("bytes of freed memory: %v", err)
	}
}

// TestForgets demands that a program that allocates and frees for ever does not use up memory.
func TestForgets(t *testing.T) {
	m := NewMemory()
	keep, err := m.Allocate(4)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * maxFreed {
		at, err := m.Allocate(1)
		if err != nil || m.Free(at) != nil {
			t.Fatal(err)
		}
	}
	if len(m.regions) > maxFreed+2 || m.Used() != 4 {
		t.Errorf("%d regions, %d bytes used", len(m.regions), m.Used())
	}
	if _, err := m.Bytes(keep, 4); err != nil {
		t.Error(err)
	}
}

// TestExitedThreads demands that barriers wait only for threads that have not exited.
func TestExitedThreads(t *testing.T) {
	b := compile(t, entry(`setp.gt.u32 %p1, %r1, 40;
@%p1 exit;
setp.eq.u32 %p1, %r1, 3;
@%p1 ret;
bar.sync 0;
shfl.sync.down.b32 %r2, %r1, 1, 31, 0xffffffff;
setp.lt.u32 %p1, %r1, 10;
@%p1 st.global.u32 [%rd2], %r2;`), "k")
	out := b.words(make([]uint32, 10)...)
	b.mustRun(Launch{Block: [3]int{64, 1, 1}, Params: params(out)})
	for i, w := range []uint32{1, 2, 0xffffffff, 0, 5} { // lane 3 has left: what lane 2 gets from it is undefined
		want(t, "word", b.at(out, 10)[i], w)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"frob.u32 %r1, %r2;", "line 12: frob.u32: unknown instruction"},
		{"add.u32 %r1, %rd2, 1;", "register %rd2 of type .b64 as .u32"},
		{"add.u32 %r1, %f1, 1;", "register %f1 of type .f32 as .u32"},
		{"add.f32 %r1, %f1, %f1;", ""}, // bits go with floats
		{"add.f32 %f1, %f1, 1;", "operand integer is not a .f32"},
		{"add.u32 %r1, %r2;", "2 operands"},
		{"add.u32 %r1, %r2, %r3, %r4;", "4 operands"},
		{"add.rn.u32 %r1, %r2, %r3;", "modifier .rn is not supported here"},
		{"add.b32 %r1, %r2, %r3;", "no such instruction"},
		{"add.u32 5, %r2, %r3;", "integer as a destination"},
		{"mul.u32 %r1, %r2, %r3;", "none of .lo, .hi and .wide"},
		{"fma.f32 %f1, %f1, %f1, %f1;", "no such instruction"},
		{"div.f32 %f1, %f1, %f1;", "no such instruction"},
		{"sqrt.f32 %f1, %f1;", "no such instruction"},
		{"cvt.s32.f32 %r1, %f1;", "no such instruction"},
		{"cvt.f32.s32 %f1, %r1;", "no such instruction"},
		{"cvt.rn.s64.s32 %rd1, %r1;", "no such instruction"},
		{"ld.global.u64 %r1, [%rd1];", "register %r1 of type .b32 as .u64"},
		{"ld.global.u8 %r1, [%rd1];", ""},
		{"ld.global.v2.u32 %r1, [%rd1];", "%r1 where 2 elements are expected"},
		{"ld.shared.u32 %r1, [fixed];", "variable fixed of space const in an access to shared"},
		{"st.const.u32 [fixed], 1;", "no such instruction"},
		{"st.param.u64 [out], %rd1;", "no such instruction"},
		{"mov.u32 %r1, %tid;", "unknown special register %tid"},
		{"mov.u32 %r1, %r99;", "undeclared register or unknown special register %r99"},
		{"mov.u64 %rd1, %tid.x;", "special register %tid.x of 32 bits as .u64"},
		{"bra nowhere;", "undeclared label nowhere"},
		{"call nothing;", "call of something other than a function"},
		{"atom.global.sub.u32 %r1, [%rd1], 1;", "no such instruction"},
		{"red.global.cas.b32 [%rd1], 1, 2;", "no such instruction"},
		{"setp.lt.b32 %p1, %r1, %r2;", "no such instruction"},
		{"selp.b32 %r1, %r1, %r2, %r3;", "register %r3 of type .b32 as .pred"},
		{"vote.ballot.b32 %r1, %p1;", "no such instruction"},
		{"copysign.u32 %r1, %r1, %r1;", "no such instruction"},
		{"shl.u32 %r1, %r1, 1;", "no such instruction"},
	} {
		m, err := Load(entry(c.code), NewMemory())
		if err == nil {
			_, err = m.Kernel("k")
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.code, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.code, err, c.want)
		}
	}
}

func TestModuleErrors(t *testing.T) {
	const head = ".version 7.0\n.target sm_70\n"
	for _, c := range []struct{ text, want string }{
		{head + ".address_size 32\n.entry k() { ret; }", "addresses of 32 bits are not supported"},
		{head + ".address_size 64\n.entry j() { ret; }", "no entry k"},
		{head + ".address_size 64\n.func k() { ret; }", "no entry k"},
		{head + ".address_size 64\n.extern .global .u32 x;\n.entry k() { ret; }", "external variable x is not supported"},
		{head + ".address_size 64\n.global .u64 x = y;\n.entry k() { ret; }", "y has no address"},
		{head + ".address_size 64\n.func f() { call f; ret; }\n.entry k() { call f; ret; }", "function f is recursive"},
		{head + ".address_size 64\n.shared .b8 x[49153];\n.entry k() { ret; }", "49168 bytes of static shared memory, allowed are 49152"},
		{head + ".address_size 64\n.func (.reg .pred r) f() { ret; }\n.entry k() { .reg .pred p; call (p), f; ret; }", "parameter r of function f is a predicate"},
		{head + ".address_size 64\n.func f();\n.entry k() { call f; ret; }", "function f has no body"},
		{head + ".address_size 64\n.func f(.reg .b32 a) { ret; }\n.entry k() { call f; ret; }", "0 parameters and 0 results for f, which has 1 and 0"},
	} {
		m, err := Load(c.text, NewMemory())
		if err == nil {
			_, err = m.Kernel("k")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	b := load(t, "reduce")
	good := Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{256, 1, 1}, Params: params(uint64(0), uint64(0))}
	for what, change := range map[string]func(*Launch){
		"grid": func(l *Launch) { l.Grid[1] = 0 }, "block": func(l *Launch) { l.Block[0] = 128 },
		"threads": func(l *Launch) { l.Block[1] = 8 }, "parameters": func(l *Launch) { l.Params = nil },
	} {
		l := good
		change(&l)
		if _, err := b.k.Run(l); !errors.Is(err, ErrLaunch) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzRun demands that no text makes the decoder or the machine panic.
func FuzzRun(f *testing.F) {
	for _, s := range snippets {
		f.Add(s.code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		mem := NewMemory()
		m, err := Load(entry(code), mem)
		if err != nil {
			return
		}
		k, err := m.Kernel("k")
		if err != nil || k.ParamBytes() != 8 || k.Shared() > 1<<16 || k.prog.local > 1<<12 || k.prog.rows > 1<<12 {
			return
		}
		at, err := mem.Allocate(256)
		if err != nil {
			t.Fatal(err)
		}
		_, err = k.Run(Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{40, 1, 1}, Params: params(at), Budget: 20000})
		var e *Error
		if err != nil && !errors.As(err, &e) && !errors.Is(err, ErrLaunch) {
			t.Errorf("%v", err)
		}
	})
}
