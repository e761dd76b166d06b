package attention

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var formNames = map[form]string{lanes: "lanes", plain: "plain", matrix: "matrix"}

// heads are sizes and numbers of heads.
type heads struct{ dim, queries, keys int }

// TestCache compares all forms with float64. On CPUs, each execution of a form runs a quarter of all heads and types, or half of the heads in the form
// matrix, of which executions on the CPU run the same code.
func TestCache(t *testing.T) {
	executions := kerneltest.Executions()
	for e, name := range slices.Sorted(maps.Keys(executions)) {
		for f, formName := range formNames {
			t.Run(name+"/"+formName, func(t *testing.T) {
				if f == matrix && !kerneltest.Runs(name, row.Wide) {
					return
				}
				s := kerneltest.Stream(t, executions[name])
				for i, h := range []heads{{64, 9, 3}, {16, 2, 2}, {128, 4, 1}, {80, 1, 1}, {96, 7, 1}, {64, 10, 1}} {
					for k, test := range []func(*testing.T, *device.Stream, form, heads){testCache[float32], testCache[dtype.BF16]} {
						if name == "cuda" || f == matrix && sweep.Every(2, e+i) || f != matrix && sweep.Every(4, e+i+i/3+k) {
							test(t, s, f, h)
						}
					}
				}
			})
		}
	}
}

// testCache compares queries with float64: those of one block, and those that blocks share.
func testCache[T Element](t *testing.T, s *device.Stream, f form, h heads) {
	t.Helper()
	p := newProblem[T](t, s, f, h)
	if f == matrix && !p.cache.hasMatrix() {
		return
	}
	asked := []Token{{0, 0}, {0, 62}, {1, 63}, {0, 64}, {1, 15}, {0, 129}, {1, 64}, {0, 127}, {2, 0}, {0, -1}, {-1, 5}, {0, maxPages * PageTokens}}
	for _, scratch := range []bool{false, true} {
		p.compare(t, f, asked, p.attend(t, f, asked, scratch))
	}
}

const maxPages, pages = shortPages + 1, 2 * (shortPages + 1) // so that blocks share sequences

// problem is a cache of two sequences, whose pages are in random order.
type problem[T Element] struct {
	heads
	s      *device.Stream
	random *rand.Rand
	tokens []Token
	k, v   []T
	cache  Cache[T]
	stored [2][]float64 // the elements of k and v as a Compact has them, or nil
	wider  float64      // part of the terms that is allowed as an error besides that of weights: for stored elements that are rounded again
}

// element returns an element of a key (of kind 0) or a value.
func (p *problem[T]) element(kind, i int) float64 {
	if p.stored[kind] != nil {
		return p.stored[kind][i]
	}
	return row.Float64([...][]T{p.k, p.v}[kind][i])
}

// newProblem stores the sequences in a cache that has NaNs elsewhere.
func newProblem[T Element](t *testing.T, s *device.Stream, f form, h heads) *problem[T] {
	t.Helper()
	p := &problem[T]{heads: h, s: s, random: rand.New(rand.NewPCG(uint64(h.dim), uint64(h.queries)))}
	for sequence, n := range []int{130, 65} {
		for i := range n {
			p.tokens = append(p.tokens, Token{Sequence: int32(sequence), Position: int32(i)})
		}
	}
	p.random.Shuffle(len(p.tokens), func(i, j int) { p.tokens[i], p.tokens[j] = p.tokens[j], p.tokens[i] })
	p.k, p.v = p.numbers(len(p.tokens)*h.keys*h.dim), p.numbers(len(p.tokens)*h.keys*h.dim)
	table := make([]int32, 2*maxPages)
	for i, page := range p.random.Perm(pages) {
		table[i] = int32(page)
	}
	shape := CacheShape{Pages: pages, KeyHeads: h.keys, Dim: h.dim, MaxPages: maxPages}
	nan := slices.Repeat([]T{row.From64[T](math.NaN())}, shape.Elements())
	p.cache = Cache[T]{CacheShape: shape, Keys: kerneltest.Upload(t, s, nan), Values: kerneltest.Upload(t, s, nan), Table: kerneltest.Upload(t, s, table)}
	if f == matrix && !p.cache.hasMatrix() {
		return p
	}
	x := New[T]{K: kerneltest.Upload(t, s, p.k), V: kerneltest.Upload(t, s, p.v), Tokens: kerneltest.Upload(t, s, p.tokens)}
	if err := p.cache.store(s, f, x); err != nil {
		t.Fatal(err)
	}
	return p
}

// numbers returns normally distributed numbers.
func (p *problem[T]) numbers(n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = row.From64[T](p.random.NormFloat64())
	}
	return list
}

// answer is queries and their results.
type answer[T Element] struct{ q, o []T }

// attend returns the results of queries, in memory that was NaN before.
func (p *problem[T]) attend(t *testing.T, f form, asked []Token, scratch bool) answer[T] {
	t.Helper()
	q := p.numbers(len(asked) * p.queries * p.dim)
	if n := p.cache.parts(len(asked)*p.keys*tilesOf(p.queries/p.keys), 0); n < 2 {
		t.Fatalf("%d blocks share a sequence", n)
	}
	x := Queries[T]{Heads: p.queries, Q: kerneltest.Upload(t, p.s, q), Tokens: kerneltest.Upload(t, p.s, asked)}
	x.O = kerneltest.Upload(t, p.s, slices.Repeat([]T{row.From64[T](math.NaN())}, len(q)))
	if scratch {
		n := p.cache.Workspace(len(asked), p.queries)
		x.Scratch = kerneltest.Upload(t, p.s, slices.Repeat([]float32{float32(math.NaN())}, n))
	}
	if err := p.cache.attend(p.s, f, x); err != nil {
		t.Fatal(err)
	}
	return answer[T]{q, kerneltest.Download(t, p.s, x.O)}
}

// compare compares results with float64. Queries outside the table have zeros.
func (p *problem[T]) compare(t *testing.T, f form, asked []Token, got answer[T]) {
	t.Helper()
	rounding, _ := row.Rounding[T]()
	for i, at := range asked {
		for h := range p.queries {
			from := (i*p.queries + h) * p.dim
			want, size := p.result(got.q[from:from+p.dim], at, h)
			for d, w := range want {
				allowed := rounding*math.Abs(w) + 1e-5
				if f == matrix {
					allowed += (rounding + p.wider) * size[d] // weights are rounded
				}
				if g := row.Float64(got.o[from+d]); !(math.Abs(g-w) <= allowed) {
					t.Fatalf("%T, %+v, token %v, head %d, element %d: got %v, want %v within %v", got.o[0], p.heads, at, h, d, g, w, allowed)
				}
			}
		}
	}
}

// result returns the result of a head of a query in float64, and the sums of the magnitudes of its terms.
func (p *problem[T]) result(q []T, at Token, head int) (o, size []float64) {
	o, size = make([]float64, len(q)), make([]float64, len(q))
	if at.Sequence < 0 || at.Sequence > 1 || at.Position < 0 || at.Position >= maxPages*PageTokens {
		return o, size
	}
	var sum float64
	for i, token := range p.tokens {
		if token.Sequence != at.Sequence || token.Position > at.Position {
			continue
		}
		first := (i*p.keys + head/(p.queries/p.keys)) * p.dim
		var score float64
		for d, v := range q {
			score += row.Float64(v) * p.element(0, first+d)
		}
		w := math.Exp(score / math.Sqrt(float64(len(q))))
		sum += w
		for d := range o {
			v := p.element(1, first+d)
			o[d] += w * v
			size[d] += w * math.Abs(v)
		}
	}
	for d := range o {
		o[d] /= sum
		size[d] /= sum
	}
	return o, size
}

// TestPagesOutsideTheCache stores and reads pages whose numbers are wrong.
func TestPagesOutsideTheCache(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for f, formName := range formNames {
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				shape := CacheShape{Pages: 1, KeyHeads: 1, Dim: 64, MaxPages: maxPages}
				zeros := make([]dtype.BF16, shape.Elements())
				c := Cache[dtype.BF16]{CacheShape: shape, Keys: kerneltest.Upload(t, s, zeros), Values: kerneltest.Upload(t, s, zeros), Table: kerneltest.Upload(t, s, []int32{1, -1, 0, 0, 0, 0, 7, 0, 0, 0})}
				tokens := kerneltest.Upload(t, s, []Token{{0, 0}, {0, 64}, {1, 64}, {1, 3}})
				x := kerneltest.Upload(t, s, make([]dtype.BF16, 4*64))
				o := kerneltest.Upload(t, s, make([]dtype.BF16, 4*64))
				scratch := kerneltest.Upload(t, s, make([]float32, shape.Workspace(4, 1)))
				for _, memory := range []device.Slice[float32]{{}, scratch} {
					q := Queries[dtype.BF16]{Heads: 1, Q: x, O: o, Tokens: tokens, Scratch: memory}
					if err := errors.Join(c.store(s, f, New[dtype.BF16]{K: x, V: x, Tokens: tokens}), c.attend(s, f, q)); err != nil {
						t.Fatal(err)
					}
					for i, got := range kerneltest.Download(t, s, o) {
						if nan := math.IsNaN(got.Float64()); nan != (i/64 < 3) {
							t.Errorf("element %d of token %d is %v", i%64, i/64, got)
						}
					}
				}
			})
		}
	}
}

// TestNaNs tests that a NaN or an infinity in a query, a key or a value reaches the results that depend on it, and no others.
func TestNaNs(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for f, formName := range formNames {
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				h := heads{64, 4, 2}
				shape := CacheShape{Pages: 2, KeyHeads: h.keys, Dim: h.dim, MaxPages: 2}
				for _, bad := range []float64{math.NaN(), math.Inf(1)} {
					k, v := make([]dtype.BF16, 70*h.keys*h.dim), make([]dtype.BF16, 70*h.keys*h.dim)
					k[66*h.keys*h.dim+3] = dtype.BF16From64(bad)        // key head 0 of token 66
					v[(65*h.keys+1)*h.dim+5] = dtype.BF16From64(bad)    // key head 1 of token 65
					q := slices.Repeat([]dtype.BF16{0x3f80}, 3*4*h.dim) // ones
					q[(1*4+3)*h.dim+9] = dtype.BF16From64(math.NaN())   // head 3 of query 1
					tokens := make([]Token, 70)
					for i := range tokens {
						tokens[i].Position = int32(i)
					}
					zeros := make([]dtype.BF16, shape.Elements())
					c := Cache[dtype.BF16]{CacheShape: shape, Keys: kerneltest.Upload(t, s, zeros), Values: kerneltest.Upload(t, s, zeros), Table: kerneltest.Upload(t, s, []int32{1, 0})}
					x := New[dtype.BF16]{K: kerneltest.Upload(t, s, k), V: kerneltest.Upload(t, s, v), Tokens: kerneltest.Upload(t, s, tokens)}
					o := kerneltest.Upload(t, s, make([]dtype.BF16, len(q)))
					asked := kerneltest.Upload(t, s, []Token{{0, 69}, {0, 64}, {0, 65}})
					queries := Queries[dtype.BF16]{Heads: 4, Q: kerneltest.Upload(t, s, q), O: o, Tokens: asked}
					if err := errors.Join(c.store(s, f, x), c.attend(s, f, queries)); err != nil {
						t.Fatal(err)
					}
					for i, got := range kerneltest.Download(t, s, o) {
						query, head, d := i/h.dim/4, i/h.dim%4, i%h.dim
						want := query == 0 && head < 2 || query == 1 && head == 3 || query != 1 && head >= 2 && d == 5
						if x := got.Float64(); (math.IsNaN(x) || math.IsInf(x, 0)) != want {
							t.Errorf("with %v, query %d, head %d, element %d is %v", bad, query, head, d, x)
						}
					}
				}
			})
		}
	}
}

// TestReplay replays a graph of Store and Attend, whose tokens, lengths and pages change between the launches. One row is surplus.
func TestReplay(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			p := newProblem[dtype.BF16](t, s, Cache[dtype.BF16]{CacheShape: CacheShape{Dim: 64}}.formFor(s), heads{64, 4, 2})
			table := kerneltest.Download(t, s, p.cache.Table)
			hidden := table[2] // the page that sequence 0 needs for token 128
			table[2] = -1
			const rows, width, wide = 3, 2 * 64, 4 * 64
			k, v := kerneltest.Upload(t, s, p.numbers(rows*width)), kerneltest.Upload(t, s, p.numbers(rows*width))
			q, o := kerneltest.Upload(t, s, p.numbers(rows*wide)), kerneltest.Upload(t, s, p.numbers(rows*wide))
			tokens, scratch := kerneltest.Upload(t, s, make([]Token, rows)), kerneltest.Upload(t, s, make([]float32, p.cache.Workspace(rows, p.queries)))
			graph, err := s.Device().Capture(func(s *device.Stream) error {
				return errors.Join(p.cache.Store(s, New[dtype.BF16]{k, v, tokens}),
					p.cache.Attend(s, Queries[dtype.BF16]{Heads: p.queries, Q: q, O: o, Tokens: tokens, Scratch: scratch, Settled: true}))
			})
			if err != nil {
				t.Fatal(err)
			}
			defer graph.Close()
			for step, at := range [][2]int32{{126, 62}, {127, 63}, {128, 64}, {129, 65}, {5, 66}} {
				if step == 2 {
					table[2] = hidden
				}
				asked := []Token{{0, at[0]}, {-1, 0}, {1, at[1]}}
				x := [3][]dtype.BF16{p.numbers(rows * width), p.numbers(rows * width), p.numbers(rows * wide)}
				p.replace(asked, x[0], x[1])
				err := errors.Join(device.UploadTo(s, p.cache.Table, table), device.UploadTo(s, tokens, asked), device.UploadTo(s, k, x[0]),
					device.UploadTo(s, v, x[1]), device.UploadTo(s, q, x[2]), graph.Launch(s))
				if err != nil {
					t.Fatal(err)
				}
				p.compare(t, matrix, asked, answer[dtype.BF16]{x[2], kerneltest.Download(t, s, o)})
			}
		})
	}
}

// replace notes that tokens have other keys and values.
func (p *problem[T]) replace(tokens []Token, k, v []T) {
	width := p.keys * p.dim
	for i, token := range tokens {
		at := slices.Index(p.tokens, token)
		if at < 0 {
			at = len(p.tokens)
			p.tokens, p.k, p.v = append(p.tokens, token), append(p.k, k[:width]...), append(p.v, v[:width]...)
		}
		copy(p.k[at*width:], k[i*width:(i+1)*width])
		copy(p.v[at*width:], v[i*width:(i+1)*width])
	}
}

// TestStoreRotated compares StoreRotated with rotations in float64, followed by Store. Each shape has one type, unless it is on a GPU.
func TestStoreRotated(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, f := range []form{lanes, plain} {
			t.Run(name+"/"+formNames[f], func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, c := range []struct {
					heads
					stride, rotary int
				}{{heads{64, 9, 3}, 0, 0}, {heads{128, 4, 1}, 6 * 128, 128}, {heads{80, 2, 2}, 6 * 80, 32}, {heads{16, 1, 1}, 48, 16}} {
					if name == "cuda" || sweep.Every(2, i+int(f)) {
						testStoreRotated[float32](t, s, f, c.heads, [2]int{c.stride, c.rotary})
					}
					if name == "cuda" || sweep.Every(2, i+int(f)+1) {
						testStoreRotated[dtype.BF16](t, s, f, c.heads, [2]int{c.stride, c.rotary})
					}
				}
			})
		}
	}
}

func testStoreRotated[T Element](t *testing.T, s *device.Stream, f form, h heads, layout [2]int) {
	t.Helper()
	tokens := []Token{{0, 0}, {1, 63}, {0, 64}, {0, maxPages * PageTokens}, {1, 1}, {-1, 0}, {0, 130}, {2, 0}}
	want, got := newProblem[T](t, s, f, h), newProblem[T](t, s, f, h)
	stride, rotary := layout[0], layout[1]
	x := Turn[T]{Heads: h.queries, Stride: stride, Rotary: rotary, Tokens: kerneltest.Upload(t, s, tokens)}
	if rotary == 0 {
		rotary = h.dim
	}
	angles := want.angles(len(tokens), rotary/2)
	q, k, v := want.numbers(len(tokens)*h.queries*h.dim), want.numbers(len(tokens)*h.keys*h.dim), want.numbers(len(tokens)*h.keys*h.dim)
	x.Q, x.K, x.V = kerneltest.Upload(t, s, q), kerneltest.Upload(t, s, k), kerneltest.Upload(t, s, v)
	if stride != 0 {
		var all []T
		for i := range tokens {
			for _, part := range [][]T{q, k, v} {
				n := len(part) / len(tokens)
				all = append(all, part[i*n:(i+1)*n]...)
			}
		}
		stacked := kerneltest.Upload(t, s, all)
		x.Q, x.K, x.V = stacked, stacked.Slice(h.queries*h.dim, len(all)), stacked.Slice((h.queries+h.keys)*h.dim, len(all))
	}
	x.Rotated, x.Angles = kerneltest.Upload(t, s, make([]T, len(q))), kerneltest.Upload(t, s, angles)
	turned := func(x []T, heads int) []T {
		y := slices.Clone(x)
		for i := range len(x) / h.dim {
			turn := angles[i/heads*rotary:][:rotary]
			for j := range rotary / 2 {
				a, b, cos, sin := row.Float64(x[i*h.dim+j]), row.Float64(x[i*h.dim+j+rotary/2]), float64(turn[j]), float64(turn[j+rotary/2])
				y[i*h.dim+j], y[i*h.dim+j+rotary/2] = row.From64[T](a*cos-b*sin), row.From64[T](b*cos+a*sin)
			}
		}
		return y
	}
	one := New[T]{K: kerneltest.Upload(t, s, turned(k, h.keys)), V: kerneltest.Upload(t, s, v), Tokens: x.Tokens}
	if err := errors.Join(got.cache.storeRotated(s, f, x), want.cache.store(s, f, one), fits(got.cache.CacheShape, x)); err != nil {
		t.Fatal(err)
	}
	near(t, "rotated query", kerneltest.Download(t, s, x.Rotated), turned(q, h.queries))
	near(t, "key", kerneltest.Download(t, s, got.cache.Keys), kerneltest.Download(t, s, want.cache.Keys))
	near(t, "value", kerneltest.Download(t, s, got.cache.Values), kerneltest.Download(t, s, want.cache.Values))
}

// angles returns the cosines and sines of n angles for each of some tokens.
func (p *problem[T]) angles(tokens, n int) []float32 {
	list := make([]float32, tokens*2*n)
	for i := range tokens * n {
		sin, cos := math.Sincos(p.random.Float64() * 7)
		list[i/n*2*n+i%n], list[i/n*2*n+n+i%n] = float32(cos), float32(sin)
	}
	return list
}

// near compares elements that may differ by a rounding, also of NaNs.
func near[T Element](t *testing.T, what string, got, want []T) {
	t.Helper()
	relative, _ := row.Rounding[T]()
	for i, w := range row.Float64s(want) {
		if g := row.Float64(got[i]); !(math.Abs(g-w) <= 2*relative*math.Abs(w)+1e-6 || math.IsNaN(g) && math.IsNaN(w)) {
			t.Fatalf("%T: %s element %d is %v, want %v", got[0], what, i, g, w)
		}
	}
}

// TestWorkspace tests that Workspace suffices for fewer queries and any context.
func TestWorkspace(t *testing.T) {
	for _, h := range []heads{{64, 9, 3}, {128, 32, 8}, {128, 40, 1}, {96, 7, 7}} {
		s := CacheShape{Pages: 1, KeyHeads: h.keys, Dim: h.dim, MaxPages: 1 << 14}
		most := s.Workspace(300, h.queries)
		for tokens := 1; tokens <= 300; tokens++ {
			for _, context := range []int{0, 1, 1000, 8192, 1 << 20} {
				parts := s.parts(tokens*h.keys*tilesOf(h.queries/h.keys), context)
				if n := tokens * h.queries * parts * (h.dim + 2); parts > 1 && n > most || parts < 1 {
					t.Fatalf("%+v, %d queries, %d parts: %d elements, Workspace is %d", h, tokens, parts, n, most)
				}
			}
		}
	}
}

func TestCacheShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	shape := CacheShape{Pages: 1, KeyHeads: 2, Dim: 16, MaxPages: 1}
	x := kerneltest.Upload(t, s, make([]float32, shape.Elements()))
	good := Cache[float32]{CacheShape: shape, Keys: x, Values: x, Table: kerneltest.Upload(t, s, []int32{0})}
	one := kerneltest.Upload(t, s, []Token{{}})
	some := x.Slice(0, 32)
	for name, change := range map[string]func(c *Cache[float32], n *New[float32], q *Queries[float32]){
		"dim":      func(c *Cache[float32], _ *New[float32], _ *Queries[float32]) { c.Dim = 8 },
		"pages":    func(c *Cache[float32], _ *New[float32], _ *Queries[float32]) { c.Pages = 2 },
		"no heads": func(c *Cache[float32], _ *New[float32], _ *Queries[float32]) { c.KeyHeads = 0 },
		"operands": func(_ *Cache[float32], n *New[float32], q *Queries[float32]) { n.V, q.O = x, x },
		"heads":    func(_ *Cache[float32], n *New[float32], q *Queries[float32]) { n.K, q.Heads = x, 3 },
		"scratch":  func(_ *Cache[float32], n *New[float32], q *Queries[float32]) { n.K, q.Scratch = x, some },
	} {
		c, n, q := good, New[float32]{K: some, V: some, Tokens: one}, Queries[float32]{Heads: 2, Q: some, O: some, Tokens: one}
		change(&c, &n, &q)
		if err := c.Store(s, n); !errors.Is(err, ErrShape) {
			t.Errorf("%s: Store: %v", name, err)
		}
		if err := c.Attend(s, q); !errors.Is(err, ErrShape) {
			t.Errorf("%s: Attend: %v", name, err)
		}
		if err := c.StoreRotated(s, Turn[float32]{Heads: q.Heads, Q: q.Q, K: n.K, V: n.V, Rotated: q.O, Tokens: one}); !errors.Is(err, ErrShape) {
			t.Errorf("%s: StoreRotated: %v", name, err)
		}
	}
}
