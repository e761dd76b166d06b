package driver_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

func TestText(t *testing.T) {
	const plain = ".version 7.0\n.target sm_80\n\n.visible .entry f()\n{\n\tret;\n}\n"
	for _, text := range []*driver.Text{{Code: plain}, {Code: ptxtext.Pack(plain)}} {
		if got, err := text.Plain(); got != plain || err != nil {
			t.Errorf("Plain of %q = %q, %v", text.Code, got, err)
		}
		if got := fmt.Sprint(text); got != plain {
			t.Errorf("String = %q", got)
		}
	}
}

// TestBases has texts that refer to each other, as generated files have.
func TestBases(t *testing.T) {
	body := ""
	for i := range 20 {
		body += fmt.Sprintf("\tmul.rn.f32 %%f%d, %%f%d, 0f%08d;\n", i+1, i, i)
	}
	var library ptxtext.Library
	var texts [3]driver.Text
	for target := range 3 {
		plain := fmt.Sprintf(".version 7.%d\n.visible .entry f()\n{\n%s\tst.global.f32 [%d], %%f9;\n}\n", target, body, target)
		code, base := library.Add(plain)
		texts[target].Code = code
		if base >= 0 {
			texts[target].Base = &texts[base]
		} else if target > 0 {
			t.Errorf("text %d has no base", target)
		}
		if got, err := texts[target].Plain(); got != plain || err != nil {
			t.Errorf("Plain = %q, %v, want %q", got, err, plain)
		}
	}
}

func TestNoText(t *testing.T) {
	var none *driver.Text
	if got, err := none.Plain(); got != "" || err != nil {
		t.Errorf("Plain = %q, %v", got, err)
	}
}

func TestCorruptText(t *testing.T) {
	corrupt := driver.Text{Code: ptxtext.Pack(".version 7.0\n") + "~"}
	if got, err := corrupt.Plain(); got != "" || !errors.Is(err, ptxtext.ErrCorrupt) {
		t.Errorf("Plain = %q, %v", got, err)
	}
	if got := corrupt.String(); got != corrupt.Code {
		t.Errorf("String = %q", got)
	}
}
