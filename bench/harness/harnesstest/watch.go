package harnesstest

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Activities are those that a device has reported.
type Activities []device.Activity

// Watch returns the activities of a device, which it adds as they end.
func Watch(t *testing.T, dev *device.Device) *Activities {
	t.Helper()
	a := new(Activities)
	if _, err := dev.Watch(a); err != nil {
		t.Fatal(err)
	}
	return a
}

// Did implements device.Watcher.
func (a *Activities) Did(more []device.Activity) { *a = append(*a, more...) }

// Closed implements device.Watcher.
func (a *Activities) Closed() error { return nil }

// Kernel returns the launched kernel with the given name.
func (a *Activities) Kernel(t *testing.T, name string) *driver.Kernel {
	t.Helper()
	for _, x := range *a {
		if x.Kernel != nil && x.Kernel.Name == name {
			return x.Kernel
		}
	}
	t.Fatalf("no kernel %s was launched", name)
	return nil
}
