package sampling

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// likely returns the tokens that List lists for a row.
func (r Reference) likely() []Likely {
	list := r.candidates()
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.logit, a.logit) })
	var result []Likely
	for i := range min(int(r.Params.Top), MostLikely) {
		l := Likely{-1, float32(math.Inf(-1))}
		if i < len(list) {
			l = Likely{int32(list[i].token), float32(r.Logprob(int32(list[i].token)))}
		}
		result = append(result, l)
	}
	return result
}

// TestList compares the most probable tokens with those of the reference.
func TestList(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		for _, shape := range []Shape{{6, 1}, {9, 40}, {12, 2500}} {
			p := random(shape, true)
			for i := range p.rows {
				p.rows[i].Params.Top = []int32{0, 1, 5, 20, 100}[i%5]
			}
			if shape.Vocabulary > 1 {
				p.rows[3].Logits[7], p.rows[3].Logits[9] = float32(math.NaN()), float32(math.Inf(-1))
			}
			p.checkList(t, s, form)
		}
	})
}

// checkList compares the lists of the rows.
func (p problem) checkList(t *testing.T, s *device.Stream, form row.Form) {
	t.Helper()
	x := p.upload(t, s, form)
	unused := Likely{-9, 9}
	list := kerneltest.Upload(t, s, slices.Repeat([]Likely{unused}, p.shape.Rows*LikelyRow))
	if err := errors.Join(run(s, form, p.shape, x), List(s, p.shape, LikelyOperands{x.Logits, x.Params, x.Tokens, x.Logprobs, list})); err != nil {
		t.Fatal(err)
	}
	all := kerneltest.Download(t, s, list)
	for i, r := range p.rows {
		got, want := all[i*LikelyRow:(i+1)*LikelyRow], slices.Repeat([]Likely{unused}, LikelyRow)
		if token := int32(-1); r.Params.Logprobs && !r.Params.Skip {
			if token = r.Sample(); token < 0 {
				continue // nothing is listed that anybody reads
			}
			copy(want, append([]Likely{{token, float32(r.Logprob(token))}}, r.likely()...))
		}
		for k := range want {
			if got[k].Token != want[k].Token || got[k] != want[k] && !(math.Abs(float64(got[k].Logprob-want[k].Logprob)) <= 1e-5+1e-6*math.Abs(float64(want[k].Logprob))) {
				t.Fatalf("row %d of %+v, %+v: element %d is %v, want %v", i, p.shape, r.Params, k, got[k], want[k])
			}
		}
	}
}

// List refuses operands that do not fit.
func TestListShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	shape := Shape{2, 8}
	x := random(shape, false).upload(t, s, row.Plain)
	good := LikelyOperands{x.Logits, x.Params, x.Tokens, x.Logprobs, kerneltest.Upload(t, s, make([]Likely, 2*LikelyRow))}
	bad := good
	bad.List = good.List.Slice(0, LikelyRow)
	if err := List(s, shape, bad); !errors.Is(err, ErrShape) {
		t.Errorf("a short list: %v", err)
	}
	if err := List(s, Shape{}, LikelyOperands{}); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// BenchmarkList measures the lists of 64 rows of Llama 3's vocabulary: of nobody, of one row, and of all rows. Execution cuda needs a GPU.
func BenchmarkList(b *testing.B) {
	for name, open := range map[string]kerneltest.Opener{"cuda": kerneltest.Executions()["cuda"], "cpu": kerneltest.CPU(cpu.Fastest)} {
		for what, rows := range map[string]int{"none": 0, "one": 1, "all": 64} {
			b.Run(name+"/"+what, func(b *testing.B) {
				s := kerneltest.Stream(b, open)
				p := random(Shape{64, 128256}, false)
				for i := range p.rows {
					p.rows[i].Params = Params{Logprobs: i < rows, Top: MostLikely}
				}
				x := p.upload(b, s, row.FormFor(s))
				operands := LikelyOperands{x.Logits, x.Params, x.Tokens, x.Logprobs, kerneltest.Upload(b, s, make([]Likely, p.shape.Rows*LikelyRow))}
				if err := run(s, row.FormFor(s), p.shape, x); err != nil {
					b.Fatal(err)
				}
				took := kerneltest.Measure(b, s, func() error { return List(s, p.shape, operands) })
				b.ReportMetric(float64(took.Nanoseconds())/1000, "us/step")
			})
		}
	}
}
