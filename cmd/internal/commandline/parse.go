package commandline

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// ErrHelp means that the command line asks for the help of the command that Parse also returns.
var ErrHelp = errors.New("help is wanted")

// Parse stores what arguments say in the structs of the commands, and returns the command that they choose. Errors are about
// the command line, in words for its user.
func (c *Command) Parse(args []string) (*Command, error) {
	p := parser{command: c}
	for len(args) > 0 {
		n, err := p.next(args)
		if err != nil {
			return p.command, err
		}
		args = args[n:]
	}
	if p.help {
		return p.command, ErrHelp
	}
	return p.command, p.finish()
}

// parser is the state of Parse.
type parser struct {
	command *Command
	args    int  // how many positional arguments of the command have been given; slices are the last one
	given   bool // the argument after those has elements
	plain   bool // after "--"
	help    bool
}

// next parses the first of args, perhaps with others, and returns how many.
func (p *parser) next(args []string) (int, error) {
	arg := args[0]
	a := p.arg()
	switch {
	case a != nil && a.rest:
		*a.target.(*[]string) = args
		p.args++
		return len(args), nil
	case p.plain, len(arg) < 2, arg[0] != '-':
		return 1, p.positional(arg)
	case arg == "--":
		p.plain = true
		return 1, nil
	}
	return p.flag(arg, args[1:])
}

// arg returns the positional argument that comes next, or nil.
func (p *parser) arg() *Arg {
	if p.args < len(p.command.Args) {
		return p.command.Args[p.args]
	}
	return nil
}

func (p *parser) positional(text string) error {
	if a := p.arg(); a != nil {
		first := !p.given
		if a.isSlice() {
			p.given = true
		} else {
			p.args++
		}
		if err := a.parse(text, first); err != nil {
			return fmt.Errorf("<%s> is %w", a.Name, err)
		}
		return nil
	}
	if p.plain || len(p.command.Children) == 0 {
		return fmt.Errorf("unexpected argument %s", text)
	}
	i := slices.IndexFunc(p.command.Children, func(c *Command) bool { return c.Name == text })
	if i < 0 {
		return fmt.Errorf("unknown command %s%s", text, suggestion(text, commandNames(p.command.Children)))
	}
	p.command = p.command.Children[i]
	return nil
}

// flag parses a flag and its value, which may be the first of rest, and returns how many arguments they are.
func (p *parser) flag(arg string, rest []string) (int, error) {
	name, text, has := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	if name == "help" || name == "h" {
		p.help = true
		return 1, nil
	}
	i := slices.IndexFunc(p.command.Flags, func(f *Flag) bool { return f.Name == name || f.short == name })
	if i < 0 {
		return 0, fmt.Errorf("unknown flag -%s%s", name, suggestion("-"+name, flagNames(p.command.Flags)))
	}
	f, n := p.command.Flags[i], 1
	switch {
	case has:
	case f.isBool():
		text = "true"
	case len(rest) == 0:
		return 0, fmt.Errorf("-%s needs a value", f.Name)
	case looksLikeFlag(rest[0]):
		return 0, fmt.Errorf("-%s needs a value; perhaps -%s=%s is meant", f.Name, f.Name, rest[0])
	default:
		text, n = rest[0], 2
	}
	return n, f.store(text)
}

// looksLikeFlag reports whether an argument is a flag, and neither a negative number nor "-", which is often a file.
func looksLikeFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && (arg[1] == '-' || unicode.IsLetter(rune(arg[1])))
}

func (f *Flag) store(text string) error {
	if f.enum != nil && !slices.Contains(f.enum, text) {
		allowed := slices.DeleteFunc(slices.Clone(f.enum), func(s string) bool { return s == "" })
		return fmt.Errorf("-%s must be %s, but is %q", f.Name, strings.Join(allowed, " or "), text)
	}
	first := !f.set
	f.set = true
	if err := f.parse(text, first); err != nil {
		return fmt.Errorf("-%s is %w", f.Name, err)
	}
	return nil
}

// finish sets flags of the environment and returns an error if something is missing.
func (p *parser) finish() error {
	if err := p.flags(); err != nil {
		return err
	}
	var missing []string
	for _, a := range p.command.Args[min(p.args, len(p.command.Args)):] {
		if !a.optional && !p.given {
			missing = append(missing, a.Summary())
		}
	}
	switch {
	case missing != nil:
		return fmt.Errorf("expected %q", strings.Join(missing, " "))
	case len(p.command.Children) > 0:
		return fmt.Errorf("expected one of %s", names(p.command.Children))
	}
	return nil
}

// flags checks which flags are set, after those of the environment.
func (p *parser) flags() error {
	var missing []string
	exclusive := map[string]string{} // the flag that is set, of each xor
	for _, f := range p.command.Flags {
		if text, ok := os.LookupEnv(f.env); ok && f.env != "" && !f.set {
			if err := f.store(text); err != nil {
				return err
			}
		}
		if f.required && !f.set {
			missing = append(missing, "-"+f.Name+"="+f.Placeholder())
		}
		if !f.set || f.xor == "" {
			continue
		}
		if other := exclusive[f.xor]; other != "" {
			return fmt.Errorf("-%s and -%s can't be used together", other, f.Name)
		}
		exclusive[f.xor] = f.Name
	}
	p.tell()
	if missing != nil {
		return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
	}
	return nil
}

// tell stores the values of flags that are set in the command's field of the type Given.
func (p *parser) tell() {
	if p.command.given == nil {
		return
	}
	*p.command.given = Given{}
	for _, f := range p.command.Flags {
		if f.set {
			(*p.command.given)[f.Name] = reflect.ValueOf(f.target).Elem().Interface()
		}
	}
}

func names(commands []*Command) string {
	var quoted []string
	for _, name := range commandNames(commands) {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return strings.Join(quoted, ", ")
}

// commandNames returns the names of commands.
func commandNames(commands []*Command) (list []string) {
	for _, c := range commands {
		list = append(list, c.Name)
	}
	return list
}

// flagNames returns the names of flags, with a dash.
func flagNames(flags []*Flag) (list []string) {
	for _, f := range flags {
		list = append(list, "-"+f.Name)
	}
	return list
}
