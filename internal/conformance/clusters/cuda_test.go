package clusters_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
)

func TestCUDA(t *testing.T) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	run(t, func() (*device.Device, error) { return cuda.Open(0) })
}
