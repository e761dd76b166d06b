package pass

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func TestOrder(t *testing.T) {
	for _, o := range order {
		before := slices.IndexFunc(pipeline, func(s step) bool { return s.name == o.before })
		after := slices.IndexFunc(pipeline, func(s step) bool { return s.name == o.after })
		if before < 0 || after < 0 || before > after {
			t.Errorf("%s (step %d) must run before %s (step %d): %s", o.before, before, o.after, after, o.reason)
		}
		if o.reason == "" {
			t.Errorf("%s before %s: no reason", o.before, o.after)
		}
	}
}

// TestSteps demands that a name always means the same pass, and that each has a case.
func TestSteps(t *testing.T) {
	required := map[string]bool{}
	for _, s := range pipeline {
		if r, ok := required[s.name]; ok && r != s.required {
			t.Errorf("%s is required in one place and not in another", s.name)
		}
		required[s.name] = s.required
	}
	if got := Passes(); len(got) != len(required) || got[0] != "inline" {
		t.Errorf("Passes() = %v", got)
	}
}

func TestDisable(t *testing.T) {
	m := generate(1)
	k := m.Func("random")
	for name, want := range map[string]string{"gvn": "", "inline": `pass "inline" is required`, "gnv": `there is no pass "gnv"`} {
		var ran []string
		_, err := Compile(k, Options{Disable: []string{name}, Dump: func(pass string, _ *ir.Func) { ran = append(ran, pass) }})
		if got := errorText(err); got != want {
			t.Errorf("disable %s: %q, want %q", name, got, want)
		}
		if err == nil && (slices.Contains(ran, name) || ran[0] != "") {
			t.Errorf("disable %s: ran %v", name, ran)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRecursion(t *testing.T) {
	m := parse(t, `
func f(%0 i64) -> i64 {
b0:
	%1 = call i64 @g %0
	ret %1
}
func g(%0 i64) -> i64 {
b0:
	%1 = call i64 @f %0
	ret %1
}
kernel k() bytes 16 {
b0:
	%1 = const i64 1
	%2 = call i64 @f %1
	ret
}
`)
	_, err := Compile(m.Func("k"), Options{})
	if got := errorText(err); !errors.Is(err, ErrRecursive) || !strings.Contains(got, "k: f calls itself") {
		t.Errorf("got %q", got)
	}
}

// TestCompileIsPure demands that neither module nor kernel change, and that the same input
// gives the same output.
func TestCompileIsPure(t *testing.T) {
	for seed := range uint64(20) {
		m := generate(seed)
		before := m.String()
		f, err := Compile(m.Func("random"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, _ := Compile(m.Func("random"), Options{})
		if m.String() != before {
			t.Fatalf("seed %d: the module changed", seed)
		}
		if f.String() != g.String() {
			t.Fatalf("seed %d: two runs differ", seed)
		}
	}
}
