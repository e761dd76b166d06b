package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// printHelp writes the help of the command that is parsed, or of all, in the form of cmd/internal/build's. Kong's own has a column
// for the flags, which leaves a narrow terminal no room for the texts, and does not wrap examples.
func printHelp(_ kong.HelpOptions, c *kong.Context) error {
	node := c.Selected()
	if node == nil {
		return printCommands(c.Stdout, c.Model.Node)
	}
	return printCommand(c.Stdout, node)
}

// printCommands writes the list of all commands.
func printCommands(w io.Writer, app *kong.Node) error {
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
func printCommand(w io.Writer, node *kong.Node) error {
	width := console.PageWidth(w)
	var b strings.Builder
	b.WriteString(console.Wrap("Usage: "+usage(node)+"\n\n", width, 4) + console.Page(node.Detail+"\n", width))
	if len(node.Children) > 0 {
		b.WriteString("\nCommands:\n")
	}
	for _, child := range node.Children {
		b.WriteString("  " + child.Name + "\n" + console.Wrap("      "+child.Help+"\n", width, 0))
	}
	if len(node.Positional) > 0 {
		b.WriteString("\nArguments:\n")
	}
	for _, p := range node.Positional {
		b.WriteString("  " + p.Summary() + "\n" + console.Wrap("      "+p.Help+"\n", width, 0))
	}
	if len(node.Flags) > 0 {
		b.WriteString("\nFlags:\n")
	}
	for _, f := range node.Flags {
		b.WriteString("  " + flagUsage(f) + "\n" + console.Wrap("      "+f.Help+"\n", width, 0))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// usage returns how a command is called.
func usage(node *kong.Node) string {
	words := []string{node.FullPath()}
	if len(node.Flags) > 0 {
		words = append(words, "[flags]")
	}
	if len(node.Children) > 0 {
		words = append(words, "<command>")
	}
	for _, p := range node.Positional {
		words = append(words, p.Summary())
	}
	return strings.Join(words, " ")
}

// flagUsage returns a flag with its placeholder: "-device=cuda|cpu".
func flagUsage(f *kong.Flag) string {
	if f.IsBool() {
		return "-" + f.Name
	}
	return "-" + f.Name + "=" + f.FormatPlaceHolder()
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
