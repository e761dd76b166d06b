// Package child sends questions to another process. If a question ends the process, the next
// question starts a new one.
//
//	p := &child.Process{Command: []string{"replay.exe"}, Patience: time.Minute}
//	defer p.Stop()
//	for _, q := range questions {
//		if err := p.Start(ctx, &hello); err != nil { ... } // of the surroundings
//		if err := p.Ask(q, &answer); err != nil { ... }    // how the process ended
//	}
//
// Questions go to standard input and answers come from standard output, encoded by encoding/gob. Their types
// are those of the caller. The other process only needs a decoder and an encoder.
package child
