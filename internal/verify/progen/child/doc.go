// Package child asks questions of another process, which a question may end: the next one gets
// a new process.
//
//	p := &child.Process{Command: []string{"replay.exe"}, Patience: time.Minute}
//	defer p.Stop()
//	for _, q := range questions {
//		if err := p.Start(ctx, &hello); err != nil { ... } // of the surroundings
//		if err := p.Ask(q, &answer); err != nil { ... }    // how the process ended
//	}
//
// Questions, and answers, go through standard input, and output, by encoding/gob. Package child knows
// nothing of what they are, and has no part for the other process, which needs but a decoder and an encoder.
package child
