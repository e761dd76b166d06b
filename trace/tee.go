package trace

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
)

// Tee returns a watcher that forwards each call to all of ws.
func Tee(ws ...device.Watcher) device.Watcher { return tee(ws) }

type tee []device.Watcher

func (t tee) Did(done []device.Activity) {
	for _, w := range t {
		w.Did(done)
	}
}

func (t tee) Closed() error {
	var errs []error
	for _, w := range t {
		errs = append(errs, w.Closed())
	}
	return errors.Join(errs...)
}
