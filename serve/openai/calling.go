package openai

import (
	"encoding/json"
	"net/http"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// calling are the fields of a request with functions that the model may call.
type calling struct {
	Tools []struct {
		Type     string        `json:"type"`
		Function gate.Function `json:"function"`
	} `json:"tools"`
	choosing
	Functions []json.RawMessage `json:"functions"` // the form of 2023
}

// choosing are the fields that say which functions the model calls.
type choosing struct {
	Choice   json.RawMessage `json:"tool_choice"`
	Parallel *bool           `json:"parallel_tool_calls"`
}

// functions returns the functions that the model may call.
func (c *calling) functions() ([]gate.Function, error) {
	if len(c.Functions) > 0 {
		return nil, gate.Unsupported("functions")
	}
	list := make([]gate.Function, len(c.Tools))
	for i, t := range c.Tools {
		if t.Type != "function" {
			return nil, gate.Invalid("tools", "tool %d has the type %q; only functions are supported", i, t.Type)
		}
		list[i] = t.Function
	}
	if err := gate.CheckFunctions("tools", list); err != nil {
		return nil, err
	}
	return c.choose(list)
}

// choose returns the functions that tool_choice allows.
func (c *choosing) choose(list []gate.Function) ([]gate.Function, error) {
	if len(c.Choice) == 0 || string(c.Choice) == "null" {
		return list, nil
	}
	var choice string
	if json.Unmarshal(c.Choice, &choice) != nil {
		choice = "a function"
	}
	switch choice {
	case "none":
		return nil, nil
	case "auto":
		return list, nil
	case "required", "a function":
		return nil, gate.Failure{
			Status: http.StatusBadRequest, Param: "tool_choice", Code: "unsupported_parameter",
			Message: "tool_choice: the model cannot be forced to call a function; only auto and none are supported",
		}
	}
	return nil, gate.Invalid("tool_choice", "%q is not none, auto or required", choice)
}

// single reports whether the answer may have only one call.
func (c *choosing) single() bool { return c.Parallel != nil && !*c.Parallel }
