package gate

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
)

// Function is a function that a model may call.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // a JSON Schema, whose keys keep their order
}

// functions is the largest number of functions of a request, as in OpenAI's API.
const functions = 128

// nameOfFunction matches the names of functions.
var nameOfFunction = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// CheckFunctions checks the functions of a request. param is the name of the request's field. The error is a Failure.
func CheckFunctions(param string, list []Function) error {
	if len(list) > functions {
		return Invalid(param, "%d functions, at most %d are allowed", len(list), functions)
	}
	for i, f := range list {
		if !nameOfFunction.MatchString(f.Name) {
			return Invalid(param, "function %d has the name %q; a name has 1 to 64 letters, digits and _.-", i, f.Name)
		}
		var schema map[string]json.RawMessage
		if len(f.Parameters) > 0 && json.Unmarshal(f.Parameters, &schema) != nil {
			return Invalid(param, "the parameters of function %q are not a JSON object", f.Name)
		}
	}
	return nil
}

// tools returns functions in the form of chat templates, and their names.
func tools(list []Function) (described []json.RawMessage, names []string, err error) {
	for _, f := range list {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // the model reads it
		err := e.Encode(struct {
			Type     string   `json:"type"`
			Function Function `json:"function"`
		}{"function", f})
		if err != nil {
			return nil, nil, Failure{Status: http.StatusBadRequest, Param: "tools", Message: err.Error()}
		}
		described, names = append(described, bytes.TrimSpace(text.Bytes())), append(names, f.Name)
	}
	return described, names, nil
}

// Arguments converts text, the arguments of a function call in JSON, for chat.ToolCall. If text is empty, Arguments returns an empty object. It does
// not check the JSON.
func Arguments(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}
