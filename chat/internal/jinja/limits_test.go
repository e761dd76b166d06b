package jinja_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/chat/internal/jinja"
)

// wide returns variables that have more than half of what their limits allow: a string of 36 MB, and a list.
func wide() map[string]jinja.Value {
	return map[string]jinja.Value{"b": strings.Repeat("abcdefgh", 4500000), "l": jinja.NewList(make([]jinja.Value, 4000000)...)}
}

// These statements allocate nothing, but count as 950 MiB and as 15.9 million steps. Operations that count little come after them.
const (
	nearBytes = "{% for x in range(27) %}{% set c = b.replace('z', '') %}{% endfor %}"
	nearSteps = "{% for x in range(113) %}{% if b == b %}{% endif %}{% endfor %}"
)

// Each operation that can allocate much fails before it does, with an error that names the limit.
func TestLimits(t *testing.T) {
	const (
		value     = "a value of the template has more than 67108864 bytes"
		elements  = "a list of the template has more than 4194304 elements"
		allocated = "the template allocates more than 1073741824 bytes"
		steps     = "the template takes more than 16777216 steps"
		nested    = "nested more than"
	)
	vars := wide()
	for _, source := range []string{nearBytes, nearSteps} {
		if err := renderWith(source, vars); err != nil {
			t.Fatal(err)
		}
	}
	for source, want := range map[string]string{
		"{{ 'a' * 10000000000 }}":                    value,
		"{{ 9223372036854775807 * 'ab' }}":           value,
		"{{ [1, 2] * 1000000000000 }}":               elements,
		"{{ (1,) * 1000000000000 }}":                 elements,
		"{{ b + b }}":                                value,
		"{{ b ~ b }}":                                value,
		"{{ [b, b] | join }}":                        value,
		"{{ '-'.join([b, b]) }}":                     value,
		"{{ 'aa' | replace('a', b) }}":               value,
		"{{ 'aa'.replace('', b) }}":                  value,
		"{{ '%s%s' % (b, b) }}":                      value,
		"{{ '{}{}'.format(b, b) }}":                  value,
		"{{ [b, b] }}":                               value,
		"{{ [b, b] | tojson }}":                      value,
		"{{ b | escape }}":                           value,
		"{{ b | list }}":                             value,
		"{{ b[::-1] }}":                              value,
		"{{ 'a\nb' | indent(b ~ 'aaaaaa') }}{{ b }}": "prints more than 67108864 bytes",
		nearBytes + "{% for x in range(4) %}{% set c = 'a' ~ b %}{% endfor %}": allocated,
		"{% for x in range(1000) %}{% if b == b %}{% endif %}{% endfor %}":     steps,
		"{{ 'a\nb' | indent(1000000000) }}":                                    value,
		"{{ 'a' | center(1000000000) }}":                                       value,
		"{{ 'a'.ljust(1000000000) }}":                                          value,
		"{{ 'a'.zfill(10000000000) }}":                                         value,
		"{{ '%1000000000d' % 1 }}":                                             value,
		"{{ '%99999999999999999999s' % 1 }}":                                   value,
		"{{ '{:>1000000000}'.format(1) }}":                                     value,
		"{{ l + l }}":                                                          elements,
		"{{ l.extend(l) }}":                                                    elements,
		nearSteps + "{{ l | list | length }}":                                  steps,
		nearSteps + "{{ ([1] * 250000) | batch(1) | length }}":                 steps,
		"{{ [1] | batch(100000000, 0) }}":                                      elements,
		"{{ [1] | slice(100000000) }}":                                         elements,
		"{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}":                                                                    elements,
		nearSteps + "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}": steps,
		"{% set l = [1] %}{{ l.append(l) }}{{ l }}":                                                                               nested,
		"{% set l = [1] %}{{ l.append(l) }}{{ l | tojson }}":                                                                      nested,
		"{% set l = [1] %}{{ l.append(l) }}{% set m = [1] %}{{ m.append(m) }}{{ l == m }}":                                        nested,
		"{% set l = [1] %}{{ l.append(l) }}{% set m = [1] %}{{ m.append(m) }}{{ l < m }}":                                         nested,
		"{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}":                                                                   nested,
		"{% set l = [1] %}{% for x in l %}{{ l.append(1) }}{% endfor %}{% for x in [[0]] recursive %}{{ loop([x]) }}{% endfor %}": "call themselves more than 1000 deep",
		"{{ " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + " }}":                                               nested,
		"{{ " + strings.Repeat("not ", 1000) + "1 }}":                                                                             nested,
		"{{ " + strings.Repeat("-", 1000) + "1 }}":                                                                                nested,
		"{{ 1" + strings.Repeat(" if 1 else 1", 1000) + " }}":                                                                     nested,
		"{{ 1" + strings.Repeat(" + 1", 100000) + " }}":                                                                           nested,
		strings.Repeat("{% if 1 %}", 1000) + strings.Repeat("{% endif %}", 1000):                                                  nested,
		"{% set " + strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000) + " = 1 %}":                                       nested,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		err := renderWith(source, vars)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.150s: got %v, want %q", source, err, want)
		}
		if took, bytes := time.Since(began), after.TotalAlloc-before.TotalAlloc; took > time.Minute || bytes > 5<<29 {
			t.Errorf("%.150s: took %v and %d MiB", source, took, bytes>>20)
		}
	}
}

// renderWith returns the error of a template with variables.
func renderWith(source string, vars map[string]jinja.Value) error {
	t, err := jinja.Compile(source)
	if err == nil {
		_, err = t.Render(vars, nil)
	}
	return err
}

// A run ends when its interrupt says so.
func TestInterrupt(t *testing.T) {
	tmpl, err := jinja.Compile("{% set b = 'a' * 60000000 %}{% for x in range(1000) %}{{ 'z' in b }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	calls := 0
	_, err = tmpl.Render(nil, func() error {
		if calls++; calls == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// No template makes the package panic, or print more than its limit, and a text without tags stays the same.
func FuzzTemplate(f *testing.F) {
	seeds := []string{"a {{ b }} c", "{%- if x -%}\n{% endif +%}", "{# #}{{ '}}' }}", "{% raw %}{{{% endraw %}", "{{", "{%-", "{#-#}", "{%raw"}
	for _, s := range append(seeds, sources(f)...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		tmpl, err := jinja.Compile(source)
		if err != nil {
			return
		}
		began := time.Now()
		text, err := tmpl.Render(variables(), func() error {
			if time.Since(began) > time.Second {
				return errors.New("too long")
			}
			return nil
		})
		if len(text) > 1<<26 || err != nil && text != "" {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		if want := strings.TrimSuffix(source, "\n"); !strings.ContainsAny(source, "{\r") && text != want {
			t.Errorf("%q renders as %q, %v", source, text, err)
		}
	})
}
