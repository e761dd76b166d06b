package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

// tryAll runs formulas on operands of type typ: every pair of edges as variables, and a few as
// constants on either side. ptxas judges the same text.
func tryAll(t *testing.T, typ string, formulas []formula) {
	var p program
	for _, f := range formulas {
		p.add(f, "%x", "%y", "%n")
	}
	edges := edgesOf(typ)
	for i, f := range formulas {
		for j := range 3 {
			c := edges[(i+j*5)%len(edges)]
			p.addConst(f, typ, c, counts[(i+j*5)%len(counts)])
		}
	}
	text := p.text(typ)
	r := emit(t, text)
	t.Run("ptxas", func(t *testing.T) { assemble(t, r.PTX) })
	var xs, ys []uint64
	for _, x := range edges {
		for _, y := range edges {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	p.compare(t, xs, ys, execute(t, r.PTX, xs, ys, len(p.lines)))
}

// program is a kernel that computes many formulas of the same operands.
type program struct{ lines []line }

// line is one formula as it stands in the program.
type line struct {
	formula
	consts string // of the operands, as instructions
	made   string // with operands
	fix    func(x, y *uint64, n *uint32)
}

func (p *program) add(f formula, x, y, n string) {
	made := strings.NewReplacer(" X", " "+x, " Y", " "+y, " N", " "+n).Replace(f.text)
	p.lines = append(p.lines, line{formula: f, made: made})
}

// addConst adds f with one operand constant, then the other, then all of them.
func (p *program) addConst(f formula, typ string, c uint64, count uint32) {
	def := fmt.Sprintf("\t%%c = const %s %s\n\t%%k = const i32 %d\n", typ, constText(typ, c), int32(count))
	for mask := 1; mask < 4; mask++ {
		x, y, n := "%x", "%y", "%n"
		if mask&1 != 0 {
			x = "%c"
		}
		if mask&2 != 0 {
			y, n = "%c", "%k"
		}
		p.add(f, x, y, n)
		l := &p.lines[len(p.lines)-1]
		l.consts = def
		l.fix = func(x, y *uint64, n *uint32) {
			if mask&1 != 0 {
				*x = c
			}
			if mask&2 != 0 {
				*y, *n = c, count
			}
		}
	}
}

func constText(typ string, c uint64) string {
	if typ[0] == 'f' {
		return fmt.Sprintf("%#x", c)
	}
	return fmt.Sprint(signed(c, bitsOf(typ)))
}

// text returns the kernel. Operands and results lie 8 bytes apart: thread i reads element i
// of the first three arrays, and writes formula k to element k*threads+i of the last.
func (p *program) text(typ string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `kernel formulas(%%0 ptr.global @0, %%1 ptr.global @8, %%2 ptr.global @16, %%3 ptr.global @24) bytes 48 {
b0:
	%%b = ctaid i32 {0}
	%%d = ntid i32 {0}
	%%t = tid i32 {0}
	%%p = mul i32 %%b, %%d
	%%i = add i32 %%p, %%t
	%%ax = index ptr.global %%0, %%i {8}
	%%x = load %s %%ax
	%%ay = index ptr.global %%1, %%i {8}
	%%y = load %s %%ay
	%%an = index ptr.global %%2, %%i {8}
	%%n = load i32 %%an
	%%g = nctaid i32 {0}
	%%s = mul i32 %%d, %%g
`, typ, typ)
	for k, l := range p.lines {
		b.WriteString(l.consts)
		fmt.Fprintf(&b, "\t%%r = %s\n\t%%o = const i32 %d\n\t%%q = mul i32 %%o, %%s\n\t%%e = add i32 %%q, %%i\n", l.made, k)
		b.WriteString("\t%a = index ptr.global %3, %e {8}\n\tstore %a, %r\n")
	}
	b.WriteString("\tret\n}\n")
	return number(b.String())
}

// number replaces names of values by numbers, a new one at each definition.
func number(text string) string {
	names, next := map[string]string{}, 4
	var b strings.Builder
	for _, l := range strings.SplitAfter(text, "\n") {
		words := strings.FieldsFunc(l, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\n' })
		if strings.HasPrefix(l, "\t") {
			var repl []string
			for i, w := range words {
				if i > 0 && names[w] != "" {
					repl = append(repl, " "+w, " "+names[w])
				}
			}
			if strings.HasPrefix(words[0], "%") {
				names[words[0]] = fmt.Sprintf("%%%d", next)
				next++
				repl = append(repl, "\t"+words[0]+" ", "\t"+names[words[0]]+" ")
			}
			l = strings.NewReplacer(repl...).Replace(l)
		}
		b.WriteString(l)
	}
	return b.String()
}

// compare checks what the kernel computed, out[k][i] being formula k of thread i.
func (p *program) compare(t *testing.T, xs, ys []uint64, out [][]uint64) {
	for k, l := range p.lines {
		bad := 0
		for i := range xs {
			x, y, n := xs[i], ys[i], counts[i%len(counts)]
			if l.fix != nil {
				l.fix(&x, &y, &n)
			}
			if divides(l.text) && y == 0 {
				continue
			}
			want, got := l.want(x, y, n), out[k][i]
			if got == want || isNaN(l.result(), got) && isNaN(l.result(), want) {
				continue
			}
			if bad++; bad <= 3 {
				t.Errorf("%s (%s): X %#x, Y %#x, N %d: got %#x, want %#x", l.text, strings.TrimSpace(l.made), x, y, n, got, want)
			}
		}
	}
}

func divides(text string) bool {
	op := strings.Fields(text)[0]
	return op[1:] == "div" && op != "fdiv" || op[1:] == "rem"
}

func isNaN(typ string, bits uint64) bool {
	return typ[0] == 'f' && math.IsNaN(floatOf(typ, bits))
}

// execute runs the kernel of a program on the interpreter, a block of 64 threads after the
// other, and returns the results by formula and thread.
func execute(t *testing.T, text string, xs, ys []uint64, formulas int) [][]uint64 {
	t.Helper()
	const block = 64
	blocks := (len(xs) + block - 1) / block
	threads := blocks * block
	mem := machine.NewMemory()
	var params []byte
	var arrays [4][]byte
	for i, size := range []int{threads, threads, threads, threads * formulas} {
		address, err := mem.Allocate(8 * size)
		if err != nil {
			t.Fatal(err)
		}
		if arrays[i], err = mem.Bytes(address, 8*size); err != nil {
			t.Fatal(err)
		}
		clear(arrays[i])
		params = binary.LittleEndian.AppendUint64(params, address)
	}
	for i := range xs {
		binary.LittleEndian.PutUint64(arrays[0][8*i:], xs[i])
		binary.LittleEndian.PutUint64(arrays[1][8*i:], ys[i])
		binary.LittleEndian.PutUint32(arrays[2][8*i:], counts[i%len(counts)])
	}
	run(t, text, mem, machine.Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{block, 1, 1}, Params: append(params, make([]byte, 16)...)})
	out := make([][]uint64, formulas)
	for k := range out {
		out[k] = make([]uint64, len(xs))
		for i := range xs {
			out[k][i] = binary.LittleEndian.Uint64(arrays[3][8*(k*threads+i):])
		}
	}
	return out
}

// run launches the only kernel of text.
func run(t *testing.T, text string, mem *machine.Memory, l machine.Launch) {
	t.Helper()
	m, err := machine.Load(text, mem)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(entryName.FindStringSubmatch(text)[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Run(l); err != nil {
		t.Fatal(err)
	}
}

var entryName = regexp.MustCompile(`\.entry (\S+)\(`)
