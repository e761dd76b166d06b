package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
)

// dashes returns the arguments with two dashes before long flags that have one, as
// the go command's flags do. It leaves alone what is after "--", and puts a "--" before
// arguments that the command hands on. Go files after one of the same package are dropped.
func dashes(app *kong.Application, args []string) []string {
	args = slices.Clone(args)
	node := app.Node
	positional := 0
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return args
		case handsOn(node, positional) && build.SamePackage(args[i-1], arg):
			args = slices.Delete(args, i, i+1)
			i--
			continue
		case handsOn(node, positional):
			return slices.Insert(args, i, "--")
		case !strings.HasPrefix(arg, "-"):
			if child := command(node, arg); child != nil {
				node = child
			} else {
				positional++
			}
			continue
		case len(arg) > 2 && arg[1] != '-':
			args[i] = "-" + arg
		}
		if name, _, ok := strings.Cut(strings.TrimLeft(arg, "-"), "="); !ok && takesValue(node, name) {
			i++
		}
	}
	return args
}

// handsOn reports whether the command's next positional argument takes the rest of the line.
func handsOn(node *kong.Node, positional int) bool {
	return positional < len(node.Positional) && node.Positional[positional].Passthrough
}

func command(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

func takesValue(node *kong.Node, name string) bool {
	for _, flag := range node.Flags {
		if flag.Name == name {
			return !flag.IsBool()
		}
	}
	return false
}
