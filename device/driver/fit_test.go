package driver_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestAssumptions(t *testing.T) {
	k := &driver.Kernel{
		Name:       "scale",
		Params:     []driver.Param{{Name: "x", Size: 24, Elem: 4}, {Name: "n", Offset: 24, Size: 8}},
		ParamBytes: 32 + driver.HiddenBytes,
		Integers:   []int{8, 16, 24},
		Variants:   []driver.Variant{{Target: driver.Capability{Major: 7}}},
	}
	for _, test := range []struct {
		address, length uint64
		n, blocks       int
		assumes         driver.Fit
		want            string // in the error
	}{
		{0x1000, 10, -1, 1, driver.Fit{Narrow: true, Aligned: true}, ""},
		{0x1004, 1 << 31, 1 << 31, math.MaxInt32, driver.Fit{}, ""},
		{0x1004, 10, 1, 1, driver.Fit{Narrow: true}, ""},
		{0x1000, 1 << 31, 1, 1, driver.Fit{Aligned: true}, ""},
		{0x1000, 10, -1 << 31, 1, driver.Fit{Narrow: true}, "device: scale: a number of -2147483648 in n, must be between -2147418112 and 2147418111"},
		{0x1000, 1 << 31, 1, 1, driver.Fit{Narrow: true}, "device: scale: a number of 2147483648 in x, must be between -2147418112 and 2147418111"},
		{0x1000, 1<<31 - 1 - 1<<16, -1<<31 + 1<<16, 1, driver.Fit{Narrow: true}, ""},
		{0x1000, 1<<31 - 1<<16, 1, 1, driver.Fit{Narrow: true}, "device: scale: a number of 2147418112 in x, must be between -2147418112 and 2147418111"},
		{0x1000, 1, -1<<31 - 1, 1, driver.Fit{Narrow: true}, "device: scale: a number of -2147483649 in n, must be between -2147418112 and 2147418111"},
		{0x1000, 1, 1, math.MaxInt32, driver.Fit{Narrow: true}, "device: scale: 549755813632 threads along an axis, must be at most 2147418111"},
		{0x1004, 1, 1, 1, driver.Fit{Aligned: true}, "device: scale: x does not start at a multiple of 16 bytes"},
	} {
		for _, kind := range []string{"cuda", "cpu"} {
			k.Assumes = test.assumes
			p := driver.NewPlan(nil)
			p.Reset(k, driver.Grid{Blocks: driver.Dim{X: test.blocks}, Block: driver.Dim{X: 256}})
			w := p.NextSlice(4)
			w[0], w[1], w[2] = test.address, test.length, test.length
			driver.Pass(p, test.n)
			err := p.Check(&driver.Info{Kind: kind, Capability: driver.Capability{Major: 9}, Limits: driver.Limits{
				ThreadsPerBlock: 1024, Block: [3]int{1024, 1024, 64}, Grid: [3]int{math.MaxInt32, 65535, 65535},
			}}, false)
			if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, driver.ErrAssumption) || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("%+v on %s: %v", test, kind, err)
			}
		}
	}
}
