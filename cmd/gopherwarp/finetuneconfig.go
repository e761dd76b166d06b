package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// readConfig reads a configuration file. The error names the lines of all mistakes.
func readConfig(name string, to *finetune.Config) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	root, values := document.Content[0], configValues(to)
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: want keys and values, such as lr: 2e-4", name, root.Line)
	}
	var errs []error
	lines := map[string]int{}
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
