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
	for _, text := range []driver.Text{plain, driver.Text(ptxtext.Pack(plain))} {
		if got, err := text.Plain(); got != plain || err != nil {
			t.Errorf("Plain of %q = %q, %v", text, got, err)
		}
		if got := fmt.Sprint(text); got != plain {
			t.Errorf("String = %q", got)
		}
	}
}

func TestCorruptText(t *testing.T) {
	const corrupt = driver.Text("packed1 8 f\n~")
	if got, err := corrupt.Plain(); got != "" || !errors.Is(err, ptxtext.ErrCorrupt) {
		t.Errorf("Plain = %q, %v", got, err)
	}
	if got := corrupt.String(); got != string(corrupt) {
		t.Errorf("String = %q", got)
	}
}
