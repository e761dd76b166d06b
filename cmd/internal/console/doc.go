// Package console writes text for people: wrapped between words to the width of the terminal, and a line that shows progress.
//
//	fmt.Fprint(os.Stderr, console.Wrap(err.Error(), console.Width(os.Stderr)))
//
//	p := console.StartProgress(os.Stderr)
//	defer p.Stop()
//	p.Show("compiling kernels: 12 of 40")
//
// It depends on nothing but the standard library, so that a command that uses it builds quickly.
package console
