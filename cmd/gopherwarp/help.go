package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/cmd/internal/commandline"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// printHelp writes the help of a command, or the list of all commands for the program itself, in the form of cmd/internal/build's.
func printHelp(w io.Writer, c *commandline.Command) error {
	if c.Parent == nil {
		return printCommands(w, c)
	}
	return printCommand(w, c)
}

// printCommands writes the list of all commands.
func printCommands(w io.Writer, app *commandline.Command) error {
	column := 0
	for _, child := range app.Children {
		column = max(column, len(child.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s <command>\n\n%s\n\nCommands:\n", app.Name, app.Help)
	width := console.PageWidth(w)
	for _, child := range app.Children {
		line := fmt.Sprintf("  %-*s  %s\n", column, child.Name, child.Help)
		b.WriteString(console.Wrap(line, width, column+4))
	}
	b.WriteString(console.Wrap(fmt.Sprintf("\nRun %s help <command> for the flags and examples of a command.\n", app.Name), width, 0))
	_, err := io.WriteString(w, b.String())
	return err
}

// printCommand writes the help of one command.
func printCommand(w io.Writer, c *commandline.Command) error {
	width := console.PageWidth(w)
	var b strings.Builder
	b.WriteString(console.Wrap("Usage: "+usage(c)+"\n\n", width, 4) + console.Page(c.Detail+"\n", width))
	if len(c.Children) > 0 {
		b.WriteString("\nCommands:\n")
	}
	for _, child := range c.Children {
		b.WriteString("  " + child.Name + "\n" + console.Wrap("      "+child.Help+"\n", width, 0))
	}
	if len(c.Args) > 0 {
		b.WriteString("\nArguments:\n")
	}
	for _, p := range c.Args {
		b.WriteString("  " + p.Summary() + "\n" + console.Wrap("      "+p.Help+"\n", width, 0))
	}
	if len(c.Flags) > 0 {
		b.WriteString("\nFlags:\n")
	}
	for _, f := range c.Flags {
		b.WriteString("  " + flagUsage(f) + "\n" + console.Wrap("      "+f.Help+"\n", width, 0))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// usage returns how a command is called.
func usage(c *commandline.Command) string {
	words := []string{c.Path()}
	if len(c.Flags) > 0 {
		words = append(words, "[flags]")
	}
	if len(c.Children) > 0 {
		words = append(words, "<command>")
	}
	for _, p := range c.Args {
		words = append(words, p.Summary())
	}
	return strings.Join(words, " ")
}

// flagUsage returns a flag with its placeholder: "-device=cuda|cpu".
func flagUsage(f *commandline.Flag) string {
	if f.IsBool() {
		return "-" + f.Name
	}
	return "-" + f.Name + "=" + f.Placeholder()
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as run or adapter info. Default: list all commands."`
}

// Help is the text after the flags.
func (helpCommand) Help() string {
	return `Describes a command and its flags, with an example.

Example:
  gopherwarp help run`
}

// helpOf returns the arguments that have the parser print the help where the user asks for it, by the command help or by
// no command; else args.
func helpOf(args []string) []string {
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "help":
		return []string{"--help"}
	case len(args) > 1 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}
