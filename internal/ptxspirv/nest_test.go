package ptxspirv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// text returns a kernel with a body. Its predicates are %p0 to %p9.
func text(body string) string {
	return ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n\t.reg .pred %p<10>;\n\t.reg .b32 %r<10>;\n\t.reg .b64 %rd<10>;\n" +
		strings.ReplaceAll(body, ";", ";\n") + "\n}\n"
}

// graphOf returns the control flow of a body.
func graphOf(t *testing.T, body string) (*graph, error) {
	t.Helper()
	m, err := ptx.Parse(text(body))
	if err != nil {
		t.Fatal(err)
	}
	return newGraph(m.Func("k"), Options{Subgroup: warpLanes, Arithmetic: Arithmetic{Shallow: true}})
}

// nested returns the nested form of a body, with blocks by their numbers in the text.
func nested(t *testing.T, body string) string {
	t.Helper()
	g, err := graphOf(t, body)
	if err != nil {
		return err.Error()
	}
	return describe(nest(g))
}

func describe(list []node) string {
	var parts []string
	for _, x := range list {
		switch x := x.(type) {
		case code:
			parts = append(parts, fmt.Sprint(x.block))
		case leave:
			parts = append(parts, "leave")
		case jump:
			parts = append(parts, fmt.Sprint("to ", x.to))
		case *choice:
			parts = append(parts, fmt.Sprintf("if(%s; %s)", describe(x.arms[0]), describe(x.arms[1])))
		case *scope:
			name := ""
			if x.named {
				name = "switch"
			}
			parts = append(parts, fmt.Sprintf("%s{%s}%s", name, describe(x.body), others(x.exits)))
		case *loop:
			parts = append(parts, fmt.Sprintf("loop{%s}%s", describe(x.body), others(x.exits)))
		}
	}
	return strings.Join(parts, " ")
}

func others(e exits) string {
	if len(e.others) == 0 {
		return ""
	}
	return fmt.Sprint(e.others)
}

func TestNest(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a line", "ret;", "0 leave"},
		{"one arm", "@%p1 bra $B; mov.u32 %r1, 1; $B: ret;", "{0 if(; 1)} 2 leave"},
		{"two arms", "@%p1 bra $B; mov.u32 %r1, 1; bra $C; $B: mov.u32 %r1, 2; $C: mov.u32 %r2, 1; ret;", "{0 if(2; 1)} 3 leave"},
		{"leave early", "@%p1 ret; mov.u32 %r1, 1; ret;", "0 if(leave; 1 leave)"},
		{"a loop", "$A: mov.u32 %r1, 1; @%p1 bra $A; ret;", "loop{0 if(; 1 leave)}"},
		{
			"code after a loop", "$A: mov.u32 %r1, 1; @%p1 bra $A; mov.u32 %r2, 2; mov.u32 %r3, 3; @%p2 bra $C; mov.u32 %r4, 4; $C: ret;",
			"{loop{0 if(; to 1)}} {1 if(; 2)} 3 leave",
		},
		{
			"both conditions", "@%p1 bra $E; @%p2 bra $E; mov.u32 %r1, 1; bra $J; $E: mov.u32 %r1, 2; $J: mov.u32 %r2, 3; ret;",
			"switch{{0 if(; 1 if(; 2 to 4))} 3} 4 leave",
		},
		{
			"out of two loops", "$A: mov.u32 %r1, 1; $B: @%p1 bra $X; @%p2 bra $B; @%p3 bra $A; mov.u32 %r2, 2; $X: mov.u32 %r3, 3; @%p4 bra $Y; mov.u32 %r4, 4; $Y: ret;",
			"switch{{loop{0 {loop{1 if(to 5; 2 if(; to 3))}[5]} 3 if(; to 4)}[5]} 4} {5 if(; 6)} 7 leave",
		},
		{"two entries", "@%p1 bra $B; $A: mov.u32 %r1, 1; $B: mov.u32 %r1, 2; @%p2 bra $A; ret;", "a loop has several entries"},
	} {
		if got := nested(t, c.body); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
