package cpu_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestGolden compares, for each testdata/NAME.txtar, the twin of the kernel in the section "in" with the
// section "out", which is the reason where there is no twin.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := emitted(t, string(a.Files[0].Data))
	if *update {
		a.Files = append(a.Files[:1], txtar.File{Name: "out", Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
		t.Errorf("(-want +got; -update accepts)\n%s", diff)
	}
}

// emitted returns the twin of the last function in text.
func emitted(t *testing.T, text string) string {
	t.Helper()
	m, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs[len(m.Funcs)-1]
	if err := ir.Verify(f); err != nil {
		t.Fatalf("the input is wrong: %v", err)
	}
	twin, err := cpu.Emit(f, options(f))
	if err != nil {
		return fmt.Sprintf("none: %v\n", err)
	}
	return fmt.Sprintf("imports %s\n\n%s", strings.Join(twin.Imports, " "), twin.Text)
}

// options names the kernel's parameters x, y and so on, all slices of 4-byte elements while
// there are pointers.
func options(f *ir.Func) cpu.Options {
	o := cpu.Options{Func: f.Name + "Twin", Package: path.Base, Declares: func(string) bool { return false }, Declare: func(name string) string { return name }}
	for _, p := range f.Params {
		name := string("xyzuvw"[len(o.Params)%6])
		if p.Type.IsPtr() {
			o.Params = append(o.Params, driver.Param{Name: name, Offset: int(p.Imm), Size: 24, Elem: 4})
		} else if last := len(o.Params) - 1; last < 0 || int(p.Imm) >= o.Params[last].Offset+o.Params[last].Size {
			o.Params = append(o.Params, driver.Param{Name: name, Offset: int(p.Imm), Size: int(p.Type.Size())})
		}
	}
	return o
}
