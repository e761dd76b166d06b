package commandline

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Command is a program, or a subcommand.
type Command struct {
	Name   string
	Help   string // a sentence
	Detail string // the text of the help page

	Children []*Command
	Flags    []*Flag
	Args     []*Arg // positional

	Parent *Command      // nil for the program itself
	target reflect.Value // the struct
	given  *Given        // its field of this type, or nil
}

// Given maps the names of flags to their values. It contains only the flags that are set on the command line or in the environment. In a field of
// this type, a command finds whether a flag was set, even if to its default value.
type Given map[string]any

// Flag is a flag of a command.
type Flag struct {
	Name string
	Help string

	value
	short       string
	placeholder string
	env         string
	xor         string
	enum        []string
	required    bool
	set         bool // by the command line or the environment
}

// Arg is a positional argument of a command.
type Arg struct {
	Name string
	Help string

	value
	optional bool
	rest     bool // takes the rest of the line
}

// New returns the command of a program, whose subcommands and flags are the fields of the struct that target points to. It sets
// the fields to their default values. It panics if the fields or their tags are not as the package describes.
func New(name, help string, target any) *Command {
	c := &Command{Name: name, Help: help, target: reflect.ValueOf(target).Elem()}
	c.fields(c.target)
	return c
}

// Target returns a pointer to the command's struct.
func (c *Command) Target() any { return c.target.Addr().Interface() }

// Path returns the names of the program and the commands that lead to c.
func (c *Command) Path() string {
	if c.Parent == nil {
		return c.Name
	}
	return c.Parent.Path() + " " + c.Name
}

// IsBool reports whether the flag needs no value.
func (f *Flag) IsBool() bool { return f.isBool() }

// Placeholder returns what stands for the flag's value in a help page.
func (f *Flag) Placeholder() string {
	text := f.placeholder
	if text == "" {
		text = strings.ToUpper(f.Name)
	}
	if f.isSlice() && f.sep != "" {
		text += f.sep + "..."
	}
	return text
}

// Summary returns the argument as help pages show it.
func (a *Arg) Summary() string {
	text := "<" + a.Name + ">"
	if a.isSlice() {
		text += " ..."
	}
	if a.optional {
		text = "[" + text + "]"
	}
	return text
}

// fields adds what the fields of a struct describe.
func (c *Command) fields(s reflect.Value) {
	for i := range s.NumField() {
		f, v := s.Type().Field(i), s.Field(i)
		switch {
		case has(f, "embed") || f.Anonymous && f.Type.Kind() == reflect.Struct:
			c.fields(v)
		case !f.IsExported():
		case f.Type == reflect.TypeFor[Given]():
			c.given = v.Addr().Interface().(*Given)
		case has(f, "cmd"):
			c.child(f, v)
		case has(f, "arg"):
			a := &Arg{Name: nameOf(f), Help: f.Tag.Get("help"), value: newValue(f, v), optional: has(f, "optional"), rest: has(f, "passthrough")}
			a.sep = "" // each argument is an element, whatever its text is
			c.Args = append(c.Args, a)
		default:
			c.Flags = append(c.Flags, newFlag(f, v))
		}
	}
}

// child adds a subcommand.
func (c *Command) child(f reflect.StructField, v reflect.Value) {
	child := &Command{Name: nameOf(f), Help: f.Tag.Get("help"), Parent: c, target: v}
	if h, ok := child.Target().(interface{ Help() string }); ok {
		child.Detail = h.Help()
	}
	child.fields(v)
	c.Children = append(c.Children, child)
}

func newFlag(f reflect.StructField, v reflect.Value) *Flag {
	flag := &Flag{
		Name: nameOf(f), Help: f.Tag.Get("help"), value: newValue(f, v),
		short: f.Tag.Get("short"), placeholder: f.Tag.Get("placeholder"), env: f.Tag.Get("env"), xor: f.Tag.Get("xor"),
		required: has(f, "required"),
	}
	if has(f, "enum") {
		flag.enum = strings.Split(f.Tag.Get("enum"), ",")
	}
	if flag.placeholder == "" {
		flag.placeholder = flag.usual
	}
	return flag
}

func has(f reflect.StructField, tag string) bool {
	_, ok := f.Tag.Lookup(tag)
	return ok
}

// nameOf returns the name of a field in the command line.
func nameOf(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	lower := false // the letter before
	for _, r := range f.Name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		lower = !unicode.IsUpper(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// newValue returns the value of a field, and gives it its default.
func newValue(f reflect.StructField, v reflect.Value) value {
	made := value{target: v.Addr().Interface(), sep: ","}
	if f.Tag.Get("sep") == "none" {
		made.sep = ""
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		if err := made.parse(text, true); err != nil {
			panic(fmt.Sprintf("BUG: the default of field %s is %v", f.Name, err))
		}
		made.usual = text
		if _, ok := made.target.(*string); ok {
			made.usual = fmt.Sprintf("%q", text)
		}
	}
	return made
}
