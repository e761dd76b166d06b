package ir

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// String returns the module in the text form.
func (m *Module) String() string {
	var s strings.Builder
	for _, v := range m.Vars {
		v.print(&s)
	}
	for i, f := range m.Funcs {
		if i > 0 || len(m.Vars) > 0 {
			s.WriteByte('\n')
		}
		f.print(&s)
	}
	return s.String()
}

// String returns the function in the text form. Values and blocks keep their IDs.
func (f *Func) String() string {
	var s strings.Builder
	f.print(&s)
	return s.String()
}

// print writes `var $tile shared [4]f32` or `var $table const [2]i8 "\x01\x02"`.
func (v *Variable) print(w io.Writer) {
	fmt.Fprintf(w, "var $%s %v %v", v.Name, v.Space, v.Type)
	if v.Align > 0 {
		fmt.Fprintf(w, " align %d", v.Align)
	}
	if v.Init != nil {
		fmt.Fprintf(w, " %q", v.Init)
	}
	fmt.Fprintln(w)
}

func (f *Func) print(w io.Writer) {
	keyword := "func"
	if f.Kernel {
		keyword = "kernel"
	}
	fmt.Fprintf(w, "%s %s(", keyword, f.Name)
	for i, p := range f.Params {
		if i > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%%%d %v", p.ID, p.Type)
		if f.Kernel {
			fmt.Fprintf(w, " @%d", p.Imm)
		}
	}
	fmt.Fprint(w, ")")
	if f.Kernel {
		fmt.Fprintf(w, " bytes %d", f.ParamBytes)
		if f.Block != [3]int{} {
			fmt.Fprintf(w, " block %d %d %d", f.Block[0], f.Block[1], f.Block[2])
		}
		if f.Narrow {
			fmt.Fprint(w, " narrow")
		}
		if f.Coarse > 0 {
			fmt.Fprintf(w, " coarse %d", f.Coarse)
		}
		if f.Aligned {
			fmt.Fprint(w, " aligned")
		}
		for i, s := range f.Slices {
			if i == 0 {
				fmt.Fprint(w, " slices")
			}
			fmt.Fprintf(w, " @%d of %d", s.Offset, s.Elem)
		}
	}
	if f.Result.Kind != KindVoid {
		fmt.Fprintf(w, " -> %v", f.Result)
	}
	fmt.Fprintln(w, " {")
	for _, b := range f.Blocks {
		b.print(w)
	}
	fmt.Fprintln(w, "}")
}

func (b *Block) print(w io.Writer) {
	fmt.Fprintf(w, "b%d", b.ID)
	if b.Cold {
		fmt.Fprint(w, " cold")
	}
	if b.Launch {
		fmt.Fprint(w, " launch")
	}
	if b.Apart {
		fmt.Fprint(w, " apart")
	}
	fmt.Fprint(w, ":")
	for i, p := range b.Preds {
		if i == 0 {
			fmt.Fprint(w, " <-")
		}
		fmt.Fprintf(w, " b%d", p.ID)
	}
	fmt.Fprintln(w)
	for _, v := range b.Values {
		fmt.Fprintf(w, "\t%s\n", v.LongString())
	}
}

// LongString returns the value's line in the text form:
//
//	%6 = index ptr.global %0, %4 {4} !kernels.go:12:3
func (v *Value) LongString() string {
	var s strings.Builder
	if v.Type.Kind != KindVoid {
		fmt.Fprintf(&s, "%%%d = ", v.ID)
	}
	s.WriteString(v.Op.String())
	if v.Type.Kind != KindVoid {
		fmt.Fprintf(&s, " %v", v.Type)
	}
	v.printAux(&s)
	for i, a := range v.Args {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, " %%%d", a.ID)
	}
	if site, ok := v.Aux.(*Site); ok {
		fmt.Fprintf(&s, " %s", site)
	}
	v.printImm(&s)
	if v.Op.Terminator() {
		for _, t := range v.Block.Succs {
			fmt.Fprintf(&s, " b%d", t.ID)
		}
	}
	if v.Pos.Known() {
		fmt.Fprintf(&s, " !%v", v.Pos)
	}
	return s.String()
}

func (v *Value) printAux(s *strings.Builder) {
	switch a := v.Aux.(type) {
	case *Type:
		fmt.Fprintf(s, " <%v>", a)
	case *Variable:
		fmt.Fprintf(s, " $%s", a.Name)
	case *Func:
		fmt.Fprintf(s, " @%s", a.Name)
	}
	if v.Op == OpConst {
		fmt.Fprintf(s, " %s", constString(v.Type, v.Imm))
	}
}

// printImm writes the immediate after the arguments, but for what is usual.
func (v *Value) printImm(s *strings.Builder) {
	switch attr := ops[v.Op].attr; {
	case attr == attrMemory && v.Imm != 0:
		fmt.Fprintf(s, " {%s}", memoryString(v.Imm))
	case attr == attrMemory || attr == attrConst:
	case v.Imm != 0 || attr == attrImm && (v.Op < OpFAdd || v.Op > OpApproxDiv):
		fmt.Fprintf(s, " {%d}", v.Imm)
	}
}

// String returns the site as `"index %d of %d"(int64, int64)`.
func (s *Site) String() string {
	names := make([]string, len(s.Args))
	for i, a := range s.Args {
		names[i] = a.String()
	}
	return fmt.Sprintf("%q(%s)", s.Format, strings.Join(names, ", "))
}

// constString prints finite floats as the shortest decimal that reads back to the same
// bits, everything else as an integer.
func constString(t *Type, bits int64) string {
	switch t.Kind {
	case KindF32:
		if f := math.Float32frombits(uint32(bits)); !math.IsInf(float64(f), 0) && f == f {
			return floatString(float64(f), 32)
		}
		return fmt.Sprintf("%#x", uint32(bits))
	case KindF64:
		if f := math.Float64frombits(uint64(bits)); !math.IsInf(f, 0) && f == f {
			return floatString(f, 64)
		}
		return fmt.Sprintf("%#x", uint64(bits))
	}
	return strconv.FormatInt(bits, 10)
}

// floatString prints f so that it cannot be taken for the bits of a float.
func floatString(f float64, bits int) string {
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
