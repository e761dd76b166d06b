package conformance

import (
	"github.com/gopherwarp/gopherwarp/internal/conformance/check"
	"github.com/gopherwarp/gopherwarp/internal/conformance/closures"
	"github.com/gopherwarp/gopherwarp/internal/conformance/clusters"
	"github.com/gopherwarp/gopherwarp/internal/conformance/control"
	"github.com/gopherwarp/gopherwarp/internal/conformance/faults"
	"github.com/gopherwarp/gopherwarp/internal/conformance/generics"
	"github.com/gopherwarp/gopherwarp/internal/conformance/halves"
	"github.com/gopherwarp/gopherwarp/internal/conformance/matrices"
	"github.com/gopherwarp/gopherwarp/internal/conformance/numbers"
	"github.com/gopherwarp/gopherwarp/internal/conformance/panels"
	"github.com/gopherwarp/gopherwarp/internal/conformance/threads"
	"github.com/gopherwarp/gopherwarp/internal/conformance/values"
	"github.com/gopherwarp/gopherwarp/internal/conformance/words"
)

// Group is the cases of one theme.
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
	}
}
