package harness

import (
	"context"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/peers"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
)

// rival is a peer that takes part in a case.
type rival struct {
	peer *peers.Peer
	took []time.Duration
	err  error // why it does not take part, or no longer
}

// rivals are those of a case.
type rivals []*rival

// meet adds to the report the peers that take part and those that are missing.
func meet(r *report.Report, set *peers.Set) {
	if set == nil {
		return
	}
	for _, p := range set.Peers {
		r.Peers = append(r.Peers, p.About)
	}
	for _, m := range set.Missing {
		r.Skip("peer "+m.Name, m.Why)
	}
}

// part adds to the report the peers whose processes ended before the run did.
func part(r *report.Report, set *peers.Set) {
	if set == nil {
		return
	}
	for _, p := range set.Peers {
		if err := p.Err(); err != nil {
			r.Skip("peer "+p.Name+" in later cases", err.Error())
		}
	}
}

// prepareRivals makes the peers that know a case verify their results in its size.
func prepareRivals(ctx context.Context, i device.Info, set *peers.Set, c report.Result) (rs rivals) {
	if set == nil || i.Kind != "cuda" {
		return nil
	}
	for _, p := range set.Peers {
		if p.Has(c.Name) {
			rs = append(rs, &rival{peer: p, err: p.Prepare(ctx, c.Name, c.Size)})
		}
	}
	return rs
}

// round makes each rival run once, and records the times if counts is set.
func (rs rivals) round(ctx context.Context, counts bool) {
	for _, r := range rs {
		if r.err != nil {
			continue
		}
		var d time.Duration
		if d, r.err = r.peer.Round(ctx); counts && r.err == nil {
			r.took = append(r.took, d)
		}
	}
}

// end frees the memory of the rivals and returns their measurements.
func (rs rivals) end(ctx context.Context) (ms []report.Measurement) {
	for _, r := range rs {
		if err := r.peer.End(ctx); r.err == nil {
			r.err = err
		}
		if r.err != nil {
			ms = append(ms, report.Measurement{By: r.peer.Name, Error: r.err.Error()})
			continue
		}
		slices.Sort(r.took)
		ms = append(ms, summary(r.peer.Name, r.took))
	}
	return ms
}
