package ptx_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// instruction matches a line that is one, without its indent and operands.
var instruction = regexp.MustCompile(`(?m)^\t((?:@!?%p\d+ )?[a-z][\w.]*)`)

// TestMultiplyIsShort keeps the kernel that everyone reads first from growing, and the
// driver's JIT, which takes time for every instruction, from slowing down.
func TestMultiplyIsShort(t *testing.T) {
	data, err := os.ReadFile("testdata/multiply.txtar")
	if err != nil {
		t.Fatal(err)
	}
	text := emit(t, string(txtar.Parse(data).Files[0].Data)).PTX
	path, fault, _ := strings.Cut(text, "$EXIT:")
	if n := len(instruction.FindAllString(path, -1)); n > 27 {
		t.Errorf("%d instructions on the main path, were 27", n)
	}
	if n := len(instruction.FindAllString(fault, -1)); n > 29 {
		t.Errorf("%d instructions for faults, were 29", n)
	}
	for _, want := range []string{"mad.wide.u32", "mul.rn.f32", "ld.global.f32"} {
		if !strings.Contains(path, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, ".local") {
		t.Error("it uses local memory")
	}
}

// BenchmarkEmit emits a function of some thousand instructions and blocks.
func BenchmarkEmit(b *testing.B) {
	g := &generator{rnd: rand.New(rand.NewPCG(5, 5)), f: ir.NewFunc("large", ir.Void)}
	g.f.Kernel, g.f.ParamBytes, g.left = true, 40, 1<<30
	g.f.NewParam(ir.PtrTo(ir.Global), 0)
	g.vars = []*ir.Value{g.f.NewParam(ir.I32, 8), g.f.NewParam(ir.I32, 12), g.f.NewParam(ir.I32, 16)}
	g.at = g.f.NewBlock()
	for range 300 {
		g.statements(3)
	}
	g.at.Append(ir.OpRet, ir.Void)
	for b.Loop() {
		if _, err := ptx.Emit(g.f, ptx.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(g.f.NumValues()), "values")
	b.ReportMetric(float64(g.f.NumBlocks()), "blocks")
}
