package compile_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// TestSpacedDirective demands an error for a comment that would be a directive without its space, also in a package without
// kernels. Sentences, and comments elsewhere, are no such comments.
func TestSpacedDirective(t *testing.T) {
	const header = "package k\n\nimport \"github.com/gopherwarp/gopherwarp/gpu\"\n\n"
	cases := []struct {
		source string
		line   int
		text   string
	}{
		{header + "// gpu:kernel\nfunc f(t gpu.Thread, x []int32) { x[t.GlobalX()] = 1 }\n", 5, `"// gpu:kernel" is not a directive`},
		{header + "// f fills x.\n//\n// gpu:block 64\n//\n//gpu:kernel\nfunc f(t gpu.Thread, x []int32) { x[t.GlobalX()] = 1 }\n", 7, `"// gpu:block 64" is not a directive`},
		{header + "//gpu:kernel\nfunc f(t gpu.Thread, x []int32) {\n\t// gpu:unroll 2\n\tfor i := range x {\n\t\tx[i]++\n\t}\n}\n", 7, `"// gpu:unroll 2" is not a directive`},
		{"// gpu:ondemand\n" + header + "//gpu:kernel\nfunc f(t gpu.Thread, x []int32) {}\n", 1, `"// gpu:ondemand" is not a directive`},
		{header + "// gpu:kernel marks kernels.\n// gpu: block\n//\tgpu:kernel\nfunc f(t gpu.Thread) {}\n\n// gpu:kernel\nvar x gpu.Thread\n", 0, ""},
	}
	archives := map[string]*txtar.Archive{}
	for i, c := range cases {
		archives[fmt.Sprint(i)] = &txtar.Archive{Files: []txtar.File{{Name: "k.go", Data: []byte(c.source)}}}
	}
	result, err := compile.Build(t.Context(), compile.Options{Dir: module(t, archives), Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]diag.List{}
	for _, d := range result.Diagnostics {
		folder := filepath.Base(filepath.Dir(d.Pos.Filename))
		found[folder] = append(found[folder], d)
	}
	for i, c := range cases {
		list := found[fmt.Sprint(i)]
		delete(found, fmt.Sprint(i))
		switch {
		case c.text == "" && len(list) == 0:
		case len(list) != 1 || list[0].Code != diag.DirectiveUnknown || list[0].Pos.Line != c.line || !strings.HasPrefix(list[0].Message, c.text):
			t.Errorf("%s\ngot %v, want %q in line %d", c.source, list, c.text, c.line)
		}
	}
	if len(found) > 0 {
		t.Errorf("elsewhere: %v", found)
	}
}
