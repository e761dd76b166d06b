package vasm

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestSpareRegisters runs random code with more values than registers on a model of the registers and the frame. What an
// instruction reads is what the last instruction with that result has written, although a spare register is not loaded
// again where it still has a value. Labels forget the spare registers.
func TestSpareRegisters(t *testing.T) {
	for seed := range uint64(200) {
		c := newRandomCode(rand.New(rand.NewPCG(seed, 1)))
		if got := c.run(t); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Fatalf("seed %d: got\n%s\nwant\n%s\n%s", seed, strings.Join(got, "\n"), strings.Join(c.want, "\n"), c.text)
		}
	}
}

// randomCode is a function of instructions that take two registers and write a third one, with labels.
type randomCode struct {
	text string
	want []string // the instructions, with the numbers of those that wrote their operands
}

func newRandomCode(r *rand.Rand) *randomCode {
	c, f := &randomCode{}, New(&AVX2)
	var list []Reg
	writer, label := map[Reg]int{}, ""
	for i := range 24 {
		v := f.Reg(Vector)
		f.Op(fmt.Sprintf("WRITE%d", i), Def(v))
		list, writer[v] = append(list, v), i
	}
	for i := len(list); i < 120; i++ {
		if i%6 == 0 {
			label = f.NewLabel()
			f.Jump("JEQ", label)
		} else if i%6 == 3 {
			f.Label(label)
		}
		a, b, d := list[r.IntN(len(list))], list[r.IntN(len(list))], list[r.IntN(len(list))]
		to, op := Def(d), "SUM"
		if r.IntN(3) == 0 {
			to, op = Mod(d), "ADD"
			c.want = append(c.want, fmt.Sprintf("%d: %d %d %d", i, writer[a], writer[b], writer[d]))
		} else {
			c.want = append(c.want, fmt.Sprintf("%d: %d %d", i, writer[a], writer[b]))
		}
		f.Op(fmt.Sprintf("%s%d", op, i), Use(a), Use(b), to)
		writer[d] = i
	}
	for i, v := range list {
		f.Op(fmt.Sprintf("READ%d", i), Use(v), Use(v))
		c.want = append(c.want, fmt.Sprintf("%d: %d %d", i, writer[v], writer[v]))
	}
	f.Op("RET")
	c.text = body(f)
	return c
}

var modelled = regexp.MustCompile(`^(WRITE|SUM|ADD|READ)(\d+) (.*)$`)

// run returns what the instructions of the text read.
func (c *randomCode) run(t *testing.T) (got []string) {
	spares := map[string]string{}
	for _, m := range regexp.MustCompile(`\(SP\),(Y\d+)|(Y\d+),\d*\(SP\)`).FindAllStringSubmatch(c.text, -1) {
		spares[m[1]+m[2]] = m[1] + m[2]
	}
	has := map[string]string{} // the numbers of the instructions that wrote registers and places of the frame
	for _, in := range strings.FieldsFunc(c.text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if label := strings.LastIndex(in, ":"); label >= 0 {
			in = in[label+1:]
			for _, r := range spares {
				delete(has, r)
			}
		}
		in = strings.ReplaceAll(in, ",", " ")
		m := modelled.FindStringSubmatch(in)
		words := strings.Fields(in)
		switch {
		case m == nil && words[0] == "VMOVUPS":
			for _, r := range spares {
				if strings.HasSuffix(words[1], "(SP)") && has[r] == has[words[1]] {
					t.Errorf("%s: %s has that value\n%s", in, r, c.text)
				}
			}
			has[words[2]] = has[words[1]]
		case m == nil && words[0] != "RET" && words[0] != "JEQ":
			t.Fatalf("the model has no %q", in)
		case m != nil:
			ops := strings.Fields(m[3])
			read := ops
			switch m[1] {
			case "WRITE":
				read = nil
			case "SUM":
				read = ops[:2]
			}
			if read != nil {
				var from []string
				for _, o := range read {
					from = append(from, has[o])
				}
				got = append(got, m[2]+": "+strings.Join(from, " "))
			}
			if m[1] != "READ" {
				has[ops[len(ops)-1]] = m[2]
			}
		}
	}
	return got
}
