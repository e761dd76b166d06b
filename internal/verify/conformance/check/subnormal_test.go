package check

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// described is a device that only describes itself.
type described struct {
	driver.Backend
	info driver.Info
}

func (d described) Info() driver.Info { return d.info }

// TestExcused compares results on a device that may take subnormal numbers of float32 for zeros, and on one that may not.
func TestExcused(t *testing.T) {
	var ordinary, tiny float64 = 1, 0x1p-130
	for flushes, want := range map[bool][]string{
		true: {"case/Argument", "case/Inside", "case/Result", "case/Wide"}, false: nil,
	} {
		r := &Run{Device: device.New(described{info: driver.Info{FlushesSubnormals: flushes}}), wrong: map[string]error{}, subnormal: []string{"case/Inside"}}
		differs := func(field string, of any, got, want float64) {
			r.differs("case/"+field, of, reflect.ValueOf(got), reflect.ValueOf(want))
		}
		differs("Argument", [2]float32{1, 0x1p-149}, 0, 1)
		differs("Result", ordinary, 0, tiny)
		differs("Inside", ordinary, 0, 1)
		differs("Both", tiny, 0, 1)
		differs("Both", ordinary, 0, 1)
		differs("Tiny", ordinary, 0, 0x1p-200)
		differs("Wide", struct{ A, B float64 }{1, -0x1p-127}, 0, 1)
		differs("Exact", 0x1.23456789abcp-130, 0, 1) // no number of float32
		got := slices.DeleteFunc(slices.Sorted(maps.Keys(r.wrong)), func(name string) bool { return !Excused(r.wrong[name]) })
		if len(r.wrong) != 7 || !slices.Equal(got, want) {
			t.Errorf("flushes %v: of %d errors, excused are %v, want %v", flushes, len(r.wrong), got, want)
		}
	}
}
