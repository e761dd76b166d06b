package harness

import (
	"encoding/gob"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// ReadUnchecked reads the output of the program bench/suite/unchecked: kernels that were compiled without checks. The result, for
// Options.Unchecked, maps the names of kernels to kernels.
func ReadUnchecked(r io.Reader) (map[string]*driver.Kernel, error) {
	var kernels []*driver.Kernel
	if err := gob.NewDecoder(r).Decode(&kernels); err != nil {
		return nil, fmt.Errorf("bench: kernels without checks: %w", err)
	}
	byName := map[string]*driver.Kernel{}
	for _, k := range kernels {
		byName[k.Name] = k
	}
	return byName, nil
}

// unchecked returns the contender that runs our plain kernels without checks, or false if kernels lacks one of
// them.
func (w Work) unchecked(kernels map[string]*driver.Kernel) (Contender, bool) {
	for _, l := range w.Ours {
		if kernels[l.Name] == nil {
			return Contender{}, false
		}
	}
	return launching(report.Unchecked, w.Ours, func(s *device.Stream, l Launch) error {
		return l.on(s, kernels[l.Name])
	}), w.Ours != nil
}
