package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
)

// nearSteps counts as 16.4 million steps. An operation that takes 500,000 more comes after it.
const nearSteps = `{% set b = 'a' * 6000000 %}{% for x in range(700) %}{% if b == b %}{% endif %}{% endfor %}`

// A template from another person cannot make a program compute for ever, nor take all memory.
func TestLimits(t *testing.T) {
	for source, want := range map[string]string{
		`{% for x in range(100000000000) %}a{% endfor %}`:                                                                          "range has more than 4194304 elements",
		nearSteps + `{% set y = range(500000) %}`:                                                                                  "more than 16777216 steps",
		`{% for x in range(0, -100000000000, -1) %}a{% endfor %}`:                                                                  "range has more than 4194304 elements",
		`{% for x in range(3) %}` + strings.Repeat("long text ", 3000000) + `{% endfor %}`:                                         "prints more than 67108864 bytes",
		`{% set ns = namespace(x="aaaaaaaaaaaaaaaa") %}{% for x in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}`: "a value of the template has more than 67108864 bytes",
		`{% set x = messages[0].content * 100000000 %}{{ x }}`:                                                                     "a value of the template has more than 67108864 bytes",
		`{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}`:                                                                       "macros of the template call each other more than 1000 deep",
		`{{ 'a' * 10000000000 }}`:                                                                                                  "a value of the template has more than 67108864 bytes",
		`{{ range() }}`:                                                                                                            "range needs",
		`{{ range(1, 2, 0) }}`:                                                                                                     "the step of range is 0",
	} {
		tmpl, err := chat.New(source, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = tmpl.Render([]chat.Message{{Role: "user", Content: "1"}}, chat.Options{})
		if !errors.Is(err, chat.ErrTemplate) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", source, err, want)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%.60s: took %v", source, took)
		}
	}
}

// Loops, macros, variables and range work as without limits.
func TestWithinLimits(t *testing.T) {
	for source, want := range map[string]string{
		`{% for x in range(3) %}{{ x }},{% endfor %}{{ range(5, 0, -2) }}{{ range(2, 4)|length }}{{ range(3, 1) }}{{ range(-9223372036854775807, 9223372036854775807, 9223372036854775807) }}`: "0,1,2,[5, 3, 1]2[][-9223372036854775807, 0]",
		`{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}`:                                                                                               "321",
		`{%- macro g() -%} a {%- endmacro -%}{% for x in range(2000) %}{% set y = g() %}{% endfor %}{{ g() }}`:                                                                                 "a",
		`{% set x = 1 if false else "b=c" %}{% set y %}[{{ x }}]{% endset %}{{ y }}`:                                                                                                           "[b=c]",
		`{% set x = "a" == "a" and "b" != "c" %}{{ x }}`:                                                                                                                                       "True",
		nearSteps: "",
	} {
		tmpl, err := chat.New(source, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render([]chat.Message{{Role: "user"}}, chat.Options{}); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", source, got, err, want)
		}
	}
}

// A template ends when its request does.
func TestInterrupt(t *testing.T) {
	tmpl, err := chat.New(`{% for x in range(4000) %}{% for x in range(4000) %}{% endfor %}{% endfor %}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	_, err = tmpl.Render([]chat.Message{{Role: "user"}}, chat.Options{Interrupt: func() error {
		if calls++; calls == 3 {
			return context.Canceled
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}
