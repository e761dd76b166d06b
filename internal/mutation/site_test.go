package mutation_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/mutation"
)

func TestSites(t *testing.T) {
	source := []byte("package p\n\nfunc f(a int) bool {\n\tif a < 3 {\n\t\ta = 1\n\t}\n\tg()\n\treturn !(a == 2) && true\n}\n")
	sites, err := mutation.Sites("p.go", source)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sites {
		lines := strings.Split(string(s.Apply(source)), "\n")
		got = append(got, strings.TrimSpace(s.What+": "+strings.TrimSpace(lines[s.Line-1])))
	}
	want := []string{
		"negated condition: if !(a < 3) {", "< becomes <=: if a <= 3 {", "3 becomes 4: if a < 4 {",
		"without a = 1:", "1 becomes 2: a = 2", "without g():", "&& becomes ||: return !(a == 2) || true",
		"! dropped: return (a == 2) && true", "== becomes !=: return !(a != 2) && true", "2 becomes 3: return !(a == 3) && true",
		"true becomes false: return !(a == 2) && false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
