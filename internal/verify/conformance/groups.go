package conformance

import (
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/closures"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/clusters"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/collectives"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/control"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/faults"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/generics"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/halves"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/matrices"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/numbers"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/panels"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/threads"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/values"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/words"
)

// Group is a set of cases about one topic.
type Group struct {
	Name  string
	Cases []check.Case
}

// Groups returns all cases.
func Groups() []Group {
	return []Group{
		{"control", control.Cases()},
		{"numbers", numbers.Cases()},
		{"values", values.Cases()},
		{"threads", threads.Cases()},
		{"words", words.Cases()},
		{"faults", faults.Cases()},
		{"closures", closures.Cases()},
		{"generics", generics.Cases()},
		{"halves", halves.Cases()},
		{"matrices", matrices.Cases()},
		{"panels", panels.Cases()},
		{"clusters", clusters.Cases()},
		{"collectives", collectives.Cases()},
	}
}
