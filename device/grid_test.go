package device_test

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestCover(t *testing.T) {
	type grid = device.Grid
	type dim = device.Dim
	for _, c := range []struct{ got, want grid }{
		{device.Cover(1, 256), grid{Blocks: dim{X: 1}, Block: dim{X: 256}}},
		{device.Cover(256, 256), grid{Blocks: dim{X: 1}, Block: dim{X: 256}}},
		{device.Cover(257, 256), grid{Blocks: dim{X: 2}, Block: dim{X: 256}}},
		{device.Cover(math.MaxInt, 2), grid{Blocks: dim{X: 1 << 62}, Block: dim{X: 2}}},
		{device.Cover(0, 256), grid{Blocks: dim{}, Block: dim{X: 256}}},
		{device.Cover(-5, 256), grid{Blocks: dim{X: -5}, Block: dim{X: 256}}},
		{device.Cover(5, -1), grid{Blocks: dim{}, Block: dim{X: -1}}},
		{device.Cover2(33, 17, dim{X: 16, Y: 8}), grid{Blocks: dim{X: 3, Y: 3}, Block: dim{X: 16, Y: 8}}},
		{device.Cover2(33, 17, dim{X: 16}), grid{Blocks: dim{X: 3, Y: 17}, Block: dim{X: 16}}}, // a block's Y of 0 is 1
		{device.Cover2(33, 0, dim{X: 16, Y: 8}), grid{Blocks: dim{}, Block: dim{X: 16, Y: 8}}}, // not Y: 0, which is 1
		{device.Cover2(-3, 17, dim{X: 16, Y: 8}), grid{Blocks: dim{X: -3, Y: 3}, Block: dim{X: 16, Y: 8}}},
		{device.Cover2(33, -1, dim{X: 16, Y: 8}), grid{Blocks: dim{X: 3, Y: -1}, Block: dim{X: 16, Y: 8}}},
	} {
		if c.got != c.want {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
	if got, want := device.CoverBlocks(33, 17, dim{X: 16, Y: 8}), (dim{X: 3, Y: 3}); got != want {
		t.Errorf("CoverBlocks: %v, want %v", got, want)
	}
	if d := (dim{X: 3, Z: 5}); d.Count() != 15 || d.String() != "3x1x5" {
		t.Errorf("%v counts %d", d, d.Count())
	}
}

func TestGridLimits(t *testing.T) {
	_, _, s := newFake(t, io.Discard)
	launch := func(k driver.Kernel, g device.Grid) error {
		err := s.Plan(&k, g).Launch()
		if got := s.Synchronize(t.Context()); got != err {
			t.Errorf("Synchronize: %v, want %v", got, err)
		}
		return err
	}
	type dim = device.Dim
	k := driver.Kernel{Name: "k", ParamBytes: driver.HiddenBytes}
	for _, g := range []device.Grid{
		{Blocks: dim{X: 1000, Y: 100, Z: 10}, Block: dim{X: 64}},
		{Blocks: dim{X: 1}, Block: dim{X: 1, Y: 16, Z: 4}},
	} {
		must(t, launch(k, g))
	}
	for want, g := range map[string]device.Grid{
		"device: k: 1001 blocks along x, must be 0 to 1000: grid does not fit the device":          {Blocks: dim{X: 1001}, Block: dim{X: 1}},
		"device: k: 11 blocks along z, must be 0 to 10: grid does not fit the device":              {Blocks: dim{X: 1, Z: 11}, Block: dim{X: 1}},
		"device: k: -1 blocks along y, must be 0 to 100: grid does not fit the device":             {Blocks: dim{X: 1, Y: -1}, Block: dim{X: 1}},
		"device: k: 0 threads along x in a block, must be 1 to 64: grid does not fit the device":   {},
		"device: k: 33 threads along y in a block, must be 1 to 32: grid does not fit the device":  {Blocks: dim{X: 1}, Block: dim{X: 1, Y: 33}},
		"device: k: 72 threads in a block of 8x9x1, must be 1 to 64: grid does not fit the device": {Blocks: dim{X: 1}, Block: dim{X: 8, Y: 9}},
		"device: k: -1 threads along z in a block, must be 1 to 4: grid does not fit the device":   {Blocks: dim{X: 1}, Block: dim{X: 1, Z: -1}},
	} {
		if err := launch(k, g); !errors.Is(err, device.ErrGrid) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	k.Block = dim{X: 8, Y: 4}
	must(t, launch(k, k.Grid(dim{X: 3})))
	must(t, launch(k, device.Grid{Blocks: dim{X: 1}, Block: dim{X: 8, Y: 4, Z: 1}}))
	wants(t, "another block", launch(k, device.Cover(32, 32)), device.ErrGrid)
	k.Shared = 400
	must(t, launch(k, device.Grid{Blocks: dim{X: 1}, Block: k.Block, Shared: 200}))
	for want, g := range map[string]device.Grid{
		"device: k: 801 bytes of shared memory in a block, the device has 800: grid does not fit the device": {Shared: 401},
		"device: k: -1 bytes of dynamic shared memory: grid does not fit the device":                         {Shared: -1},
		"device: k: a cooperative launch, which the device does not support: grid does not fit the device":   {Cooperative: true},
		"device: k: 6 blocks in a cluster of 2x3x1, must be 1 to 4: grid does not fit the device":            {Cluster: dim{X: 2, Y: 3}},
		"device: k: 10 blocks along x in clusters of 4: grid does not fit the device":                        {Cluster: dim{X: 4}},
	} {
		g.Blocks, g.Block = dim{X: 10}, k.Block
		if err := launch(k, g); !errors.Is(err, device.ErrGrid) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	k.Shared = 513
	wants(t, "too much shared memory", launch(k, k.Grid(dim{X: 3})), device.ErrGrid)
}
