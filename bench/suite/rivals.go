package suite

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
	err  error // why it does not, or no longer
}

// rivals are those of a case.
type rivals []*rival

// meet notes who takes part, and who is not there.
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

// part notes whose process has ended before the run has.
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

// prepareRivals has the peers that know a case check their results in its size.
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

// round has each rival run once. Where that does not count it warms up.
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

// end frees what the rivals hold, and returns what they have measured.
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
