package dtype_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
)

func TestNamesParseBack(t *testing.T) {
	for d := dtype.Bool; d <= dtype.Float8E5M2; d++ {
		if got, ok := dtype.Parse(d.String()); !ok || got != d {
			t.Errorf("Parse(%q) = %v, %v; want %v, true", d.String(), got, ok, d)
		}
	}
	if _, ok := dtype.Parse("invalid"); ok {
		t.Error(`Parse("invalid") succeeded`)
	}
}

func TestOf(t *testing.T) {
	type celsius float32
	if got, ok := dtype.Of[celsius](); !ok || got != dtype.Float32 {
		t.Errorf("Of[celsius]() = %v, %v; want float32, true", got, ok)
	}
	if got, ok := dtype.Of[int](); !ok || got != dtype.Int64 || got.Size() != 8 {
		t.Errorf("Of[int]() = %v, %v; want int64, true", got, ok)
	}
	if _, ok := dtype.Of[struct{}](); ok {
		t.Error("Of[struct{}]() succeeded")
	}
}
