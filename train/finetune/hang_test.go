package finetune

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// TestHang lets a device hang during a step: the error names it soon after the other device has ended, and nothing waits for the device.
func TestHang(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	tr := &Trainer{limit: limit{grace: 10 * time.Millisecond}, replicas: []*replica{{number: 0, device: dev}, {number: 1, device: dev}}}
	tr.replica = tr.replicas[0]
	never := make(chan struct{})
	defer close(never)
	err = tr.each(t.Context(), tr.replicas, func(_ context.Context, r *replica) error {
		if r.number == 1 {
			<-never
		}
		return nil
	})
	failed, ok := errors.AsType[*DeviceError](err)
	if !ok || failed.Number != 1 || !errors.Is(err, ErrDevice) || !errors.Is(err, ErrHang) {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(tr.clearAll(t.Context()), tr.replicas[1].Close()); err != nil {
		t.Error(err)
	}
}

// TestLimit checks that the limit grows with the longest time of a device.
func TestLimit(t *testing.T) {
	l := limit{grace: time.Second}
	for _, x := range []struct{ needed, want time.Duration }{{time.Second, 5 * time.Second}, {3 * time.Second, 13 * time.Second}, {time.Second, 13 * time.Second}} {
		if got := l.left(x.needed); got != x.want {
			t.Errorf("after %v, %v are left, want %v", x.needed, got, x.want)
		}
	}
}
