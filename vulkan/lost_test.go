package vulkan

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// TestLost lets a stream of a device receive the driver's result for a lost device. All streams of this device then return ErrLost,
// the device can be closed, and the process can open it again.
func TestLost(t *testing.T) {
	if _, err := List(); err != nil {
		t.Skip(err)
	}
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.open(0)
	if err != nil {
		t.Skip(err)
	}
	q, err := b.newQueue()
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.newQueue()
	if err != nil {
		t.Fatal(err)
	}
	q.fail(&vulkansys.Error{Function: "WaitForFences", Result: vulkansys.DeviceLost})
	if !errors.Is(q.failed, ErrLost) {
		t.Errorf("the failed stream: %v", q.failed)
	}
	_, allocated := b.Allocate(16)
	_, made := b.NewQueue()
	_, marked := other.Mark()
	for name, err := range map[string]error{
		"Wait": q.Wait(t.Context()), "Wait of another stream": other.Wait(t.Context()), "Zero": other.Zero(4, 4),
		"Allocate": allocated, "NewQueue": made, "Mark": marked,
	} {
		if !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(other.Close(), q.Close(), b.Close()); err != nil {
		t.Errorf("Close: %v", err)
	}
	dev, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}
