package suite

import (
	"encoding/gob"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// ReadUnchecked reads the kernels that bench/suite/unchecked wrote: those of this package,
// compiled without checks. The result is for Options.Unchecked.
func ReadUnchecked(from io.Reader) (map[string]*driver.Kernel, error) {
	var kernels []*driver.Kernel
	if err := gob.NewDecoder(from).Decode(&kernels); err != nil {
		return nil, fmt.Errorf("bench: kernels without checks: %w", err)
	}
	byName := map[string]*driver.Kernel{}
	for _, k := range kernels {
		byName[k.Name] = k
	}
	return byName, nil
}

// unchecked returns the contender that does ours without checks; false where one of the kernels
// is not among them.
func (w work) unchecked(kernels map[string]*driver.Kernel) (contender, bool) {
	if w.ours == nil {
		return contender{}, false
	}
	for _, l := range w.ours {
		if kernels[l.name] == nil {
			return contender{}, false
		}
	}
	return contender{name: report.Unchecked, run: func(s *device.Stream) error {
		return eachLaunch(w.ours, func(l launch) error { return l.on(s, kernels[l.name]) })
	}}, true
}

// on launches a kernel that takes l's arguments.
func (l launch) on(s *device.Stream, k *driver.Kernel) error {
	p := s.Plan(k, l.grid)
	for _, a := range l.args {
		a.put(p)
	}
	return p.Launch()
}
