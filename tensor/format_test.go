package tensor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestFormat compares with what NumPy 2 prints, except for the words for bools.
func TestFormat(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		count := make([]int32, 3000)
		for i := range count {
			count[i] = int32(i)
		}
		for _, c := range []struct {
			x    *tensor.Tensor
			want string
		}{
			{tensor.From(s, []float32{1, 2.5, -3, 0.125}, 2, 2), "float32 [2 2]\n[[ 1.     2.5  ]\n [-3.     0.125]]"},
			{tensor.From(s, []float32{0.1, 0.2}, 2), "float32 [2]\n[0.1 0.2]"},
			{tensor.From(s, []float64{1.0 / 3, 2}, 2), "float64 [2]\n[0.33333333 2.        ]"},
			{tensor.From(s, []float32{1, 1e9}, 2), "float32 [2]\n[1e+00 1e+09]"},
			{tensor.From(s, []float64{1.5, -2e-5}, 2), "float64 [2]\n[ 1.5e+00 -2.0e-05]"},
			{tensor.From(s, []float32{7}), "float32 []\n7."},
			{tensor.From(s, []float64{math.NaN(), math.Inf(-1), 1}, 3), "float64 [3]\n[ nan -inf   1.]"},
			{tensor.From(s, []int64{1, -20, 300}, 3), "int64 [3]\n[  1 -20 300]"},
			{tensor.From(s, []bool{true, false}, 2), "bool [2]\n[ true false]"},
			{tensor.From(s, []uint16{1, 2}, 2), "uint16 [2]\n[1 2]"},
			{tensor.From(s, []float32{0.1}, 1).To(dtype.BFloat16), "bfloat16 [1]\n[0.1]"},
			{tensor.From(s, []float32{}, 0, 3), "float32 [0 3]\n[]"},
			{tensor.From(s, count[:8], 2, 2, 2).Transpose(0, 2), "int32 [2 2 2]\n[[[0 4]\n  [2 6]]\n\n [[1 5]\n  [3 7]]]"},
			{tensor.From(s, count, 3000), "int32 [3000]\n[   0    1    2 ... 2997 2998 2999]"},
			{tensor.From(s, count, 1500, 2), "int32 [1500 2]\n[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [2994 2995]\n [2996 2997]\n [2998 2999]]"},
			{tensor.From(s, count[:30], 30), "int32 [30]\n[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]"},
		} {
			head, values, _ := strings.Cut(fmt.Sprint(c.x), "\n")
			name, _, _ := strings.Cut(head, " on ")
			if got := name + "\n" + values; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		}
		if got := fmt.Sprintf("%s", tensor.From(s, []float32{1, 2}, 1, 2)); got != "float32 [1 2]" {
			t.Errorf("%%s: %q", got)
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
		bad := tensor.From(s, []float32{1}, 2)
		if got := fmt.Sprint(bad); !strings.Contains(got, "void: tensor: From: shapes do not fit") {
			t.Errorf("a void tensor: %q", got)
		}
		return nil
	})
	if err == nil {
		t.Error("no mistake")
	}
}
