package gate

import "encoding/json"

// Variables are variables of a chat template: any JSON values. Objects keep the order of their keys, and integers do not become
// floating-point numbers.
type Variables map[string]json.RawMessage

// Values returns the variables for chat.Options.
func (v Variables) Values() map[string]any {
	values := map[string]any{}
	for name, value := range v {
		values[name] = value
	}
	return values
}
