package gpu_test

import (
	"reflect"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

func TestTileOf(t *testing.T) {
	f32, bf16, f8 := reflect.TypeFor[float32](), reflect.TypeFor[dtype.BF16](), reflect.TypeFor[dtype.F8E5M2]()
	for _, c := range []struct {
		tile reflect.Type
		want gpu.TileShape
	}{
		{reflect.TypeFor[gpu.Panel[dtype.BF16]](), gpu.TileShape{Box: [2]int{64, 64}, Element: bf16, Panels: true}},
		{reflect.TypeFor[[4]gpu.Panel[float32]](), gpu.TileShape{Box: [2]int{32, 256}, Element: f32, Panels: true}},
		{reflect.TypeFor[[2][1]gpu.Panel[dtype.F8E5M2]](), gpu.TileShape{Box: [2]int{128, 128}, Element: f8, Panels: true}},
		{reflect.TypeFor[[8][12]float32](), gpu.TileShape{Box: [2]int{12, 8}, Element: f32}},
	} {
		if got, err := gpu.TileOf(c.tile); err != nil || got != c.want {
			t.Errorf("%v is %+v, %v, want %+v", c.tile, got, err, c.want)
		}
	}
	for _, tile := range []reflect.Type{
		reflect.TypeFor[float32](), reflect.TypeFor[[5]gpu.Panel[float32]](), reflect.TypeFor[[8][3]float32](),
		reflect.TypeFor[[300][4]float32](), reflect.TypeFor[[0][4]float32](), reflect.TypeFor[[8][260]float32](),
	} {
		if got, err := gpu.TileOf(tile); err == nil {
			t.Errorf("%v is %+v, want an error", tile, got)
		}
	}
}

// TestPanelLayout compares addresses with the 128-byte swizzle of the CUDA driver API: bits 4 to 6 of an
// address are combined by exclusive or with the lowest bits of its row.
func TestPanelLayout(t *testing.T) {
	p := new(gpu.Panel[dtype.F16])
	first := reflect.ValueOf(p.At(0, 0)).Pointer()
	seen := map[uintptr]bool{}
	for row := range 64 {
		for column := range 64 {
			at := reflect.ValueOf(p.At(row, column)).Pointer() - first
			straight := uintptr(row*128 + column*2)
			if want := straight ^ straight>>7&7<<4; at != want {
				t.Fatalf("row %d, column %d lies at %d, want %d", row, column, at, want)
			}
			seen[at] = true
		}
	}
	if len(seen) != 64*64 {
		t.Errorf("%d places for %d elements", len(seen), 64*64)
	}
	for _, at := range [][2]int{{64, 0}, {0, 64}, {-1, 0}, {0, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic at %v", at)
				}
			}()
			p.At(at[0], at[1])
		}()
	}
}
