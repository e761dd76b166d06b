package attention_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

func TestCache(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct{ dim, heads, keyHeads int }{{64, 9, 3}, {16, 2, 2}, {128, 4, 1}, {80, 1, 1}} {
				cached[float32](t, open, c.dim, c.heads, c.keyHeads)
				cached[dtype.BF16](t, open, c.dim, c.heads, c.keyHeads)
				cached[dtype.F16](t, open, c.dim, c.heads, c.keyHeads)
			}
		})
	}
}

// cached stores two sequences whose pages are in random order, and compares queries at some positions with float64.
func cached[T row.Number](t *testing.T, open kerneltest.Opener, dim, heads, keyHeads int) {
	t.Helper()
	const maxPages, pages = 3, 6
	r := rand.New(rand.NewPCG(uint64(dim), 7))
	numbers := func(n int) []T {
		list := make([]T, n)
		for i := range list {
			list[i] = row.From64[T](r.NormFloat64())
		}
		return list
	}
	lengths := []int{130, 65}
	var tokens []attention.Token
	for s, n := range lengths {
		for i := range n {
			tokens = append(tokens, attention.Token{Sequence: int32(s), Position: int32(i)})
		}
	}
	r.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	k, v := numbers(len(tokens)*keyHeads*dim), numbers(len(tokens)*keyHeads*dim)
	table := make([]int32, 2*maxPages)
	for i, p := range r.Perm(pages) {
		table[i] = int32(p)
	}
	s := kerneltest.Stream(t, open)
	shape := attention.CacheShape{Pages: pages, KeyHeads: keyHeads, Dim: dim, MaxPages: maxPages}
	nan := slices.Repeat([]T{row.From64[T](math.NaN())}, shape.Elements())
	c := attention.Cache[T]{CacheShape: shape, Keys: kerneltest.Upload(t, s, nan), Values: kerneltest.Upload(t, s, nan), Table: kerneltest.Upload(t, s, table)}
	if err := c.Store(s, attention.New[T]{K: kerneltest.Upload(t, s, k), V: kerneltest.Upload(t, s, v), Tokens: kerneltest.Upload(t, s, tokens)}); err != nil {
		t.Fatal(err)
	}
	asked := []attention.Token{{0, 0}, {0, 63}, {1, 64}, {0, 64}, {1, 15}, {0, 129}, {2, 0}, {0, -1}, {-1, 5}, {0, maxPages * attention.PageTokens}}
	q := numbers(len(asked) * heads * dim)
	o := kerneltest.Upload(t, s, numbers(len(q)))
	if err := c.Attend(s, attention.Queries[T]{Heads: heads, Q: kerneltest.Upload(t, s, q), O: o, Tokens: kerneltest.Upload(t, s, asked)}); err != nil {
		t.Fatal(err)
	}
	got := kerneltest.Download(t, s, o)
	rounding, _ := row.Rounding[T]()
	for i, at := range asked {
		for h := range heads {
			from := (i*heads + h) * dim
			want := make([]float64, dim)
			if i < 6 {
				want = stored[T]{tokens, func(of []T, token, d int) float64 {
					return row.Float64(of[(token*keyHeads+h/(heads/keyHeads))*dim+d])
				}, k, v}.attended(q[from:from+dim], at)
			}
			for d, w := range want {
				if g := row.Float64(got[from+d]); !(math.Abs(g-w) <= rounding*math.Abs(w)+1e-5) {
					t.Fatalf("%T, dim %d, %d of %d heads, token %v, head %d, element %d: got %v, want %v", got[0], dim, keyHeads, heads, at, h, d, g, w)
				}
			}
		}
	}
}

// stored is the keys and values of tokens, of which element returns one of a head.
type stored[T row.Number] struct {
	tokens  []attention.Token
	element func(of []T, token, d int) float64
	k, v    []T
}

// attended returns the result of a query in float64.
func (x stored[T]) attended(q []T, at attention.Token) []float64 {
	o := make([]float64, len(q))
	var sum float64
	for i, token := range x.tokens {
		if token.Sequence != at.Sequence || token.Position > at.Position {
			continue
		}
		var score float64
		for d, v := range q {
			score += row.Float64(v) * x.element(x.k, i, d)
		}
		w := math.Exp(score / math.Sqrt(float64(len(q))))
		sum += w
		for d := range o {
			o[d] += w * x.element(x.v, i, d)
		}
	}
	for d := range o {
		o[d] /= sum
	}
	return o
}

func TestPagesOutsideTheCache(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			shape := attention.CacheShape{Pages: 1, KeyHeads: 1, Dim: 16, MaxPages: 2}
			zeros := make([]float32, shape.Elements())
			c := attention.Cache[float32]{CacheShape: shape, Keys: kerneltest.Upload(t, s, zeros), Values: kerneltest.Upload(t, s, zeros), Table: kerneltest.Upload(t, s, []int32{1, -1, 0, 7})}
			tokens := kerneltest.Upload(t, s, []attention.Token{{0, 0}, {0, 64}, {1, 64}, {1, 3}})
			x := kerneltest.Upload(t, s, make([]float32, 4*16))
			o := kerneltest.Upload(t, s, make([]float32, 4*16))
			if err := errors.Join(c.Store(s, attention.New[float32]{K: x, V: x, Tokens: tokens}), c.Attend(s, attention.Queries[float32]{Heads: 1, Q: x, O: o, Tokens: tokens})); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Download(t, s, o) {
				if nan := math.IsNaN(float64(got)); nan != (i/16 < 3) {
					t.Errorf("element %d of token %d is %v", i%16, i/16, got)
				}
			}
		})
	}
}

func TestCacheShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	shape := attention.CacheShape{Pages: 1, KeyHeads: 2, Dim: 16, MaxPages: 1}
	x := kerneltest.Upload(t, s, make([]float32, shape.Elements()))
	good := attention.Cache[float32]{CacheShape: shape, Keys: x, Values: x, Table: kerneltest.Upload(t, s, []int32{0})}
	one := kerneltest.Upload(t, s, []attention.Token{{}})
	some := x.Slice(0, 32)
	for name, change := range map[string]func(c *attention.Cache[float32], n *attention.New[float32], q *attention.Queries[float32]){
		"dim": func(c *attention.Cache[float32], _ *attention.New[float32], _ *attention.Queries[float32]) { c.Dim = 8 },
		"pages": func(c *attention.Cache[float32], _ *attention.New[float32], _ *attention.Queries[float32]) {
			c.Pages = 2
		},
		"no heads": func(c *attention.Cache[float32], _ *attention.New[float32], _ *attention.Queries[float32]) {
			c.KeyHeads = 0
		},
		"operands": func(_ *attention.Cache[float32], n *attention.New[float32], q *attention.Queries[float32]) {
			n.V, q.O = x, x
		},
		"heads": func(_ *attention.Cache[float32], n *attention.New[float32], q *attention.Queries[float32]) {
			n.K, q.Heads = x, 3
		},
	} {
		c, n, q := good, attention.New[float32]{K: some, V: some, Tokens: one}, attention.Queries[float32]{Heads: 2, Q: some, O: some, Tokens: one}
		change(&c, &n, &q)
		if err := c.Store(s, n); !errors.Is(err, attention.ErrShape) {
			t.Errorf("%s: Store: %v", name, err)
		}
		if err := c.Attend(s, q); !errors.Is(err, attention.ErrShape) {
			t.Errorf("%s: Attend: %v", name, err)
		}
	}
}
