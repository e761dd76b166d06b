package jinja_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat/internal/jinja"
)

var update = flag.Bool("update", false, "write jinja2's renders to testdata/renders.json")

// sources returns the templates of testdata. Each expression is printed as one template.
func sources(t testing.TB) (list []string) {
	t.Helper()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(data), "\n")
	}
	for line := range strings.Lines(read("expressions.txt")) {
		list = append(list, "{{ "+strings.TrimSuffix(line, "\n")+" }}")
	}
	return append(list, strings.Split(read("templates.txt"), "\n---\n")...)
}

func variables() map[string]jinja.Value {
	dict := jinja.NewDict()
	dict.Set("a", int64(1))
	dict.Set("b", int64(2))
	return map[string]jinja.Value{"s": "hello", "list": jinja.NewList(int64(1), int64(2), int64(3)), "dict": dict, "none_list": jinja.NewList()}
}

func render(source string) (string, error) {
	t, err := jinja.Compile(source)
	if err != nil {
		return "", err
	}
	return t.Render(variables(), nil)
}

// judged returns what jinja2 makes of templates; null is an error.
func judged(t *testing.T, list []string) (renders []*string) {
	t.Helper()
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3"), filepath.Join("testdata", "judge.py"))
	c.Stdin, c.Stderr = bytes.NewReader(in), os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &renders)
	}
	if err != nil {
		t.Fatal(err)
	}
	return renders
}

// TestRenders compares renders with those of jinja2 3.1.
func TestRenders(t *testing.T) {
	list := sources(t)
	path := filepath.Join("testdata", "renders.json")
	if *update {
		data, err := json.MarshalIndent(judged(t, list), "", "")
		if err == nil {
			err = os.WriteFile(path, append(data, '\n'), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var want []*string
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil || len(want) != len(list) {
		t.Fatalf("%d renders of %d templates, %v", len(want), len(list), err)
	}
	for i, source := range list {
		got, err := render(source)
		switch {
		case want[i] == nil && err == nil:
			t.Errorf("%s: got %q, want an error", source, got)
		case want[i] != nil && (err != nil || got != *want[i]):
			t.Errorf("%s:\n got %q, %v\nwant %q", source, got, err, *want[i])
		}
	}
}

// Templates may change lists and dictionaries, which the Python package transformers does not allow.
func TestChanges(t *testing.T) {
	const source = "{% set l = [1] %}{{ l.append(2) }}{{ l.insert(0, 0) }}{{ l.extend([3, 4]) }}{{ l.pop() }}{{ l.pop(0) }}{{ l }}" +
		"{% set d = {'a': 1} %}{{ d.update({'b': 2}, c=3) }}{{ d.pop('a') }}{{ d.pop('z', 9) }}{{ d.setdefault('e', 5) }}{{ d.setdefault('e', 6) }}{{ d }}"
	const want = "NoneNoneNone40[1, 2, 3]None1955{'b': 2, 'c': 3, 'e': 5}"
	if got, err := render(source); got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// An error names the line of its statement.
func TestLines(t *testing.T) {
	for source, want := range map[string]string{
		"a\n{{ 1 }}\n{{ x.y }}": `line 3: "x" is undefined`,
		"{# a\nb #}\n{% raw %}\n{% endraw %}\n{% set a = 1 / 0 %}": "line 5: division by zero",
		"{{ 'a\nb' }}\n{% if %}":                                   `line 3: unexpected "%}"`,
		"{{ 1 }}\n{% for x in y %}":                                "line 2: the statement for has no endfor",
	} {
		if _, err := render(source); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", source, err, want)
		}
	}
}

func Example() {
	t, err := jinja.Compile("{% for x in list %}{{ x | upper }},{% endfor %}")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := t.Render(map[string]jinja.Value{"list": jinja.NewList("a", "b")}, nil)
	fmt.Println(text, err)
	// Output: A,B, <nil>
}
