package gate

import "encoding/json"

// Variables are variables of a chat template: any JSON values. Their objects keep the order of their keys, and their integers are integers.
type Variables map[string]json.RawMessage

// Values returns the variables for chat.Options.
func (v Variables) Values() map[string]any {
	values := map[string]any{}
	for name, value := range v {
		values[name] = value
	}
	return values
}
