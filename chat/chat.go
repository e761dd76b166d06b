package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat/internal/jinja"
)

// The errors of this package wrap one of these.
var (
	// ErrTemplate is the error of a template that is missing, cannot be compiled, or fails.
	ErrTemplate = errors.New("chat: template")
	// ErrMessage is the error of a conversation without messages, of invalid JSON in Options.Tools or
	// ToolCall.Arguments, and of an invalid value in Options.Variables.
	ErrMessage = errors.New("chat: message")
	// ErrRefused is the error of a conversation that a template refuses with raise_exception, for
	// example because roles do not alternate. The text of the error contains the template's reason.
	ErrRefused = errors.New("chat: the template refused the conversation")
)

// Message is one turn of a conversation.
type Message struct {
	Role    string // system, user, assistant, tool, or another role that the template supports
	Content string
	// ToolCalls are the calls that an assistant's message makes.
	ToolCalls []ToolCall
	// ToolCallID and Name identify the call that a tool's message answers.
	ToolCallID, Name string
	// Reasoning is the assistant's reasoning before its answer. Few templates use it; its name in templates is reasoning_content.
	Reasoning string
}

// ToolCall is a function call.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage // an object; the order of its keys is kept
}

// Options say how to render a conversation.
type Options struct {
	// Tools describes the functions that the model may call: JSON objects in the
	// form of OpenAI's API, {"type": "function", "function": {...}}.
	Tools []json.RawMessage
	// Generate appends the start of an assistant's message to the text.
	Generate bool
	// Variables are further variables of the template, such as enable_thinking. Values are nil, bool, int, float64, string, json.RawMessage, or []any
	// or map[string]any of these. Templates see the keys of a map in sorted order.
	Variables map[string]any
	// Now is the current time for templates. The zero value means the time of the call.
	Now time.Time
	// Interrupt, unless it is nil, is called from time to time while the template runs. If it returns an error, Render stops and returns an error
	// that wraps this error.
	Interrupt func() error
}

// Template is a model's chat template. It is immutable and safe for concurrent
// use.
type Template struct {
	main, tools *jinja.Template // tools, if not nil, is for conversations with tools
	special     map[string]string
	calls       bool // the template renders tools and calls
}

// New returns a template with the given source. The map special contains the texts of the special
// tokens that the template may name, such as bos_token and eos_token.
func New(source string, special map[string]string) (*Template, error) {
	t, err := compile(source)
	if err != nil {
		return nil, err
	}
	return &Template{main: t, special: maps.Clone(special), calls: strings.Contains(source, "tools")}, nil
}

func compile(source string) (*jinja.Template, error) {
	t, err := jinja.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	return t, nil
}

// Render returns the text of a conversation of at least one message. If the template refuses the conversation, the error wraps ErrRefused; other
// errors wrap ErrMessage or ErrTemplate. A template fails if it takes more than 2^24 steps, allocates more than 1 GiB in all, prints more than 64
// MiB, or makes a value of more than 64 MiB or 2^22 elements.
func (t *Template) Render(messages []Message, o Options) (string, error) {
	if len(messages) == 0 {
		return "", fmt.Errorf("%w: the conversation has none", ErrMessage)
	}
	vars, err := variables(messages, o)
	if err != nil {
		return "", err
	}
	for name, token := range t.special {
		vars[name] = token
	}
	for name, v := range o.Variables {
		if vars[name], err = valueOf(v); err != nil {
			return "", fmt.Errorf("%w: variable %q: %w", ErrMessage, name, err)
		}
	}
	tmpl := t.main
	if t.tools != nil && len(o.Tools) > 0 {
		tmpl = t.tools
	}
	text, err := tmpl.Render(vars, o.Interrupt)
	if err != nil && !errors.Is(err, ErrRefused) {
		err = fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	return text, err
}

// variables returns the variables and functions of a template.
func variables(messages []Message, o Options) (map[string]jinja.Value, error) {
	list := make([]jinja.Value, len(messages))
	for i, m := range messages {
		v, err := m.value()
		if err != nil {
			return nil, fmt.Errorf("%w %d: %w", ErrMessage, i, err)
		}
		list[i] = v
	}
	now := o.Now
	if now.IsZero() {
		now = time.Now()
	}
	vars := map[string]jinja.Value{
		"messages":              jinja.NewList(list...),
		"tools":                 nil,
		"documents":             nil,
		"add_generation_prompt": o.Generate,
		"raise_exception":       jinja.Func(refuse),
		"strftime_now":          clock(now),
	}
	if len(o.Tools) > 0 {
		tools := make([]jinja.Value, len(o.Tools))
		for i, raw := range o.Tools {
			v, err := parseJSON(raw)
			if err != nil {
				return nil, fmt.Errorf("%w: tool %d: %w", ErrMessage, i, err)
			}
			tools[i] = v
		}
		vars["tools"] = jinja.NewList(tools...)
	}
	return vars, nil
}

// value returns the message as templates see it: without the keys that it does
// not use.
func (m Message) value() (jinja.Value, error) {
	d := jinja.NewDict()
	set := func(key, s string) {
		if s != "" {
			d.Set(key, s)
		}
	}
	d.Set("role", m.Role)
	d.Set("content", m.Content)
	set("reasoning_content", m.Reasoning)
	set("tool_call_id", m.ToolCallID)
	set("name", m.Name)
	if len(m.ToolCalls) == 0 {
		return d, nil
	}
	calls := make([]jinja.Value, len(m.ToolCalls))
	for i, c := range m.ToolCalls {
		args, err := parseJSON(c.Arguments)
		if err != nil {
			return d, fmt.Errorf("the arguments of tool call %d: %w", i, err)
		}
		function, call := jinja.NewDict(), jinja.NewDict()
		function.Set("name", c.Name)
		function.Set("arguments", args)
		call.Set("type", "function")
		if c.ID != "" {
			call.Set("id", c.ID)
		}
		call.Set("function", function)
		calls[i] = call
	}
	d.Set("tool_calls", jinja.NewList(calls...))
	return d, nil
}

// refuse is the function raise_exception.
func refuse(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	reason := ""
	if len(args) > 0 {
		reason, _ = args[0].(string)
	}
	return nil, fmt.Errorf("%w: %s", ErrRefused, reason)
}
