package mutation_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
)

// most is how many mutations in a hundred changes of the compiler may have outdated.
const most = 5

// TestMutationsApply looks whether the compiler still has the texts of the mutations, each once, and whether what
// they become is Go.
func TestMutationsApply(t *testing.T) {
	list, err := mutation.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 100 {
		t.Errorf("%d mutations, want 100 at least", len(list))
	}
	names := map[string]bool{}
	stale := 0
	for _, m := range list {
		if names[m.Name] {
			t.Errorf("two mutations are called %q", m.Name)
		}
		names[m.Name] = true
		source, err := os.ReadFile(filepath.Join("..", "..", "..", m.File))
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := mutation.Switched(m.File, source, []mutation.Mutation{m})
		if err == nil {
			_, err = parser.ParseFile(token.NewFileSet(), m.File, text, 0)
		}
		if err != nil {
			stale++
			t.Log(err)
		}
	}
	if stale*100 > most*len(list) {
		t.Errorf("%d of %d mutations do not fit the compiler any more: change them in mutations.txt as the compiler has changed", stale, len(list))
	}
}

func TestSwitched(t *testing.T) {
	const source = `package p

func (r *T) f(_ int, a ...int) bool {
	if a[0] < 3 {
		r.g()
	}
	return true
}
`
	list := []mutation.Mutation{
		{Number: 3, File: "p.go", Func: "T.f", From: "a[0] < 3", To: "a[0] <= 3"},
		{Number: 7, File: "p.go", From: "r.g()", To: ""},
	}
	got, err := mutation.Switched("p.go", []byte(source), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"func (r *T) f(zp0 int, a ...int) bool { if zmutation == 3 { return r.fzmutation3(zp0, a...) };",
		"if zmutation == 7 { return r.fzmutation7(zp0, a...) };",
		"\tzreached(3);if a[0] < 3 {\n\t\tzreached(7);r.g()",
		"func (r *T) fzmutation3(_ int, a ...int) bool {\n\tif a[0] <= 3 {\n\t\tr.g()",
		"func (r *T) fzmutation7(_ int, a ...int) bool {\n\tif a[0] < 3 {\n\t\t\n\t}",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, err := mutation.Switched("p.go", []byte(source), []mutation.Mutation{{File: "p.go", From: "nothing", To: "x"}}); err == nil {
		t.Error("no error for a text that is not there")
	}
}
