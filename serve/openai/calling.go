package openai

import (
	"cmp"
	"encoding/json"

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

// apply sets the functions of a question.
func (c *calling) apply(q *gate.Question) error {
	if len(c.Functions) > 0 {
		return gate.Unsupported("functions")
	}
	list := make([]gate.Function, len(c.Tools))
	for i, t := range c.Tools {
		if t.Type != "function" {
			return gate.Invalid("tools", "tool %d has the type %q; only functions are supported", i, t.Type)
		}
		list[i] = t.Function
	}
	if err := gate.CheckFunctions("tools", list); err != nil {
		return err
	}
	return c.choose(q, list)
}

// choose sets the functions of a question to those of a list that tool_choice allows.
func (c *choosing) choose(q *gate.Question, list []gate.Function) (err error) {
	q.Functions, q.Single = nil, c.single()
	choice := "auto"
	if len(c.Choice) > 0 && string(c.Choice) != "null" && json.Unmarshal(c.Choice, &choice) != nil {
		return c.name(q, list)
	}
	switch choice {
	case "none":
	case "auto":
		q.Functions = list
	case "required":
		q.Functions, q.Forced = list, true
	default:
		return gate.Invalid("tool_choice", "%q is not none, auto or required", choice)
	}
	return nil
}

// name sets the functions of a question to the one that tool_choice names.
func (c *choosing) name(q *gate.Question, list []gate.Function) (err error) {
	var choice struct {
		Type     string `json:"type"`
		Name     string `json:"name"` // in the protocol of responses
		Function struct {
			Name string `json:"name"`
		} `json:"function"` // in that of chats
	}
	if json.Unmarshal(c.Choice, &choice) != nil || choice.Type != "function" {
		return gate.Invalid("tool_choice", "neither a text nor a function")
	}
	q.Forced = true
	q.Functions, err = gate.Only("tool_choice", list, cmp.Or(choice.Function.Name, choice.Name))
	return err
}

// single reports whether the answer may have only one call.
func (c *choosing) single() bool { return c.Parallel != nil && !*c.Parallel }
