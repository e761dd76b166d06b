package device_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
)

func TestExplain(t *testing.T) {
	d := device.New(&fake{})
	d.Explain("it is a test")
	if got, want := d.Info().String(), "Fake (fake), because it is a test"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
