package chat

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Prompt is like Render with Options.Generate: it returns the text that a model continues with its answer. If the template does not support tools,
// Prompt describes the tools in the system message.
func (t *Template) Prompt(messages []Message, o Options) (string, error) {
	o.Generate = true
	if !t.calls {
		plain, err := written(messages)
		if err != nil {
			return "", err
		}
		if messages, err = described(plain, o.Tools); err != nil {
			return "", err
		}
		o.Tools = nil
	}
	return t.Render(messages, o)
}

// instructions precede and follow the descriptions of tools.
const (
	instructions = "You may call the following functions. To call one, answer only with a JSON object of this form, without any other text:\n" +
		`{"name": "the name of the function", "arguments": {"the name of an argument": "its value"}}` + "\nThe functions:\n"
	otherwise = "If no function helps, answer with text."
)

// described returns a conversation whose system message describes tools.
func described(messages []Message, tools []json.RawMessage) ([]Message, error) {
	if len(tools) == 0 || len(messages) == 0 {
		return messages, nil
	}
	var b strings.Builder
	b.WriteString(instructions)
	for i, tool := range tools {
		if !json.Valid(tool) {
			return nil, fmt.Errorf("%w: tool %d: %.60q is not valid JSON", ErrMessage, i, tool)
		}
		b.Write(tool)
		b.WriteByte('\n')
	}
	b.WriteString(otherwise)
	if first := messages[0]; first.Role == "system" {
		first.Content += "\n\n" + b.String()
		return append([]Message{first}, messages[1:]...), nil
	}
	return append([]Message{{Role: "system", Content: b.String()}}, messages...), nil
}

// written returns a conversation with its calls as texts of the assistant, and with their results as texts of the user.
func written(messages []Message) ([]Message, error) {
	var list []Message
	names := map[string]string{} // of the functions, by the ID of the call
	results := false             // the last message has results
	for i, m := range messages {
		switch {
		case len(m.ToolCalls) > 0:
			for _, c := range m.ToolCalls {
				if !json.Valid(c.Arguments) {
					return nil, fmt.Errorf("%w %d: the arguments of the call of %q are not valid JSON", ErrMessage, i, c.Name)
				}
				names[c.ID] = c.Name
				m.Content = strings.TrimLeft(fmt.Sprintf("%s\n{\"name\": %q, \"arguments\": %s}", m.Content, c.Name, c.Arguments), "\n")
			}
			m.ToolCalls = nil
		case m.Role == "tool":
			name := m.Name
			if name == "" {
				name = names[m.ToolCallID]
			}
			text := fmt.Sprintf("The result of %s: %s", name, m.Content)
			if results {
				list[len(list)-1].Content += "\n" + text
				continue
			}
			m = Message{Role: "user", Content: text}
			results = true
			list = append(list, m)
			continue
		}
		results = false
		list = append(list, m)
	}
	return list, nil
}
