package trial

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// TestWithin compares results of which one number differs from what is wanted.
func TestWithin(t *testing.T) {
	x := &Trial{Args: []progen.Arg{
		{Type: "int", Layout: "int"}, {Type: "float32", Layout: "float32", Len: 3, Bound: 2}, {Type: "float64", Layout: "float64", Len: 3},
	}}
	result := func(floats ...float32) Result {
		var data, bounds []byte
		for _, f := range floats {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
		}
		for _, b := range []float64{0.25, 0, math.Inf(1)} {
			bounds = binary.LittleEndian.AppendUint64(bounds, math.Float64bits(b))
		}
		return Result{Data: [][]byte{data, bounds}}
	}
	want := result(1, 2, 3)
	nan := float32(math.NaN())
	for _, test := range []struct {
		got     Result
		changed int
		wrong   string
	}{
		{result(1, 2, 3), 0, ""},
		{result(1.5, 2, nan), 1, ""},
		{result(1.625, 2, 3), 1, "float 0 is 1.625, want 1 and at most 0.5 off"},
		{result(nan, 2, 3), 1, "float 0 is NaN"},
		{result(1, 2.0000002, 3), 1, "float 1 is"},
	} {
		d := x.Within(want, test.got)
		if d.Compared != 2 || d.Changed != test.changed || !strings.HasPrefix(d.Wrong, test.wrong) || (d.Wrong == "") != (test.wrong == "") {
			t.Errorf("got %+v, want %d changed and %q", d, test.changed, test.wrong)
		}
	}
	if d := x.Within(want, Result{Fault: "index"}); d.Wrong == "" {
		t.Error("a fault is within bounds")
	}
}
