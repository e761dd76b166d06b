package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// product returns the reference of MatMul for at least two dimensions.
func product(x, y grid, batch []int) grid {
	m, k, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1], y.shape[len(y.shape)-1]
	out := grid{shape: append(slices.Clone(batch), m, n)}
	each(out.shape, func(index []int) {
		i := slices.Clone(index)
		row, column := index[len(index)-2], index[len(index)-1]
		sum := 0.0
		for l := range k {
			i[len(i)-2], i[len(i)-1] = row, l
			v := x.at(i)
			i[len(i)-2], i[len(i)-1] = l, column
			sum += v * y.at(i)
		}
		out.values = append(out.values, sum)
	})
	return out
}

func TestMatMul(t *testing.T) {
	cases := []struct{ x, y, batch []int }{
		{[]int{1, 1}, []int{1, 1}, nil},
		{[]int{3, 5}, []int{5, 2}, nil},
		{[]int{17, 33}, []int{33, 40}, nil},
		{[]int{64, 32}, []int{32, 64}, nil},
		{[]int{0, 3}, []int{3, 2}, nil},
		{[]int{2, 0}, []int{0, 3}, nil},
		{[]int{1, 8}, []int{8, 16}, nil},
		{[]int{2, 3, 4}, []int{4, 5}, []int{2}},
		{[]int{2, 3, 4}, []int{2, 4, 5}, []int{2}},
		{[]int{3, 1, 2, 4}, []int{2, 4, 3}, []int{3, 2}},
		{[]int{3, 4}, []int{2, 4, 8}, []int{2}},
	}
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(6, 1))
		for i, of := range types[:4] {
			for k, c := range cases {
				for layout := range 4 { // all combinations of transposed operands
					if s.Stream().Device().Info().Kind == "interp" && !sweep.Every(4, i+k+layout) {
						continue // it is slow
					}
					x, y := random(r, of, c.x...), random(r, of, c.y...)
					want := product(x, y, c.batch)
					what := fmt.Sprint("MatMul of ", of, c.x, c.y, " layout ", layout)
					want.near(t, what, of, x.upload(s, of, layout&1).MatMul(y.upload(s, of, layout>>1)), float64(4*c.x[len(c.x)-1]))
					if (i+k)%3 == layout {
						want.near(t, what+" in parts", of, x.upload(s, of, 2).MatMul(y.upload(s, of, 2)), float64(4*c.x[len(c.x)-1]))
					}
				}
			}
		}
		x, y := random(r, dtype.BFloat16, 3, 4), random(r, dtype.Int32, 4)
		want := product(x, grid{[]int{4, 1}, y.values}, nil)
		want.shape = []int{3}
		want.near(t, "matrix by vector of another type", dtype.BFloat16, x.upload(s, dtype.BFloat16, 1).MatMul(y.upload(s, dtype.Int32, 0)), 1)
		return nil
	})
}

// TestMatMulNarrow covers results of few columns and many rows, which GPUs compute transposed.
func TestMatMulNarrow(t *testing.T) {
	const m, k, n = 512, 32, 8
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(6, 3))
		x, y := random(r, dtype.BFloat16, m, k), random(r, dtype.BFloat16, k, n)
		want := product(x, y, nil)
		for layout := range 4 { // all combinations of transposed operands
			got := x.upload(s, dtype.BFloat16, layout&1).MatMul(y.upload(s, dtype.BFloat16, layout>>1))
			if !got.IsContiguous() {
				t.Errorf("layout %d: the result is not contiguous", layout)
			}
			want.near(t, fmt.Sprint("narrow MatMul, layout ", layout), dtype.BFloat16, got, 4*k)
		}
		sum := grid{x.shape, slices.Clone(x.values)}
		for i, v := range x.values {
			sum.values[i] += v
		}
		sum.near(t, "Add of float32 and bfloat16", dtype.Float32, x.upload(s, dtype.Float32, 0).Add(x.upload(s, dtype.BFloat16, 0)), 0)
		x.near(t, "To", dtype.BFloat16, x.upload(s, dtype.BFloat16, 0).To(dtype.Float32).To(dtype.BFloat16), 0)
		return nil
	})
}

// TestAddMatMul covers sums in one kernel, for operands of the types that have one, and in two, for the others.
func TestAddMatMul(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(6, 2))
		for _, of := range types[:4] {
			for _, to := range types[:4] {
				for _, c := range []struct{ x, y []int }{{[]int{3, 5}, []int{5, 2}}, {[]int{64, 16}, []int{16, 40}}, {[]int{2, 4, 8}, []int{8, 16}}, {[]int{2, 0}, []int{0, 3}}} {
					slack := 10 * (tolerance(of) + tolerance(to)) // some devices round products to the type of the factors first
					x, y := random(r, of, c.x...), random(r, of, c.y...)
					want := product(grid{[]int{len(x.values) / max(1, c.y[0]), c.y[0]}, x.values}, y, nil)
					want.shape = append(slices.Clone(c.x[:len(c.x)-1]), c.y[1])
					if c.y[0] == 0 {
						want.values = make([]float64, 2*3)
					}
					sum := random(r, to, want.shape...)
					for i, v := range sum.values {
						want.values[i] += v
					}
					got := sum.upload(s, to, 0).AddMatMul(x.upload(s, of, 0), y.upload(s, of, 1))
					want.near(t, fmt.Sprint("AddMatMul of ", of, c.x, c.y, " to ", to), to, got, math.Pow(1e6*slack, 2))
				}
			}
		}
		return nil
	})
}

func TestSoftmax(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(7, 1))
		for i, of := range types[:6] {
			for _, c := range []struct {
				shape []int
				dim   int
			}{{[]int{1}, 0}, {[]int{300}, -1}, {[]int{3, 8}, 1}, {[]int{3, 8}, 0}, {[]int{2, 5, 3}, 1}, {[]int{0, 4}, 1}, {[]int{4, 0}, 1}} {
				x := random(r, of, c.shape...)
				sums := x.reduced([]int{c.dim}, func(list []float64) float64 {
					sum := 0.0
					for _, v := range list {
						sum += math.Exp(v)
					}
					return sum
				})
				at := (c.dim + len(c.shape)) % len(c.shape)
				sums.shape = slices.Insert(slices.Clone(sums.shape), at, 1)
				want, logs := grid{shape: c.shape}, grid{shape: c.shape}
				each(c.shape, func(index []int) {
					want.values = append(want.values, math.Exp(x.at(index))/sums.at(index))
					logs.values = append(logs.values, x.at(index)-math.Log(sums.at(index)))
				})
				result := of
				if !isFloat(of) {
					result = dtype.Float32
				}
				u := x.upload(s, of, i%3)
				want.near(t, fmt.Sprint("Softmax of ", of, c.shape), result, u.Softmax(c.dim), 1)
				logs.near(t, fmt.Sprint("LogSoftmax of ", of, c.shape), result, u.LogSoftmax(c.dim), 1)
			}
		}
		inf := float64(math.Inf(-1))
		same(t, tensor.From(s, []float64{inf, 0, 0, inf, inf, inf}, 2, 3).Softmax(1).Slice(0, 0, 1), []int{1, 3}, 0, 0.5, 0.5)
		same(t, tensor.From(s, []float32{1000, 1000}, 2).LogSumExp(), []int{}, float32(1000+math.Ln2))
		same(t, tensor.From(s, []float64{inf, inf}, 2).LogSumExp(), []int{}, inf)
		return nil
	})
}

func TestIndexing(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(8, 1))
		for i, of := range types {
			x := random(r, of, 2, 3, 4)
			u := x.upload(s, of, i%3)
			numbers := []int32{2, 0, 5, 1, 1, -1}
			at := tensor.From(s, numbers, 3, 2)
			if i%2 == 0 {
				at = at.To(dtype.Int64)
			}
			take := grid{shape: []int{2, 3, 2, 4}}
			each(take.shape, func(k []int) {
				v := 0.0
				if n := int(numbers[k[1]*2+k[2]]); n >= 0 && n < 3 {
					v = x.at([]int{k[0], n, k[3]})
				}
				take.values = append(take.values, v)
			})
			take.equals(t, fmt.Sprint("Take of ", of), of, u.Take(1, at))
			index := random(r, dtype.Int32, 2, 2, 4)
			gather := grid{shape: index.shape}
			scattered := grid{x.shape, slices.Clone(x.values)}
			added := random(r, of, index.shape...)
			each(index.shape, func(k []int) {
				n, v := int(index.at(k)), 0.0
				if n >= 0 && n < 3 {
					v = x.at([]int{k[0], n, k[2]})
					scattered.values[(k[0]*3+n)*4+k[2]] += added.at(k)
				}
				gather.values = append(gather.values, v)
			})
			idx := index.upload(s, dtype.Int32, (i+1)%3)
			gather.equals(t, fmt.Sprint("Gather of ", of), of, u.Gather(1, idx))
			scattered.near(t, fmt.Sprint("ScatterAdd of ", of), of, u.ScatterAdd(1, idx, added.upload(s, of, i%2)), 1)
		}
		return nil
	})
}

func TestScatterAddIsDeterministic(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(9, 1))
		y := random(r, dtype.Float32, 500)
		at := make([]int64, 500)
		sum := [3]float32{}
		for i := range at {
			at[i] = int64(r.IntN(3))
			sum[at[i]] += float32(y.values[i])
		}
		x := tensor.Zeros(s, dtype.Float32, 3).ScatterAdd(0, tensor.From(s, at, 500), y.upload(s, dtype.Float32, 0))
		same(t, x, []int{3}, sum[:]...) // in the order of y
		return nil
	})
}

func TestJoining(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(10, 1))
		for i, of := range types {
			x, y := random(r, of, 2, 3), random(r, of, 2, 1)
			want, stack := grid{shape: []int{2, 7}}, grid{shape: []int{2, 2, 3}}
			each(want.shape, func(k []int) {
				switch {
				case k[1] < 3:
					want.values = append(want.values, x.at(k))
				case k[1] == 3:
					want.values = append(want.values, y.at([]int{k[0], 0}))
				default:
					want.values = append(want.values, x.at([]int{k[0], k[1] - 4}))
				}
			})
			each(stack.shape, func(k []int) { stack.values = append(stack.values, x.at([]int{k[0], k[2]})) })
			u, v := x.upload(s, of, i%3), y.upload(s, of, 0)
			want.equals(t, fmt.Sprint("Concat of ", of), of, tensor.Concat(1, u, v, u))
			stack.equals(t, fmt.Sprint("Stack of ", of), of, tensor.Stack(1, u, u))
		}
		return nil
	})
}

func TestOrders(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(11, 1))
		for i, of := range types {
			for k, shape := range [][]int{{1}, {0}, {100}, {3, 20}, {2, 3, 5}} {
				if s.Stream().Device().Info().Kind == "interp" && !sweep.Every(6, i+k) {
					continue
				}
				x := random(r, of, shape...)
				n := shape[len(shape)-1]
				values, numbers, top := grid{shape: shape}, grid{shape: shape}, grid{shape: slices.Clone(shape)}
				top.shape[len(shape)-1] = min(n, 2)
				for row := range len(x.values) / max(n, 1) {
					order := make([]int, n)
					for k := range order {
						order[k] = k
					}
					line := x.values[row*n : row*n+n]
					sort.SliceStable(order, func(a, b int) bool { return line[order[a]] < line[order[b]] })
					for _, k := range order {
						values.values, numbers.values = append(values.values, line[k]), append(numbers.values, float64(k))
					}
					for k := range min(n, 2) {
						top.values = append(top.values, line[order[n-1-k]])
					}
				}
				u := x.upload(s, of, i%3)
				v, at := u.Sort(-1)
				what := fmt.Sprint(" of ", of, shape)
				values.equals(t, "Sort"+what, of, v)
				numbers.equals(t, "indices of Sort"+what, dtype.Int64, at)
				v, at = u.Top(min(n, 2))
				top.equals(t, "Top"+what, of, v)
				top.equals(t, "elements at the indices of Top"+what, of, u.Gather(-1, at))
			}
		}
		v, at := tensor.From(s, []float32{3, 1, 2, 0, 5, 4}, 3, 2).Sort(0)
		same(t, v, []int{3, 2}, float32(2), 0, 3, 1, 5, 4)
		same(t, at, []int{3, 2}, int64(1), 1, 0, 0, 2, 2)
		return nil
	})
}

func TestCumSum(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(12, 1))
		for i, of := range types {
			x := random(r, of, 2, 3, 5)
			want := grid{shape: x.shape, values: slices.Clone(x.values)}
			each(x.shape, func(k []int) {
				if k[1] > 0 {
					at := (k[0]*3+k[1])*5 + k[2]
					want.values[at] += want.values[at-5]
				}
			})
			want.near(t, fmt.Sprint("CumSum of ", of), resultOf("Sum", of), x.upload(s, of, i%3).CumSum(1), 1)
		}
		const most = 1 << 24 // float32 has no odd number above
		ones := tensor.From(s, []float32{most, 1, 1}, 3)
		same(t, ones.CumSum(0), []int{3}, float32(most), most, most)
		same(t, ones.To(dtype.Float64).CumSum(0), []int{3}, float64(most), most+1, most+2)
		return nil
	})
}

func TestConversions(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		x := tensor.From(s, []float64{1.9, -1.9, 300, -7, 1e30, -1e30, math.NaN(), 0}, 8)
		same(t, x.To(dtype.Int32), []int{8}, int32(1), -1, 300, -7, math.MaxInt32, math.MinInt32, 0, 0)
		same(t, x.To(dtype.Int64), []int{8}, int64(1), -1, 300, -7, math.MaxInt64, math.MinInt64, 0, 0)
		same(t, x.To(dtype.Uint8), []int{8}, uint8(1), 0, 255, 0, 255, 0, 0, 0)
		same(t, x.To(dtype.Bool), []int{8}, true, true, true, true, true, true, true, false)
		same(t, tensor.From(s, []int64{-1, 257, 1 << 40}, 3).To(dtype.Uint8), []int{3}, uint8(255), 1, 0)
		same(t, tensor.From(s, []int64{1<<31 + 5}, 1).To(dtype.Int32), []int{1}, int32(-1<<31+5))
		r := rand.New(rand.NewPCG(13, 1))
		hard := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8 - 0x1p-40, 1 + 0x1p-8, 1 + 3*0x1p-8, 1 + 0x1p-11 + 0x1p-40, 65519.99999, 65520, 0x1p-25, 0x1p-25 + 0x1p-60, 3.4e38, 3.5e38, 0x1p-134}
		for range 300 {
			hard = append(hard, math.Ldexp(r.NormFloat64(), r.IntN(60)-30))
		}
		bf, f, single := make([]dtype.BF16, len(hard)), make([]dtype.F16, len(hard)), make([]float32, len(hard))
		for i, v := range hard {
			bf[i], f[i], single[i] = dtype.BF16From64(v), dtype.F16From64(v), float32(v)
		}
		d := tensor.From(s, hard, len(hard))
		same(t, d.To(dtype.BFloat16), []int{len(hard)}, bf...)
		same(t, d.To(dtype.Float16), []int{len(hard)}, f...)
		same(t, d.To(dtype.Float32), []int{len(hard)}, single...)
		return nil
	})
}

func TestCrossEntropy(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 0, 0, 0, 9, 9, 9}, 3, 3)
		labels := tensor.From(s, []int32{2, 0, -1}, 3)
		loss, err := tensor.Values[float32](t.Context(), x.CrossEntropy(labels))
		want := (math.Log(math.Exp(-2)+math.Exp(-1)+1) + math.Log(3)) / 2
		if err != nil || math.Abs(float64(loss[0])-want) > 1e-6 {
			t.Errorf("CrossEntropy: %v, %v, want %v", loss, err, want)
		}
		for _, of := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.BFloat16, dtype.Float16} {
			for _, index := range []dtype.Type{dtype.Int32, dtype.Int64} {
				rows := x.To(of).Reshape(1, 3, 3).CrossEntropyRows(labels.To(index).Reshape(1, 3))
				near(t, fmt.Sprint("CrossEntropyRows of ", of), numbersOf(t, rows), []float64{2*want - math.Log(3), math.Log(3), 0}, 1e-6)
			}
		}
		return nil
	})
}

// TestTakeRows takes rows of a multiple of 16 bytes, which GPUs copy whole, by indices of both types that are not contiguous.
func TestTakeRows(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(6, 2))
		list := []int64{2, 99, -1, 99, 0, 99, 9, 99, 8, 99}
		for _, of := range types {
			for _, index := range []dtype.Type{dtype.Int32, dtype.Int64} {
				x := random(r, of, 10, 16)
				want := grid{shape: []int{5, 16}}
				for i := 0; i < len(list); i += 2 {
					for c := range 16 {
						v := 0.0
						if k := int(list[i]); k >= 0 && k < 9 {
							v = x.at([]int{k + 1, c})
						}
						want.values = append(want.values, v)
					}
				}
				at := tensor.From(s, list, 5, 2).To(index).Slice(1, 0, 1).Reshape(5)
				got := tensor.From(s, x.values, 10, 16).To(of).Slice(0, 1, 10).Take(0, at)
				want.equals(t, fmt.Sprint("Take of ", of, " by ", index), of, got)
			}
		}
		return nil
	})
}
