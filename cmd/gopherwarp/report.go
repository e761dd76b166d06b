package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/term"

	"github.com/gopherwarp/gopherwarp/compile"
)

// reportFlag is the value of -report: nothing, "text" or "json".
type reportFlag string

// IsBool is called by kong: the flag may stand alone.
func (r *reportFlag) IsBool() bool { return true }

// Decode is called by kong.
func (r *reportFlag) Decode(c *kong.DecodeContext) error {
	*r = "text"
	if c.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch value := fmt.Sprint(c.Scan.Pop().Value); value {
	case "text", "json":
		*r = reportFlag(value)
		return nil
	default:
		return fmt.Errorf(`must be "text" or "json", not %q`, value)
	}
}

// write writes what became of the kernels.
func (r reportFlag) write(w io.Writer, result *compile.Result) error {
	if r == "json" {
		return compile.WriteReportsJSON(w, result.Report())
	}
	return compile.WriteReports(w, result.Report(), width(w))
}

// width returns that of the terminal that w is, or that of pages.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(f.Fd()); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}
