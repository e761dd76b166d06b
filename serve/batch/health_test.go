package batch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/batch"
)

// A queue whose last batch failed is healthy again when a probe can be computed.
func TestHealth(t *testing.T) {
	lost, mistake, other := errors.New("lost"), errors.New("mistake"), errors.New("other")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		batches     []error
		ctx         context.Context
		probe, want error
		probes      int
	}{
		"no batch":          {probe: other},
		"works":             {batches: []error{nil}, probe: other},
		"failed":            {batches: []error{nil, lost}, probe: other, want: other, probes: 1},
		"works again":       {batches: []error{lost, nil}, probe: other},
		"probe works":       {batches: []error{lost}, probes: 1},
		"full":              {batches: []error{lost}, probe: batch.ErrFull, want: lost, probes: 1},
		"no time":           {batches: []error{lost}, ctx: canceled, want: lost, probes: 1},
		"canceled":          {batches: []error{context.Canceled}, probe: other},
		"mistake of a call": {batches: []error{lost, errors.Join(other, mistake)}, probe: other},
	} {
		var h batch.Health
		for _, err := range c.batches {
			h.Observe(batch.Report{Err: err}, mistake)
		}
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		probes := 0
		err := h.Check(c.ctx, func() error { probes++; return c.probe })
		if !errors.Is(err, c.want) || probes != c.probes {
			t.Errorf("%s: %v after %d probes, want %v after %d", name, err, probes, c.want, c.probes)
		}
	}
}
