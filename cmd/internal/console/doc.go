// Package console writes text to terminals: text that is wrapped to the width of the terminal, and a progress line.
//
//	fmt.Fprint(os.Stderr, console.Wrap(err.Error(), console.Width(os.Stderr)))
//
//	p := console.StartProgress(os.Stderr)
//	defer p.Stop()
//	p.Show("compiling kernels: 12 of 40")
//
// It depends only on the standard library, so that commands that use it build quickly.
package console
