package sampling

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var forms = map[row.Form]string{row.Plain: "plain", row.Wide: "wide"}

// cases are parameters that a test gives to rows in turn.
var cases = []Params{
	{},
	{Temperature: 1},
	{Temperature: 0.7, TopK: 5},
	{Temperature: 1.5, TopP: 0.9},
	{Temperature: 1, MinP: 0.05},
	{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.01},
	{Temperature: 1, TopK: 1},
	{Temperature: 100, TopK: 1 << 30, TopP: 0.5},
	{Temperature: 1, TopP: 1e-6},
	{Temperature: 1e-3, TopP: 0.3},
	{Temperature: 1, MinP: 7},
	{Temperature: float32(math.NaN()), TopK: -1},
	{Temperature: 1, TopK: 3, TopP: 2, MinP: -1},
	{Temperature: 1, Skip: true},
}

// problem is rows in the memory of the host.
type problem struct {
	shape Shape
	rows  []Reference
}

// random returns random rows whose parameters are the cases in turn, with or without the options.
func random(shape Shape, options bool) problem {
	r := rand.New(rand.NewPCG(uint64(shape.Vocabulary), 1))
	p := problem{shape, make([]Reference, shape.Rows)}
	for i := range p.rows {
		row := &p.rows[i]
		row.Params, row.Position, row.Logits = cases[i%len(cases)], int32(r.IntN(100000)), make([]float32, shape.Vocabulary)
		row.Params.Seed = r.Uint64()
		for k := range row.Logits {
			row.Logits[k] = float32(r.NormFloat64() * 3)
			if i%3 == 1 {
				row.Logits[k] = float32(math.Round(r.NormFloat64() * 3)) // many ties
			}
		}
		if options {
			row.addOptions(r)
		}
	}
	return p
}

// addOptions adds penalties, a mask and biases to a row.
func (row *Reference) addOptions(r *rand.Rand) {
	n := len(row.Logits)
	row.Counts, row.Mask = make([]uint16, n), make([]uint32, (n+31)/32)
	for range n/10 + 1 {
		row.Counts[r.IntN(n)] = uint16([]int{Prompt, 1, 3 + Prompt, maxCount}[r.IntN(4)])
	}
	for i := range row.Mask {
		row.Mask[i] = r.Uint32()
		if r.IntN(4) == 0 {
			row.Mask[i] = 1<<32 - 1
		}
	}
	for i, token := range r.Perm(n) {
		if i < 5 {
			row.Biases = append(row.Biases, Bias{int32(token), float32(i)*3 - 5})
		}
	}
	row.Biases = append(row.Biases, Bias{-1, 100}, Bias{int32(n), 100})
	row.Params.Masked, row.Params.Logprobs = r.IntN(2) == 0, r.IntN(2) == 0
	if r.IntN(3) > 0 {
		row.Params.Repetition, row.Params.Frequency, row.Params.Presence = 1+r.Float32(), r.Float32(), r.Float32()
	}
}

// upload returns the operands of the rows. The results hold what no kernel leaves there.
func (p problem) upload(tb testing.TB, s *device.Stream, form row.Form) Operands {
	var logits []float32
	var counts []uint16
	var mask []uint32
	var biases []Bias
	params, positions, offsets := make([]Params, len(p.rows)), make([]int32, len(p.rows)), make([]int32, len(p.rows)+1)
	tokens, logprobs := make([]int32, len(p.rows)), make([]float32, len(p.rows))
	for i, r := range p.rows {
		logits, counts, mask, biases = append(logits, r.Logits...), append(counts, r.Counts...), append(mask, r.Mask...), append(biases, r.Biases...)
		params[i], positions[i], offsets[i+1], tokens[i], logprobs[i] = r.Params, r.Position, int32(len(biases)), -7, 7
	}
	x := Operands{
		Logits: kerneltest.Upload(tb, s, logits), Params: kerneltest.Upload(tb, s, params), Positions: kerneltest.Upload(tb, s, positions),
		Work: kerneltest.Upload(tb, s, make([]int32, workspace(form, p.shape))), Tokens: kerneltest.Upload(tb, s, tokens), Logprobs: kerneltest.Upload(tb, s, logprobs),
	}
	if len(counts) > 0 {
		x.Counts, x.Mask = kerneltest.Upload(tb, s, counts), kerneltest.Upload(tb, s, mask)
		x.Biases, x.Offsets = kerneltest.Upload(tb, s, biases), kerneltest.Upload(tb, s, offsets)
	}
	return x
}

// check compares tokens, counts and logarithms of probabilities with the reference.
func (p problem) check(t *testing.T, s *device.Stream, form row.Form) {
	t.Helper()
	x := p.upload(t, s, form)
	if err := run(s, form, p.shape, x); err != nil {
		t.Fatal(err)
	}
	tokens, logprobs := kerneltest.Download(t, s, x.Tokens), kerneltest.Download(t, s, x.Logprobs)
	var counts []uint16
	if x.Counts.Len() > 0 {
		counts = kerneltest.Download(t, s, x.Counts)
	}
	for i, r := range p.rows {
		want := int32(-7)
		if !r.Params.Skip {
			want = r.Sample()
		}
		if tokens[i] != want {
			t.Fatalf("row %d of %+v, %+v: token %d, want %d", i, p.shape, r.Params, tokens[i], want)
		}
		switch got := float64(logprobs[i]); {
		case r.Params.Skip || !r.Params.Logprobs:
			if got != 7 {
				t.Fatalf("row %d of %+v: a probability that nobody wanted", i, p.shape)
			}
		case want < 0:
			if got == got {
				t.Fatalf("row %d of %+v: probability %v of no token", i, p.shape, got)
			}
		default:
			if l := r.Logprob(want); !(math.Abs(got-l) <= 1e-5+1e-6*math.Abs(l)) {
				t.Fatalf("row %d of %+v: logarithm %v, want %v", i, p.shape, got, l)
			}
		}
		for k, before := range r.Counts {
			if k == int(want) && before&maxCount < maxCount {
				before++
			}
			if got := counts[i*p.shape.Vocabulary+k]; got != before {
				t.Fatalf("row %d of %+v: count %d is %d, want %d", i, p.shape, k, got, before)
			}
		}
	}
}

// eachForm runs a test on all executions, in all forms.
func eachForm(t *testing.T, test func(t *testing.T, s *device.Stream, form row.Form)) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) { test(t, kerneltest.Stream(t, open), form) })
		}
	}
}

// TestSample compares tokens with those of the reference, which sorts. The interpreter, and the form Wide, have half of the problems.
func TestSample(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		for i, shape := range []Shape{{14, 1}, {14, 2}, {28, 33}, {14, 1031}, {14, 5000}} {
			for k, options := range []bool{false, true} {
				if kind := s.Device().Info().Kind; kind == "cuda" || form == row.Plain && kind != "interp" || sweep.Every(2, i+k) {
					random(shape, options).check(t, s, form)
				}
			}
		}
		random(Shape{6, 20001}, false).check(t, s, form) // of which a part is probed
	})
}

// TestSpecial samples rows with NaN, infinities, equal logits, and nothing but what is excluded. The interpreter, and the form Wide, have half of the
// parameters for each row.
func TestSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	fill := func(n int, v float32) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
	const n = 2100
	mixed := fill(n, -3)
	copy(mixed[100:], []float32{nan, inf, -inf, inf, 5, nan})
	zeros := fill(n, 0)
	zeros[0], zeros[7] = float32(math.Copysign(0, -1)), 0
	huge := fill(n, -math.MaxFloat32)
	huge[9] = math.MaxFloat32
	all := [][]float32{fill(n, nan), fill(n, -inf), fill(n, 2.5), fill(n, inf), mixed, zeros, huge}
	var p problem
	for i, logits := range all {
		for k, params := range []Params{{}, {Temperature: 1}, {Temperature: 2, TopK: 7}, {Temperature: 0.5, TopP: 0.4}, {Temperature: 1, TopK: 2080, TopP: 0.9, MinP: 0.5}} {
			params.Seed, params.Logprobs = uint64(i*100+k), i > 1 && i != 6
			p.rows = append(p.rows, Reference{Logits: logits, Params: params, Position: int32(k)})
		}
	}
	p.shape = Shape{len(p.rows), n}
	for _, i := range []int{0, 1} { // no token: its logarithm is NaN
		p.rows[5*i].Params.Logprobs = true
	}
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		kind, some := s.Device().Info().Kind, problem{}
		for i, r := range p.rows {
			if kind == "cuda" || form == row.Plain && kind != "interp" || sweep.Every(2, i) { // as there is an odd number of parameters, each comes with every second row
				some.rows = append(some.rows, r)
			}
		}
		some.shape = Shape{len(some.rows), n}
		some.check(t, s, form)
	})
}

// TestDistribution draws many tokens and compares how often each comes with its probability.
func TestDistribution(t *testing.T) {
	const n, draws = 50, 20000
	p := problem{shape: Shape{draws, n}}
	logits := make([]float32, n)
	var sum float64
	for i := range logits {
		logits[i] = float32(i%7) / 2
		sum += math.Exp(float64(logits[i]))
	}
	for i := range draws {
		p.rows = append(p.rows, Reference{Logits: logits, Position: int32(i), Params: Params{Seed: 11, Temperature: 1}})
	}
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := p.upload(t, s, row.Plain)
	if err := run(s, row.Plain, p.shape, x); err != nil {
		t.Fatal(err)
	}
	seen := make([]float64, n)
	for _, token := range kerneltest.Download(t, s, x.Tokens) {
		seen[token]++
	}
	var chi float64
	for i, got := range seen {
		want := draws * math.Exp(float64(logits[i])) / sum
		chi += (got - want) * (got - want) / want
	}
	if chi > 85 { // with 49 degrees of freedom, exceeded with a probability of 0.001
		t.Errorf("chi squared is %v", chi)
	}
}

// TestBadBounds gives a row offsets outside the biases.
func TestBadBounds(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		p := random(Shape{2, 20}, true)
		for i := range p.rows {
			p.rows[i].Biases = nil
			p.rows[i].Params = Params{}
		}
		x := p.upload(t, s, form)
		x.Biases = kerneltest.Upload(t, s, []Bias{{3, 1000}})
		x.Offsets = kerneltest.Upload(t, s, []int32{-5, 0, 1 << 30})
		if err := run(s, form, p.shape, x); err != nil {
			t.Fatal(err)
		}
		if got := kerneltest.Download(t, s, x.Tokens); got[0] != p.rows[0].Sample() || got[1] != 3 {
			t.Errorf("tokens %v", got)
		}
	})
}

// TestGraph captures a launch once and replays it with other logits, parameters and positions.
func TestGraph(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		shape := Shape{len(cases), 700}
		x := random(shape, false).upload(t, s, form)
		g, err := s.Device().Capture(func(s *device.Stream) error { return run(s, form, shape, x) })
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for step := range 3 {
			p := random(shape, false)
			var logits []float32
			var params []Params
			var positions []int32
			for i := range p.rows {
				r := &p.rows[(i+step)%len(p.rows)]
				r.Position += int32(step)
				logits, params, positions = append(logits, r.Logits...), append(params, r.Params), append(positions, r.Position)
			}
			if err := errors.Join(device.UploadTo(s, x.Logits, logits), device.UploadTo(s, x.Params, params), device.UploadTo(s, x.Positions, positions), g.Launch(s)); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Download(t, s, x.Tokens) {
				if r := p.rows[(i+step)%len(p.rows)]; !r.Params.Skip && got != r.Sample() {
					t.Errorf("step %d: row %d has token %d, want %d", step, i, got, r.Sample())
				}
			}
		}
	})
}

// TestShapes passes operands that do not fit, and some of no rows or tokens.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	shape := Shape{3, 40}
	good := random(shape, true).upload(t, s, row.Plain)
	for name, change := range map[string]func(*Operands){
		"Logits":    func(x *Operands) { x.Logits = x.Logits.Slice(0, 100) },
		"Params":    func(x *Operands) { x.Params = x.Params.Slice(0, 2) },
		"Positions": func(x *Operands) { x.Positions = x.Positions.Slice(0, 2) },
		"Work":      func(x *Operands) { x.Work = x.Work.Slice(0, 2) },
		"Counts":    func(x *Operands) { x.Counts = x.Counts.Slice(0, 2) },
		"Mask":      func(x *Operands) { x.Mask = x.Mask.Slice(0, 3) },
		"Offsets":   func(x *Operands) { x.Offsets = x.Offsets.Slice(0, 3) },
		"Tokens":    func(x *Operands) { x.Tokens = x.Tokens.Slice(0, 2) },
		"Logprobs":  func(x *Operands) { x.Logprobs = x.Logprobs.Slice(0, 2) },
	} {
		x := good
		change(&x)
		if err := Sample(s, shape, x); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	if err := Sample(s, Shape{0, 40}, Operands{}); err != nil {
		t.Errorf("no rows: %v", err)
	}
	none := good
	none.Logits, none.Counts, none.Mask = device.Slice[float32]{}, device.Slice[uint16]{}, device.Slice[uint32]{}
	if err := Sample(s, Shape{3, 0}, none); err != nil {
		t.Errorf("no vocabulary: %v", err)
	}
	if got := kerneltest.Download(t, s, none.Tokens); got[0] != -1 || got[1] != -1 || got[2] != -1 {
		t.Errorf("of no vocabulary: tokens %v", got)
	}
}

// BenchmarkCPU reports CPU microseconds for a row of 49152 logits.
func BenchmarkCPU(b *testing.B) {
	for name, open := range kerneltest.VectorUnits() {
		for what, params := range map[string]Params{"greedy": {}, "plain": {Temperature: 1}, "top-k, top-p": {Temperature: 0.8, TopK: 40, TopP: 0.95}} {
			b.Run(what+"/"+name, func(b *testing.B) {
				s := kerneltest.Stream(b, open)
				p := random(Shape{4, 49152}, false)
				for i := range p.rows {
					p.rows[i].Params = params
				}
				x := p.upload(b, s, row.Plain)
				took := kerneltest.Measure(b, s, func() error { return Sample(s, p.shape, x) })
				b.ReportMetric(float64(took.Nanoseconds())/float64(p.shape.Rows)/1000, "us/row")
			})
		}
	}
}

// TestArena tests that a block of the Wide form has enough shared memory on GPUs of Vulkan.
func TestArena(t *testing.T) {
	if n := unsafe.Sizeof(arena{}); n > 48<<10 {
		t.Errorf("%d bytes", n)
	}
}
