package check

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// errSubnormal marks an error that a device may make that takes subnormal numbers of float32 for zeros.
var errSubnormal = errors.New("the device may take subnormal numbers of float32 for zeros")

// Excused reports whether the error of a behaviour is none on its device, because the behaviour needs subnormal numbers of float32, which
// the device does not promise to preserve.
func Excused(err error) bool { return errors.Is(err, errSubnormal) }

// Subnormal returns the case with fields that need subnormal numbers of float32 even if neither their arguments nor their results are
// subnormal.
func (c Case) Subnormal(fields ...string) Case {
	c.subnormal = fields
	return c
}

// differs records that the function of an argument is got and not want. One error without subnormal numbers suffices for the behaviour
// to be wrong.
func (r *Run) differs(name string, of any, got, want reflect.Value) {
	err := fmt.Errorf("of %+v is %v, want %v", of, got, want)
	if r.Device.Info().FlushesSubnormals && (anySubnormal(reflect.ValueOf(of)) || anySubnormal(want) || slices.Contains(r.subnormal, name)) {
		err = fmt.Errorf("%w: %w", err, errSubnormal)
	} else if Excused(r.wrong[name]) {
		delete(r.wrong, name)
	}
	r.fail(name, err)
}

// anySubnormal reports whether a value contains a subnormal number of float32, also as a float64.
func anySubnormal(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		x := math.Abs(v.Float())
		return 0 < x && x < 0x1p-126 && float64(float32(x)) == x
	case reflect.Array:
		for i := range v.Len() {
			if anySubnormal(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if anySubnormal(v.Field(i)) {
				return true
			}
		}
	}
	return false
}
