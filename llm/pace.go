package llm

import (
	"errors"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// pace measures how long the device waits for the host between a step and the next one.
type pace struct {
	stream *device.Stream
	end    *device.Event // after the step that was enqueued last, or nil if the host has waited for it, or has enqueued other work since
	gaps   []gap         // that have not been measured
}

// gap is the time of the device between two steps.
type gap struct{ from, to *device.Event }

// begin says that the first kernel of a step follows. It does nothing if no step was enqueued directly before.
func (p *pace) begin() error {
	if p.end == nil {
		return nil
	}
	to, err := p.stream.Record()
	if err != nil {
		return err
	}
	p.gaps, p.end = append(p.gaps, gap{p.end, to}), nil
	return nil
}

// enqueued says that a step has been enqueued.
func (p *pace) enqueued() error {
	p.interrupt()
	var err error
	p.end, err = p.stream.Record()
	return err
}

// interrupt says that the time until the next step is not the time between two steps.
func (p *pace) interrupt() {
	if p.end != nil {
		_ = p.end.Close() // if that fails, so does the next step
		p.end = nil
	}
}

// waited returns the sum of the gaps that precede the last one. It is called when the host has the tokens of the step before the one that was
// enqueued last: the last gap may not be over.
func (p *pace) waited() (sum time.Duration, err error) {
	for len(p.gaps) > 1 {
		g := p.gaps[0]
		took, failed := g.to.Since(g.from)
		err = errors.Join(err, failed, g.from.Close(), g.to.Close())
		sum, p.gaps = sum+took, p.gaps[1:]
	}
	return sum, err
}

// reset forgets all steps.
func (p *pace) reset() {
	p.interrupt()
	for _, g := range p.gaps {
		_ = errors.Join(g.from.Close(), g.to.Close())
	}
	p.gaps = nil
}
