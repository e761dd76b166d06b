package driver_test

import (
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// tested returns a launch of a kernel whose only variant has the test.
func tested(test driver.LaunchTest, blocks driver.Dim, params ...uint64) *driver.Plan {
	k := &driver.Kernel{Name: "k", ParamBytes: 8*len(params) + driver.HiddenBytes, Variants: []driver.Variant{{Test: test}}}
	for i := range params {
		k.Params = append(k.Params, driver.Param{Name: "n", Offset: 8 * i, Size: 8})
	}
	p := driver.NewPlan(nil)
	p.Reset(k, driver.Grid{Blocks: blocks, Block: driver.Dim{X: 32}})
	for _, n := range params {
		driver.Pass(p, n)
	}
	return p
}

// passed returns what the variant of a launch gets in its extra parameter.
func passed(p *driver.Plan) uint64 {
	k := p.Kernel()
	v := &k.Variants[0]
	p.SetHidden(v, 0, 0, 0)
	words := unsafe.Slice((*uint64)(p.Params()), v.ParamBytes(k)/8)
	return words[len(words)-1]
}

func TestLaunchTest(t *testing.T) {
	for test, want := range map[driver.LaunchTest]uint64{
		"=0;": 0, "=1;": 1, "=-1;=1;a!\"": 0,
		"p0;=5;e!\"": 1, "p8;=-2;e!\"": 1, "P8;=4294967294;e!\"": 1, "P12;=4294967295;e!\"": 1, "p0;=6;e!\"": 0,
		"b!=32;e!\"": 1, "b#=1;e!\"": 1, "g!=3;e!\"": 1, "g\"=4;e!\"": 1, "g#=1;e!\"": 1,
		"p8;t!=4294967294;e\"#": 1, "p8;t!x\"e!#": 1, "p8;t!e!\"": 0,
		"p0;p8;a!\"=3;e#$": 1, "p0;p8;s!\"=7;e#$": 1, "p0;p8;m!\"=-10;e#$": 1, "p0;=62;l!\"=4611686018427387904;e#$": 1,
		"P8;p0;A!\"=3;e#$": 1, "p0;P8;S!\"=7;e#$": 1, "p0;P8;M!\"=4294967286;e#$": 1, "p0;=31;L!\"=2147483648;e#$": 1,
		"p8;=63;r!\"": 1, "p0;=3;r!\"": 0,
		"p0;=6;&!\"=4;e#$": 1, "p0;=6;|!\"=7;e#$": 1, "p0;=6;^!\"=3;e#$": 1,
		"p0;p8;n!\"": 1, "p0;p0;n!\"": 0,
		"p0;p8;u!\"": 1, "p8;p0;u!\"": 0, "p0;p0;u!\"": 0, "p0;p0;v!\"": 1, "p8;p0;v!\"": 0,
		"p0;p8;i!\"": 0, "p8;p0;i!\"": 1, "p0;p0;i!\"": 0, "p0;p0;j!\"": 1, "p0;p8;j!\"": 0,
		"P0;P8;I!\"": 0, "P8;P0;I!\"": 1, "P0;P0;I!\"": 0, "P0;P0;J!\"": 1, "P0;P8;J!\"": 0,
		"=1;p0;p8;?!\"#e$\"": 1, "=0;p0;p8;?!\"#e$#": 1,
	} {
		if got := passed(tested(test, driver.Dim{X: 3, Y: 4}, 5, 1<<64-2)); got != want {
			t.Errorf("%q: %d, want %d", test, got, want)
		}
	}
}

// BenchmarkLaunchTest computes whether all indices of a stencil in three dimensions are in range.
func BenchmarkLaunchTest(b *testing.B) {
	const test driver.LaunchTest = "=0;p72;t\"J!#p80;t%J!&&$'p88;t)J!*&(+=524288;u#-&,.u&-&/0u*-&12g!u4-&35=6;L47=0;s9#a8:m#&a;<g\"m#>=2;l?@a=Ap32;tCvBD&6Es9<a;Gm<*aHIaJAvKD&FLaGIaNAvOD&MPa;IvRD&QSp8;tUvKV&TWp56;tYvKZ&X[vAD&\\]a;Av_V&^`v_Z&ab"
	p := tested(test, driver.Dim{X: 8, Y: 128}, 0, 1<<21, 1<<21, 0, 1<<21, 1<<21, 0, 1<<21, 1<<21, 512, 512, 8)
	if passed(p) != 1 {
		b.Error("the slices are long enough")
	}
	for b.Loop() {
		passed(p)
	}
}
