package nn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestDivide divides a matrix, a vector and another matrix among three processes. Their parts are disjoint and together all elements; the values of all
// parameters come from those of the processes.
func TestDivide(t *testing.T) {
	sizes := []int{5 * 300, 700, 2 * 900}
	initial := make([][]float32, len(sizes))
	for i, n := range sizes {
		for j := range n {
			initial[i] = append(initial[i], float32(1000*i+j))
		}
	}
	for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
		for _, bucket := range []int{1, 2000, 1 << 20} {
			var memories []*nn.Memory
			var masters [][]float32
			seen := map[int]bool{}
			stream := kerneltest.Stream(t, cpu.Open)
			for rank := range 3 {
				err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
					p := nn.NewParams(stream, nn.Options{DType: of})
					t.Cleanup(func() { _ = p.Close() })
					list := []*nn.Parameter{p.Parameter(initial[0], 5, 300), p.Parameter(initial[1], 700), p.Parameter(initial[2], 2, 900)}
					if err := p.Divide(nn.Division{Rank: rank, World: 3, Bucket: bucket}); err != nil {
						return err
					}
					m, err := p.Memory(s)
					if err != nil {
						return err
					}
					for _, x := range m.Parts {
						for i := x.Begin; i < x.End; i++ {
							if seen[i] {
								t.Fatalf("element %d is in two parts", i)
							}
							seen[i] = true
						}
					}
					if half := of == dtype.BFloat16; m.Divided() != half || half && m.Master.Len() > m.Values.Len()/3+m.Vectors() {
						t.Errorf("%v: divided %v, %d of %d elements", of, m.Divided(), m.Master.Len(), m.Values.Len())
					}
					if _, err := list[1].Values(s); err != nil { // which each process has
						t.Error(err)
					}
					if _, err := list[0].Master(s); errors.Is(err, nn.ErrDivided) != m.Divided() {
						t.Error(err)
					}
					if err := list[2].Set(s, initial[2]); err != nil {
						return err
					}
					own, err := m.Masters(s)
					if memories, masters = append(memories, m), append(masters, own); err != nil || rank < 2 {
						return err
					}
					m.Assemble(masters)
					for i, q := range list {
						if got, err := q.Values(s); err != nil || !slices.Equal(got, initial[i]) {
							t.Errorf("%v, buckets of %d: parameter %d differs, %v", of, bucket, i, err)
						}
					}
					if err := p.Divide(nn.Division{World: 1, Bucket: 1}); !errors.Is(err, nn.ErrPlaced) {
						t.Errorf("divided after the first use: %v", err)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if n := memories[0].Values.Len(); len(seen) != n {
				t.Errorf("%d of %d elements are in parts", len(seen), n)
			}
		}
	}
}
