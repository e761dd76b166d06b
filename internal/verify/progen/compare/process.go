package compare

import (
	"context"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen/child"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// patience is how long a trial may take in another process. They take milliseconds, but the compiler of a device may take a minute for a kernel.
const patience = 6 * time.Minute

// process runs trials elsewhere (see trial.Serve).
type process struct {
	child.Process
	device string // what they run on
}

func newProcess(name string, env ...string) *process {
	return &process{Process: child.Process{Command: []string{name}, Env: env, Patience: patience}}
}

// run returns the answer to a question; that it ended the process is a wrong answer. An error is one of the surroundings.
func (p *process) run(ctx context.Context, q trial.Question) (a trial.Answer, err error) {
	hello := trial.Answer{Device: p.device}
	if err := p.Start(ctx, &hello); err != nil {
		return a, err
	}
	p.device = hello.Device
	if err := p.Ask(q, &a); err != nil {
		return trial.Answer{Wrong: err.Error()}, nil
	}
	if a.Last {
		p.Stop()
	}
	return a, nil
}
