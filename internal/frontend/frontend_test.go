package frontend_test

import (
	"flag"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestLower compares the IR of the Go file in each testdata/lower/*.txtar with the other
// file there.
func TestLower(t *testing.T) {
	w := theWorld()
	files, err := filepath.Glob("testdata/lower/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := lower(t, w, archive.Files[0]).String()
			if *update {
				archive.Files = append(archive.Files[:1:1], txtar.File{Name: "out.ir", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("IR differs (-want +got):\n%s", diff)
			}
		})
	}
}

// lower builds all kernels of a file, verifies what comes out and that its text parses back.
func lower(t *testing.T, w *world, file txtar.File) *ir.Module {
	t.Helper()
	kernels, _, err := w.kernels(file.Name, string(file.Data))
	if err != nil {
		t.Fatal(err)
	}
	m, found := frontend.Build(kernels)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	verify(t, m)
	return m
}

func verify(t *testing.T, m *ir.Module) {
	t.Helper()
	for _, f := range m.Funcs {
		if err := ir.Verify(f); err != nil {
			t.Errorf("%v\n%v", err, f)
		}
	}
	text := m.String()
	back, err := ir.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(text, back.String()); diff != "" {
		t.Errorf("text does not parse back (-want +got):\n%s", diff)
	}
}

// TestExamples lowers the kernels of the examples.
func TestExamples(t *testing.T) {
	w := theWorld()
	files, err := filepath.Glob("../../examples/*/kernel.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := lower(t, w, txtar.File{Name: file, Data: text})
		if len(m.Funcs) == 0 {
			t.Errorf("%s: no kernels", file)
		}
	}
}

// number returns an argument that a method takes.
func number(method string) string {
	if strings.HasSuffix(method, "Registers") {
		return "24"
	}
	return "1"
}

// TestWords wants each method of gpu.Thread to be known as an operation: its Go body
// means something on the CPU only.
func TestWords(t *testing.T) {
	w := theWorld()
	p, err := w.Import(project + "gpu")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("package k\nimport \"" + project + "gpu\"\n//gpu:kernel\n//gpu:block 128\nfunc words(t gpu.Thread, x []int) {\n")
	for m := range p.Scope().Lookup("Thread").Type().(*types.Named).Methods() {
		if m.Exported() && m.Signature().Results().Len() > 0 {
			text.WriteString("\t_ = ")
		}
		if m.Exported() {
			var args []string
			for p := range m.Signature().Params().Variables() {
				args = append(args, map[string]string{"bool": "x[0] > 0", "int": number(m.Name())}[p.Type().String()])
			}
			text.WriteString("\tt." + m.Name() + "(" + strings.Join(args, ", ") + ")\n")
		}
	}
	m := lower(t, w, txtar.File{Name: "words.go", Data: []byte(text.String() + "}\n")})
	if len(m.Funcs) != 1 {
		t.Errorf("a method is called:\n%v", m)
	}
}
