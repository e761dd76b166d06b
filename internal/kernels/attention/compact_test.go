package attention

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestCompact compares stored elements with keys and values, and results with those of the stored elements in float64.
func TestCompact(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, h := range []heads{{64, 9, 3}, {128, 4, 1}, {80, 2, 2}, {64, 10, 1}} {
				if name == "cuda" || name == "native" || h.keys == 1 {
					testCompact[float32](t, s, h)
					testCompact[dtype.BF16](t, s, h)
				}
			}
		})
	}
}

// compactProblem is a problem whose keys and values are the elements that a Compact has.
type compactProblem[T Element] struct {
	*problem[T]
	c Compact[T]
}

func testCompact[T Element](t *testing.T, s *device.Stream, h heads) {
	t.Helper()
	if !Compacts[T](s, h.dim) {
		return
	}
	p := newCompact[T](t, s, h)
	asked := []Token{{0, 0}, {0, 62}, {1, 63}, {0, 64}, {1, 15}, {0, 129}, {1, 64}, {0, 127}, {2, 0}, {0, -1}, {-1, 5}, {0, maxPages * PageTokens}}
	for _, scratch := range []bool{false, true} {
		q := p.numbers(len(asked) * p.queries * p.dim)
		x := Queries[T]{Heads: p.queries, Q: kerneltest.Upload(t, s, q), Tokens: kerneltest.Upload(t, s, asked)}
		x.O = kerneltest.Upload(t, s, slices.Repeat([]T{row.From64[T](math.NaN())}, len(q)))
		if scratch {
			x.Scratch = kerneltest.Upload(t, s, slices.Repeat([]float32{float32(math.NaN())}, p.c.Workspace(len(asked), p.queries)))
		}
		if err := p.c.Attend(s, x); err != nil {
			t.Fatal(err)
		}
		p.compare(t, matrix, asked, answer[T]{q, kerneltest.Download(t, s, x.O)})
	}
}

// newCompact stores a problem's sequences in a Compact that has NaNs elsewhere, and checks what is stored: elements are rounded to 4 bits of
// precision, or to a part of their scale.
func newCompact[T Element](t *testing.T, s *device.Stream, h heads) compactProblem[T] {
	t.Helper()
	p := newProblem[T](t, s, lanes, h)
	for i := range p.v { // heads of many sizes
		p.v[i] = row.From64[T](row.Float64(p.v[i]) * math.Ldexp(1, i/h.dim%13-12))
		p.k[i] = row.From64[T](row.Float64(p.k[i]) * math.Ldexp(1, i/h.dim%3-1))
	}
	c := emptyCompact[T](t, s, p.cache.CacheShape, p.cache.Table)
	if err := c.Store(s, New[T]{K: kerneltest.Upload(t, s, p.k), V: kerneltest.Upload(t, s, p.v), Tokens: kerneltest.Upload(t, s, p.tokens)}); err != nil {
		t.Fatal(err)
	}
	table := kerneltest.Download(t, s, c.Table)
	stored := download(t, s, c)
	for i, at := range p.tokens {
		for head := range h.keys {
			for kind, list := range [][]T{p.k, p.v} {
				x := list[(i*h.keys+head)*h.dim:][:h.dim]
				got, scale := stored.line(place{kind, int(table[int(at.Sequence)*maxPages+int(at.Position)/PageTokens]), head, int(at.Position) % PageTokens})
				for d, v := range x {
					want := row.Float64(v)
					if !(math.Abs(got[d]-want) <= 0x1p-4*1.01*math.Abs(want)+0x1p-10*scale) {
						t.Fatalf("%T, %+v, token %v, head %d, kind %d, element %d is %v, stored as %v with a scale of %v", v, h, at, head, kind, d, want, got[d], scale)
					}
					p.stored[kind] = append(p.stored[kind], got[d])
				}
			}
		}
	}
	return compactProblem[T]{p, c}
}

// emptyCompact returns a Compact of elements that are not numbers.
func emptyCompact[T Element](t *testing.T, s *device.Stream, shape CacheShape, table device.Slice[int32]) Compact[T] {
	t.Helper()
	n := shape.Elements()
	bytes := slices.Repeat([]dtype.F8E4M3{0x7f}, n)
	wide := Cache[T]{CacheShape: shape, Keys: kerneltest.Upload(t, s, make([]T, n)), Values: kerneltest.Upload(t, s, make([]T, n)), Table: table}
	return Compact[T]{
		CacheShape: shape, Keys: kerneltest.Upload(t, s, bytes), Values: kerneltest.Upload(t, s, bytes),
		Scales: kerneltest.Upload(t, s, slices.Repeat([]dtype.F16{0x7e00}, shape.ScalesLen())), Table: table, Wide: wide,
	}
}

// downloaded is a Compact in the memory of the host.
type downloaded struct {
	CacheShape
	elements   [2][]dtype.F8E4M3
	scales     []dtype.F16
	transposed bool
}

func download[T Element](t *testing.T, s *device.Stream, c Compact[T]) downloaded {
	t.Helper()
	return downloaded{c.CacheShape, [2][]dtype.F8E4M3{kerneltest.Download(t, s, c.Keys), kerneltest.Download(t, s, c.Values)}, kerneltest.Download(t, s, c.Scales), Transposed(s)}
}

// place is where a key (of kind 0) or value is.
type place struct{ kind, page, head, slot int }

// line returns the elements of a key or value, and its scale.
func (x downloaded) line(at place) (list []float64, scale float64) {
	first := at.page*x.KeyHeads + at.head
	scale = x.scales[(first*2+at.kind)*PageTokens+at.slot].Float64()
	for d := range x.Dim {
		i := first*PageTokens*x.Dim + at.slot*x.Dim + d
		if at.kind == 0 && x.transposed {
			i = first*PageTokens*x.Dim + d*PageTokens + at.slot
		}
		list = append(list, x.elements[at.kind][i].Float64()*scale)
	}
	return list, scale
}

// TestCompactRotated compares StoreRotated with StoreRotated of a Cache, followed by Store.
func TestCompactRotated(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			rotatedCompact[float32](t, s, heads{64, 3, 1}, 32)
			rotatedCompact[float32](t, s, heads{16, 2, 2}, 16)
			rotatedCompact[dtype.BF16](t, s, heads{64, 3, 1}, 16)
			rotatedCompact[dtype.BF16](t, s, heads{128, 2, 2}, 128)
		})
	}
}

func rotatedCompact[T Element](t *testing.T, s *device.Stream, h heads, rotary int) {
	t.Helper()
	if !Compacts[T](s, h.dim) {
		return
	}
	p := newProblem[T](t, s, lanes, h)
	tokens := []Token{{0, 0}, {1, 63}, {0, 64}, {0, maxPages * PageTokens}, {-1, 0}}
	width := (h.queries + 2*h.keys) * h.dim
	all := kerneltest.Upload(t, s, p.numbers(len(tokens)*width))
	x := Turn[T]{Heads: h.queries, Q: all, K: all.Slice(h.queries*h.dim, all.Len()), V: all.Slice((h.queries+h.keys)*h.dim, all.Len()), Stride: width, Rotary: rotary, Tokens: kerneltest.Upload(t, s, tokens)}
	x.Angles, x.Rotated = kerneltest.Upload(t, s, p.angles(len(tokens), rotary/2)), kerneltest.Upload(t, s, make([]T, len(tokens)*h.queries*h.dim))
	c := emptyCompact[T](t, s, p.cache.CacheShape, p.cache.Table)
	if err := errors.Join(p.cache.StoreRotated(s, x)); err != nil {
		t.Fatal(err)
	}
	want := kerneltest.Download(t, s, x.Rotated)
	if err := c.StoreRotated(s, x); err != nil {
		t.Fatal(err)
	}
	near(t, "rotated query", kerneltest.Download(t, s, x.Rotated), want)
	got, table := download(t, s, c), kerneltest.Download(t, s, c.Table)
	keys := [2][]T{kerneltest.Download(t, s, p.cache.Keys), kerneltest.Download(t, s, p.cache.Values)}
	for _, at := range tokens[:3] {
		for head := range h.keys {
			for kind := range 2 {
				where := place{kind, int(table[int(at.Sequence)*maxPages+int(at.Position)/PageTokens]), head, int(at.Position) % PageTokens}
				line, scale := got.line(where)
				for d, g := range line {
					i := ((where.page*h.keys+head)*PageTokens+where.slot)*h.dim + d
					if kind == 0 && Transposed(s) {
						i = (where.page*h.keys+head)*PageTokens*h.dim + d*PageTokens + where.slot
					}
					if w := row.Float64(keys[kind][i]); !(math.Abs(g-w) <= 0x1p-4*1.02*math.Abs(w)+0x1p-9*scale) {
						t.Fatalf("%+v, token %v, head %d, kind %d, element %d is %v, stored as %v", h, at, head, kind, d, w, g)
					}
				}
			}
		}
	}
}

// TestCompactPrefill compares the results of Prefill with those of Attend.
func TestCompactPrefill(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			prefillCompact[float32](t, s)
			prefillCompact[dtype.BF16](t, s)
		})
	}
}

func prefillCompact[T Element](t *testing.T, s *device.Stream) {
	t.Helper()
	h := heads{64, 4, 2}
	if !Compacts[T](s, h.dim) {
		return
	}
	p := newCompact[T](t, s, h)
	var tokens []Token
	spans := []prefill.Span{{Row: 0, Count: 30, First: 100, Keys: 0}, {Row: 30, Count: 35, First: 30, Keys: 1}, {Row: 65, Count: 0, First: 0, Keys: 1}, {Row: 65, Count: 2, First: 0, Keys: 7}}
	for _, span := range spans {
		for i := range span.Count {
			tokens = append(tokens, Token{span.Keys, span.First + i})
		}
	}
	q := p.numbers(len(tokens) * h.queries * h.dim)
	o := kerneltest.Upload(t, s, make([]T, len(q)))
	x := Chunk[T]{Heads: h.queries, Q: kerneltest.Upload(t, s, q), O: o, Tokens: kerneltest.Upload(t, s, tokens), Spans: kerneltest.Upload(t, s, spans)}
	if err := p.c.Prefill(s, x); err != nil {
		t.Fatal(err)
	}
	got := kerneltest.Download(t, s, o)
	n := 65 * h.queries * h.dim // of sequences that exist
	if p.wider = 0; row.Elements[T]() == 8 {
		p.wider = 3 * 0x1p-8 // Wide has keys and values rounded to bfloat16
	}
	p.compare(t, matrix, tokens[:65], answer[T]{q[:n], got[:n]})
}

// TestCompactNaNs tests that a NaN or an infinity in a key or a value reaches the results that depend on it, and no others.
func TestCompactNaNs(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				compactNaN[float32](t, s, bad)
				compactNaN[dtype.BF16](t, s, bad)
			}
		})
	}
}

func compactNaN[T Element](t *testing.T, s *device.Stream, bad float64) {
	t.Helper()
	h := heads{64, 4, 2}
	if !Compacts[T](s, h.dim) {
		return
	}
	const n = 70
	c := emptyCompact[T](t, s, CacheShape{Pages: 2, KeyHeads: h.keys, Dim: h.dim, MaxPages: 2}, kerneltest.Upload(t, s, []int32{1, 0}))
	k, v := make([]T, n*h.keys*h.dim), make([]T, n*h.keys*h.dim)
	k[66*h.keys*h.dim+3] = row.From64[T](bad)     // key head 0 of token 66
	v[(65*h.keys+1)*h.dim+5] = row.From64[T](bad) // key head 1 of token 65
	tokens := make([]Token, n)
	for i := range tokens {
		tokens[i].Position = int32(i)
	}
	o := kerneltest.Upload(t, s, make([]T, 3*4*h.dim))
	q := kerneltest.Upload(t, s, slices.Repeat([]T{row.From64[T](1)}, 3*4*h.dim))
	asked := kerneltest.Upload(t, s, []Token{{0, 69}, {0, 64}, {0, 65}})
	err := errors.Join(c.Store(s, New[T]{K: kerneltest.Upload(t, s, k), V: kerneltest.Upload(t, s, v), Tokens: kerneltest.Upload(t, s, tokens)}), c.Attend(s, Queries[T]{Heads: 4, Q: q, O: o, Tokens: asked}))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, o) {
		query, head := i/h.dim/4, i/h.dim%4
		want := query == 0 && head < 2 || query != 1 && head >= 2
		if x := row.Float64(got); math.IsNaN(x) != want {
			t.Fatalf("with %v, query %d, head %d, element %d is %v", bad, query, head, i%h.dim, x)
		}
	}
}

// TestCompactShapes tests operands that do not fit, and devices without kernels.
func TestCompactShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	shape := CacheShape{Pages: 1, KeyHeads: 1, Dim: 16, MaxPages: 1}
	good := emptyCompact[float32](t, s, shape, kerneltest.Upload(t, s, []int32{0}))
	some, one := kerneltest.Upload(t, s, make([]float32, 16)), kerneltest.Upload(t, s, []Token{{}})
	bad, scales := good, good
	bad.Wide.Pages, scales.Scales = 2, good.Scales.Slice(0, 1)
	for i, err := range []error{
		bad.Store(s, New[float32]{some, some, one}), scales.Store(s, New[float32]{some, some, one}), good.Store(s, New[float32]{some, some.Slice(0, 8), one}),
		good.Attend(s, Queries[float32]{Heads: 1, Q: some, O: some.Slice(0, 8), Tokens: one}), good.AttendNew(s, Queries[float32]{Heads: 1, Q: some, O: some, Tokens: one}),
		Compact[dtype.BF16]{CacheShape: shape, Keys: good.Keys, Values: good.Values, Scales: good.Scales, Table: good.Table}.Attend(s, Queries[dtype.BF16]{Heads: 1}),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("case %d: %v, want ErrShape", i, err)
		}
	}
}

// TestAttendNew compares AttendNew with Store followed by Attend, and tests that the token has been stored: at the beginning and the end of
// pages, and where a warp has more pages than its ring.
func TestAttendNew(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, kerneltest.Executions()[name])
			for i, h := range []heads{{64, 2, 2}, {128, 8, 1}} {
				for k, n := range []int{1, 64, 65, 449} {
					if name == "cuda" || sweep.Every(2, i+k) {
						attendNew(t, s, h, n)
					}
				}
			}
		})
	}
}

func attendNew(t *testing.T, s *device.Stream, h heads, n int) {
	t.Helper()
	shape := CacheShape{Pages: 9, KeyHeads: h.keys, Dim: h.dim, MaxPages: 9}
	table := kerneltest.Upload(t, s, []int32{4, 8, 0, 2, 7, 1, 3, 6, 5})
	p := problem[dtype.BF16]{heads: h, s: s, random: rand.New(rand.NewPCG(uint64(n), 7))}
	width := h.keys * h.dim
	k, v := p.numbers(n*width), p.numbers(n*width)
	var tokens []Token
	for i := range n {
		tokens = append(tokens, Token{Position: int32(i)})
	}
	q, last := kerneltest.Upload(t, s, p.numbers(h.queries*h.dim)), kerneltest.Upload(t, s, tokens[n-1:])
	store := func(c Compact[dtype.BF16], n int) {
		if err := c.Store(s, New[dtype.BF16]{K: kerneltest.Upload(t, s, k[:n*width]), V: kerneltest.Upload(t, s, v[:n*width]), Tokens: kerneltest.Upload(t, s, tokens[:n])}); err != nil {
			t.Fatal(err)
		}
	}
	attended := func(attend func(*device.Stream, Queries[dtype.BF16]) error, scratch device.Slice[float32]) []dtype.BF16 {
		o := kerneltest.Upload(t, s, make([]dtype.BF16, h.queries*h.dim))
		if err := attend(s, Queries[dtype.BF16]{Heads: h.queries, Q: q, O: o, Tokens: last, Scratch: scratch}); err != nil {
			t.Fatal(err)
		}
		return kerneltest.Download(t, s, o)
	}
	scratch := kerneltest.Upload(t, s, make([]float32, shape.Workspace(1, h.queries)))
	for _, memory := range []device.Slice[float32]{{}, scratch} {
		all, some := emptyCompact[dtype.BF16](t, s, shape, table), emptyCompact[dtype.BF16](t, s, shape, table)
		store(all, n)
		store(some, n-1)
		wide := [2][]dtype.BF16{make([]dtype.BF16, shape.Elements()), make([]dtype.BF16, shape.Elements())}
		for head := range h.keys {
			copy(wide[0][head*PageTokens*h.dim:], k[(n-1)*width+head*h.dim:][:h.dim])
			copy(wide[1][head*PageTokens*h.dim:], v[(n-1)*width+head*h.dim:][:h.dim])
		}
		some.Wide.Keys, some.Wide.Values = kerneltest.Upload(t, s, wide[0]), kerneltest.Upload(t, s, wide[1])
		want := attended(all.Attend, memory)
		if got := attended(some.AttendNew, memory); !slices.Equal(got, want) {
			t.Fatalf("%+v, %d tokens: %v, want %v", h, n, got, want)
		}
		if got := attended(some.Attend, memory); !slices.Equal(got, want) {
			t.Fatalf("%+v, %d tokens: later %v, want %v", h, n, got, want)
		}
	}
}

// TestElement compares the conversion of kernels with that of package dtype.
func TestElement(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1 << 16 {
		x := float32(math.Ldexp(r.NormFloat64(), r.IntN(30)-20))
		if i < 1<<8 {
			x = dtype.F8E4M3(i).Float32() // and what is halfway to the next one
		} else if i < 1<<9 {
			x = (dtype.F8E4M3(i).Float32() + dtype.F8E4M3(i+1).Float32()) / 2
		}
		if got, want := element(x), dtype.F8E4M3From32(x); got != want && x == x {
			t.Fatalf("%v becomes %v, want %v", x, got, want)
		}
	}
}
