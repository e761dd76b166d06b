package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/gopherwarp/gopherwarp/cmd/internal/commandline"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// readConfig reads a configuration file, and returns the keys that have values. The error names the lines of all mistakes.
func readConfig(name string, to *finetune.Config) (written map[string]bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	root, values := document.Content[0], configValues(to)
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: want keys and values, such as lr: 2e-4", name, root.Line)
	}
	var errs []error
	lines := map[string]int{}
	written = map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		to, known := values[key.Value]
		switch before := lines[key.Value]; {
		case !known:
			errs = append(errs, fmt.Errorf("%s:%d: there is no key %q; gopherwarp finetune -help lists all, as flags", name, key.Line, key.Value))
		case before > 0:
			errs = append(errs, fmt.Errorf("%s:%d: %s is also in line %d", name, key.Line, key.Value, before))
		case value.Decode(to.Addr().Interface()) != nil:
			errs = append(errs, fmt.Errorf("%s:%d: %s is %s; want %s", name, value.Line, key.Value, shown(value), kindOf(to.Kind())))
		}
		lines[key.Value] = key.Line
		written[key.Value] = value.ShortTag() != "!!null"
	}
	return written, errors.Join(errs...)
}

// override sets the values of flags that were given, also those that are zero, and then replaces zeros that differ from the defaults for which they
// stand in a Config: a clip of 0 is no limit, and others are an error. The keys in written have values in the configuration file.
func override(config *finetune.Config, given commandline.Given, written map[string]bool) error {
	values := configValues(config)
	for name, v := range given {
		if to, ok := values[name]; ok {
			to.Set(reflect.ValueOf(v))
		}
	}
	zero := func(name string) bool {
		_, ok := given[name]
		return (ok || written[name]) && values[name].IsZero()
	}
	var errs []error
	for _, name := range []string{"lr", "rank", "alpha", "beta", "epochs", "batch", "length", "keep"} {
		if zero(name) {
			errs = append(errs, fmt.Errorf("%s is 0; want a positive number, or no %s for the default", name, name))
		}
	}
	if zero("clip") {
		config.Clip = -1
	}
	return errors.Join(errs...)
}

// configValues returns the fields of a configuration by their keys.
func configValues(c *finetune.Config) map[string]reflect.Value {
	all, values := reflect.ValueOf(c).Elem(), map[string]reflect.Value{}
	for i := range all.NumField() {
		values[all.Type().Field(i).Tag.Get("yaml")] = all.Field(i)
	}
	return values
}

// shown returns a value for a message.
func shown(value *yaml.Node) string {
	switch value.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a list of keys"
	}
	return fmt.Sprintf("%q", value.Value)
}

// kindOf says in words what a field of a kind needs.
func kindOf(k reflect.Kind) string {
	switch k {
	case reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Uint64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list, such as [a, b]"
	}
	return "one value"
}
