package lora_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// stacked are two layers with the same input.
var stacked = []lora.Linear{{Name: "q_proj", In: 24, Out: 20}, {Name: "v_proj", In: 24, Out: 5}}

// matricesOf returns random matrices of layers.
func matricesOf(r *rand.Rand, rank int, layers ...lora.Linear) (list []lora.Matrices) {
	numbers := func(n int) []float32 {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(r.IntN(17)-8) / 8 // exact in bfloat16
		}
		return values
	}
	for _, l := range layers {
		list = append(list, lora.Matrices{Linear: l, A: numbers(rank * l.In), B: numbers(l.Out * rank)})
	}
	return list
}

// adapter is an adapter in the host's memory.
type adapter struct {
	lora.Options
	list []lora.Matrices
}

// adds returns what the adapter adds to a result of layer l for a row.
func (a adapter) adds(l lora.Linear, at int, row []float32) (sum float64) {
	for _, m := range a.list {
		for k := 0; k < a.Rank && m.Name == l.Name; k++ {
			product := 0.0
			for i, v := range row {
				product += float64(v) * float64(m.A[k*l.In+i])
			}
			sum += a.Scale() * float64(m.B[at*a.Rank+k]) * product
		}
	}
	return sum
}

// TestSet compares what a Bank adds with a reference in float64: with adapters of different ranks, one of which lacks a layer, and one of
// which has been replaced.
func TestSet(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			if name == "native" || name == "scalar" || name == "AVX2" {
				continue // they are slow
			}
			t.Run(name+"/"+of.String(), func(t *testing.T) { testSet(t, kerneltest.Stream(t, open), of) })
		}
	}
}

func testSet(t *testing.T, s *device.Stream, of dtype.Type) {
	r := rand.New(rand.NewPCG(1, 2))
	set, err := lora.NewSet(s, lora.SetOptions{Adapters: 3, Rank: 11, DType: of})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	bank := set.Bank(stacked...)
	adapters := []adapter{
		{lora.Options{Rank: 11, Alpha: 22}, matricesOf(r, 11, stacked...)}, {lora.Options{Rank: 3, Alpha: 6}, matricesOf(r, 3, stacked...)},
		{lora.Options{Rank: 8, Alpha: 4}, matricesOf(r, 8, stacked[1])},
	}
	for i, a := range adapters {
		old := lora.Options{Rank: 9, Alpha: 9}
		if err := errors.Join(set.Put(i, old, matricesOf(r, 9, stacked...)), set.Put(i, a.Options, a.list)); err != nil {
			t.Fatal(err)
		}
	}
	which := []int32{2, -1, 0, 1, 0, 1, 2, -1, 0, 0, 0, 0, 0, 0, 0, 0}
	rows := make([]float32, len(which)*24)
	for i := range rows {
		rows[i] = float32(r.IntN(9)-4) / 4
	}
	err = tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
		plan := set.Plan(which)
		on, err := tensor.SliceOf[int32](tensor.From(scope, plan, len(plan)))
		if err != nil {
			return err
		}
		x := tensor.From(scope, rows, len(which), 24).To(of)
		for together, results := range map[bool][]*tensor.Tensor{
			true:  {tensor.Full(scope, 1, of, len(which), 25)},
			false: {tensor.Full(scope, 1, of, len(which), 20), tensor.Full(scope, 1, dtype.Float32, len(which), 5)},
		} {
			if bank.Add(lora.Rows{}, x, results...) != results[0] {
				t.Error("without adapters, Add returns another tensor")
			}
			if err := bank.Add(lora.Planned(on), x, results...).Err(); err != nil {
				return err
			}
			for part, l := range stacked {
				from, at, width := results[0], 0, 25
				if !together {
					from, width = results[part], l.Out
				} else if part == 1 {
					at = 20
				}
				got, err := tensor.Values[float32](t.Context(), from.To(dtype.Float32))
				if err != nil {
					return err
				}
				for i, adapter := range which {
					for j := range l.Out {
						want := 1.0
						if adapter >= 0 {
							want += adapters[adapter].adds(l, j, rows[i*24:(i+1)*24])
						}
						tolerance := 1e-5 * (1 + math.Abs(want))
						if of == dtype.BFloat16 {
							tolerance = math.Abs(want) / 128
						}
						if g := float64(got[i*width+at+j]); !(math.Abs(g-want) <= tolerance) {
							t.Fatalf("together: %v: result %d of %s for row %d with adapter %d is %v, want %v", together, j, l.Name, i, adapter, g, want)
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(3 * (2*16*24 + 25*16) * of.Size()); set.Bytes() != want {
		t.Errorf("%d bytes, want %d", set.Bytes(), want)
	}
}

func TestSetErrors(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	for _, o := range []lora.SetOptions{{0, 8, dtype.Float32}, {1, 0, dtype.Float32}, {1, 1 << 17, dtype.Float32}, {1, 8, dtype.Float16}} {
		if _, err := lora.NewSet(s, o); !errors.Is(err, lora.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	set, err := lora.NewSet(s, lora.SetOptions{Adapters: 2, Rank: 8, DType: dtype.Float32})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	set.Bank(stacked...)
	odd := lora.Linear{Name: "odd", In: 7, Out: 3}
	set.Bank(odd)
	r, o := rand.New(rand.NewPCG(1, 1)), lora.Options{Rank: 4, Alpha: 4}
	for name, c := range map[string]struct {
		err, want error
	}{
		"no such number":   {set.Put(2, o, matricesOf(r, 4, stacked...)), lora.ErrOptions},
		"DoRA":             {set.Put(0, lora.Options{Rank: 4, Alpha: 1, DoRA: true}, matricesOf(r, 4, stacked...)), lora.ErrFormat},
		"a larger rank":    {set.Put(0, lora.Options{Rank: 9, Alpha: 1}, matricesOf(r, 9, stacked...)), lora.ErrOptions},
		"no such layer":    {set.Put(0, o, matricesOf(r, 4, lora.Linear{Name: "k_proj", In: 24, Out: 5})), lora.ErrModule},
		"another size":     {set.Put(0, o, matricesOf(r, 4, lora.Linear{Name: "q_proj", In: 24, Out: 21})), lora.ErrModule},
		"an odd dimension": {set.Put(0, o, matricesOf(r, 4, odd)), lora.ErrOptions},
		"an adapter":       {set.Put(1, o, matricesOf(r, 4, stacked[0])), nil},
	} {
		if !errors.Is(c.err, c.want) || c.want == nil && c.err != nil {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if n := (*lora.Set)(nil).Len(); n != 0 {
		t.Errorf("a nil Set has %d adapters", n)
	}
}
