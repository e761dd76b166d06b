package suite

import (
	"context"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
)

// launches is the name of the measurement of launch costs, for Options.Only and in a report.
const launches = "launch"

// Run measures the cases, as harness.Run does, and then the cost of launches.
func Run(ctx context.Context, dev *device.Device, o harness.Options) (*report.Report, error) {
	r, err := harness.Run(ctx, dev, Suite(), o)
	if err != nil || !o.Wants(launches) {
		return r, err
	}
	o.Started(launches)
	if r.Launches, err = launchLadder(ctx, dev, o.Quick); err != nil {
		r.Fail(launches, err)
	}
	return r, ctx.Err()
}
