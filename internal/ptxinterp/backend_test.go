package ptxinterp_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

func TestBackend(t *testing.T) { devicetest.TestBackend(t, ptxinterp.Open) }

func TestBackendSeeded(t *testing.T) {
	devicetest.TestBackend(t, func() (*device.Device, error) {
		return ptxinterp.OpenWith(ptxinterp.Options{Seed: 7})
	})
}
