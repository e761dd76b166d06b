package optimizer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// dynamicMap returns the levels of dynamic tree quantization as the paper and bitsandbytes compute them: the middles between the points that
// divide the range from 0.1 to 1 into equal parts, for each decade, and 0 and 1.
func dynamicMap(negative bool) (list []float32) {
	for decade := range 7 {
		parts, signs := 1<<decade, []float64{1, -1}
		if !negative {
			parts, signs = 2*parts, signs[:1]
		}
		point := func(i int) float64 { return 0.1 + 0.9*float64(i)/float64(parts) }
		for i := range parts {
			for _, sign := range signs {
				list = append(list, float32(sign*(point(i)+point(i+1))/2*math.Pow(10, float64(decade-6))))
			}
		}
	}
	list = append(list, 0, 1)
	slices.Sort(list)
	return list
}

// near reports whether two levels are equal up to float32 roundings.
func near(a, b float32) bool { return math.Abs(float64(a-b)) <= 2e-7*math.Abs(float64(b)) }

func TestLevels(t *testing.T) {
	first, second := Levels()
	for code := range levels {
		if want := dynamicMap(true)[code]; !near(first[code], want) {
			t.Errorf("code %d of first moments is %g, want %g", code, first[code], want)
		}
		if want := dynamicMap(false)[code]; !near(second[code], want) {
			t.Errorf("code %d of second moments is %g, want %g", code, second[code], want)
		}
	}
	if n := len(Tables()); n != TableLen {
		t.Errorf("%d elements, want %d", n, TableLen)
	}
}

// TestNearest compares the level that cells find with the nearest one, for magnitudes of all sizes, and for each level and what is next to
// the middles between levels.
func TestNearest(t *testing.T) {
	for _, lowest := range []int{signed, unsigned} {
		list, first := cellsOf(lowest), lowest // the number of level 0
		last := 1 << (decades + lowest)
		check := func(a float32) {
			if a > 1 {
				return
			}
			got, best := list[cellOf(a)].number(a), math.Inf(1)
			for number := first; number <= last; number++ {
				best = min(best, math.Abs(level(number, lowest)-float64(a)))
			}
			if off := math.Abs(level(int(got), lowest) - float64(a)); int(got) < first || int(got) > last || off > best+1e-6*float64(a) {
				t.Errorf("%g has level %d, which is %g away; the nearest is %g away", a, got, off, best)
			}
		}
		for number := first; number < last; number++ {
			x, next := level(number, lowest), level(number+1, lowest)
			for _, a := range []float64{x, (x + next) / 2 * (1 - 1e-5), (x + next) / 2 * (1 + 1e-5)} {
				check(float32(a))
			}
		}
		for a := float32(1); a > 1e-9; a *= 0.99 {
			check(a)
		}
		check(0)
	}
	// Numbers that are not finite must have a level, too.
	for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		if i := cellOf(x); i >= cells {
			t.Errorf("cell %d for %g", i, x)
		}
	}
}

// eightState is parameters with the moments of AdamW8.
type eightState[T Element] struct {
	x    Operands[T]
	e    Eight
	host []Chunk
}

// newEight uploads parameters of the given sizes, which begin at multiples of Unit; those with less than least elements have exact moments.
func newEight[T Element](t testing.TB, s *device.Stream, values []float32, begins, sizes []int) *eightState[T] {
	t.Helper()
	const least = 1000
	list, eight := Layout(begins, sizes, least)
	n, exact := len(values), len(list)-eight
	st := &eightState[T]{host: list, e: Eight{
		Chunks: kerneltest.Upload(t, s, list), Codes: kerneltest.Upload(t, s, make([]uint8, 2*Block*eight)), Scales: kerneltest.Upload(t, s, make([]float32, 2*eight)),
		Exact: kerneltest.Upload(t, s, make([]float32, 2*Block*exact)), Table: kerneltest.Upload(t, s, Tables()),
	}}
	st.x = Operands[T]{Master: kerneltest.Upload(t, s, values), Grad: kerneltest.Upload(t, s, make([]T, n))}
	if row.Elements[T]() > row.Elements[float32]() {
		st.x.Copy = kerneltest.Upload(t, s, make([]T, n))
	}
	return st
}

// moments returns the moments of all parameters, which are 0 between parameters.
func (st *eightState[T]) moments(t testing.TB, s *device.Stream) (first, second []float64) {
	t.Helper()
	codes, scales, exact := kerneltest.Download(t, s, st.e.Codes), kerneltest.Download(t, s, st.e.Scales), kerneltest.Download(t, s, st.e.Exact)
	m, v := dynamicMap(true), dynamicMap(false)
	first, second = make([]float64, st.x.Master.Len()), make([]float64, st.x.Master.Len())
	for _, c := range st.host {
		for i := range int(c.Length) * Unit {
			at, slot := int(c.At)*Unit+i, int(c.Slot)
			if slot < 0 {
				first[at], second[at] = float64(exact[(-1-slot)*Block+i]), float64(exact[len(exact)/2+(-1-slot)*Block+i])
				continue
			}
			first[at] = float64(m[codes[slot*Block+i]]) * float64(scales[slot])
			second[at] = float64(v[codes[len(codes)/2+slot*Block+i]]) * float64(scales[len(scales)/2+slot])
		}
	}
	return first, second
}

// TestEight takes steps of AdamW8, each of which is compared with a step of the reference from the same moments. Its new moments must be as near
// to those of the reference as levels can be, given the largest magnitude of a chunk.
func TestEight(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, form := range []row.Form{row.Plain, row.Wide} {
			if kerneltest.Runs(name, form) {
				t.Run(fmt.Sprint(name, "/", form), func(t *testing.T) {
					s := kerneltest.Stream(t, open)
					testEight[float32](t, s, form)
					testEight[dtype.BF16](t, s, form)
				})
			}
		}
	}
}

func testEight[T Element](t *testing.T, s *device.Stream, form row.Form) {
	t.Helper()
	begins, sizes := []int{0, 1088, 1216, 1280}, []int{1088, 70, 64, 1472} // 5 chunks, of which the last is short, 1, 1 and 6
	n := 1280 + 1472
	r := rand.New(rand.NewPCG(7, 8))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	clear(values[1088+70 : 1216]) // no parameters
	st := newEight[T](t, s, values, begins, sizes)
	for step := 1; step <= 4; step++ {
		a := Adam{Rate: 1e-2, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, Decay: 0.1, Step: step}
		grad := make([]T, n)
		for i := range grad {
			if i < 1088+70 || i >= 1216 {
				grad[i] = row.From64[T](r.NormFloat64() * math.Exp2(float64(r.IntN(16)-12)))
			}
		}
		clear(grad[256:512]) // a chunk whose moments are 0
		if err := device.UploadTo(s, st.x.Grad, grad); err != nil {
			t.Fatal(err)
		}
		exact := row.Float64s(grad)
		st.x.Factor = clipped(t, s, problem{n: n, limit: 1}, st.x.Grad, exact)
		want := newReference(kerneltest.Download(t, s, st.x.Master))
		want.first, want.second = st.moments(t, s)
		want.adamW(exact, a)
		if err := st.x.adamW8(s, form, a, st.e); err != nil {
			t.Fatal(err)
		}
		verify(t, s, st.x, want)
		st.compare(t, s, want)
	}
}

// compare compares moments.
func (st *eightState[T]) compare(t *testing.T, s *device.Stream, want *reference) {
	t.Helper()
	first, second := st.moments(t, s)
	m, v := dynamicMap(true), dynamicMap(false)
	for _, c := range st.host {
		from := int(c.At) * Unit
		to := from + int(c.Length)*Unit
		nearest(t, first[from:to], want.first[from:to], c.Slot, m)
		nearest(t, second[from:to], want.second[from:to], c.Slot, v)
	}
}

// nearest compares the moments of a chunk.
func nearest(t *testing.T, got, want []float64, slot int32, list []float32) {
	t.Helper()
	most := 0.
	for _, x := range want {
		most = max(most, math.Abs(x))
	}
	for i, x := range want {
		best := 0. // for a moment of 32 bits
		if slot >= 0 && most > 0 {
			best = math.Inf(1)
			for _, l := range list {
				best = min(best, math.Abs(float64(l)*most-x))
			}
		}
		if off := math.Abs(got[i] - x); off > best+2e-6*most {
			t.Fatalf("moment %d of slot %d is %g for %g, %g away, want %g", i, slot, got[i], x, off, best)
		}
	}
}

// TestEightShapes tests operands that do not fit.
func TestEightShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	st := newEight[float32](t, s, make([]float32, 2048), []int{0}, []int{2048})
	for i, change := range []func(x *Operands[float32], e *Eight){
		func(x *Operands[float32], _ *Eight) { x.Grad = x.Grad.Slice(0, 1) },
		func(_ *Operands[float32], e *Eight) { e.Chunks = e.Chunks.Slice(0, 7) },
		func(_ *Operands[float32], e *Eight) { e.Codes = e.Codes.Slice(0, 7) },
		func(_ *Operands[float32], e *Eight) { e.Table = e.Table.Slice(0, 7) },
		func(x *Operands[float32], _ *Eight) { x.Master, x.Grad = x.Master.Slice(0, 1), x.Grad.Slice(0, 1) },
	} {
		x, e := st.x, st.e
		change(&x, &e)
		if err := AdamW8(s, Adam{Step: 1}, x, e); !errors.Is(err, ErrShape) {
			t.Errorf("%d: %v, want ErrShape", i, err)
		}
	}
}

// TestBitsandbytes compares levels and parameters after some steps with bitsandbytes, if GOPHERWARP_PYTHON, or else python3, has that package.
// It rounds to a level that is not always the nearest, so a parameter may be away by a part of what steps move it, and a few by more.
func TestBitsandbytes(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import bitsandbytes").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import bitsandbytes: %v\n%s", python, err, out)
	}
	const n, steps = 8192, 5
	r, numbers := rand.New(rand.NewPCG(3, 4)), make([]float32, n*(1+steps))
	for i := range numbers {
		numbers[i] = float32(r.NormFloat64())
	}
	folder := t.TempDir()
	text, err := binary.Append(nil, binary.LittleEndian, numbers)
	if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "input"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), python, "testdata/judge.py", folder, strconv.Itoa(n), strconv.Itoa(steps)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := make([]float32, 2*levels+n*steps)
	text, err = os.ReadFile(filepath.Join(folder, "output"))
	if err == nil {
		_, err = binary.Decode(text, binary.LittleEndian, want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range Tables()[:2*levels] {
		if !near(x, want[i]) {
			t.Errorf("level %d is %g, in bitsandbytes %g", i, x, want[i])
		}
	}
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	st := newEight[float32](t, s, numbers[:n], []int{0}, []int{n})
	const rate = 1e-2
	for step := range steps {
		if err := device.UploadTo(s, st.x.Grad, numbers[n*(1+step):n*(2+step)]); err != nil {
			t.Fatal(err)
		}
		if err := AdamW8(s, Adam{Rate: rate, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 0.1, Step: step + 1}, st.x, st.e); err != nil {
			t.Fatal(err)
		}
		sum, far := 0., 0
		for i, x := range kerneltest.Download(t, s, st.x.Master) {
			off := math.Abs(float64(x - want[2*levels+n*step+i]))
			if sum += off; off > 0.05*rate*float64(1+step) {
				far++
			}
		}
		if mean := sum / n; mean > 0.001*rate*float64(1+step) || far > n/1000 {
			t.Errorf("after step %d, parameters are %g away in the mean, and %d far away", step+1, mean, far)
		}
	}
}

// BenchmarkAdamW8 measures steps with moments of 8 bits, as BenchmarkAdamW does those of 32 bits. A step moves 20 bytes of each parameter, or 18
// if derivatives are bfloat16, and scales.
func BenchmarkAdamW8(b *testing.B) {
	for name, open := range kerneltest.Executions() {
		if n := map[string]int{"cuda": 1 << 28, "native": 1 << 20}[name]; n > 0 {
			form := map[string]row.Form{"cuda": row.Wide, "native": row.Plain}[name]
			b.Run(name+"/float32", func(b *testing.B) { measureEight[float32](b, open, n, form) })
			b.Run(name+"/bfloat16", func(b *testing.B) { measureEight[dtype.BF16](b, open, n, form) })
		}
	}
}

func measureEight[T Element](b *testing.B, open kerneltest.Opener, n int, form row.Form) {
	s := kerneltest.Stream(b, open)
	list, eight := Layout([]int{0}, []int{n}, 1)
	e := Eight{
		Chunks: kerneltest.Upload(b, s, list), Codes: zeros[uint8](b, s, 2*Block*eight), Scales: zeros[float32](b, s, 2*eight),
		Table: kerneltest.Upload(b, s, Tables()),
	}
	x := Operands[T]{Master: zeros[float32](b, s, n), Grad: zeros[T](b, s, n)}
	bytes := 12 + 2*16/row.Elements[T]()
	if row.Elements[T]() > 4 {
		x.Copy = zeros[T](b, s, n)
		bytes += 16 / row.Elements[T]()
	}
	random(b, s, x.Grad)
	b.SetBytes(int64(n*bytes + 28*eight))
	launch := func(times int) {
		for i := range times {
			if err := x.adamW8(s, form, Adam{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: i + 1}, e); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	launch(1)
	b.ResetTimer()
	launch(b.N)
}

// random stores random derivatives, so that the moments that follow have all codes.
func random[T Element](b *testing.B, s *device.Stream, x device.Slice[T]) {
	b.Helper()
	r, list := rand.New(rand.NewPCG(1, 2)), make([]T, 1<<16)
	for i := range list {
		list[i] = row.From64[T](r.NormFloat64())
	}
	for at := 0; at < x.Len(); at += len(list) {
		if err := device.UploadTo(s, x.Slice(at, at+len(list)), list); err != nil {
			b.Fatal(err)
		}
	}
}
