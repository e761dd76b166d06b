package main

import (
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
)

// Classes have the names of the file labels.txt beside the weights, unless -labels gives others.
func TestClassify(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	model := filepath.Dir(resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 3}, 2))
	picture, names := filepath.Join(t.TempDir(), "gray.png"), filepath.Join(t.TempDir(), "names")
	f, err := os.Create(picture)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(names, "one\ntwo\nthree\n")
	for _, c := range []struct{ labels, names, want string }{
		{"", "", `class \d`}, {"cat\ndog\ngopher\n", "", "cat|dog|gopher"}, {"cat\ndog\ngopher\n", names, "one|two|three"},
	} {
		if c.labels != "" {
			write(filepath.Join(model, "labels.txt"), c.labels)
		}
		var out strings.Builder
		if err := (&classifyCommand{Model: model, Pictures: []string{picture}, Labels: c.names, Top: 2, DType: "auto"}).Run(t.Context(), terminal{&out, io.Discard}); err != nil {
			t.Fatal(err)
		}
		row := ` +\d+\.\d %      \d  (` + c.want + `)\n`
		if !regexp.MustCompile(`^picture +probability  class  name\n` + regexp.QuoteMeta(picture) + row + row + "$").MatchString(out.String()) {
			t.Errorf("labels %q, -labels %q: %s", c.labels, c.names, &out)
		}
	}
	var out strings.Builder
	if err := (&classifyCommand{Model: model, Pictures: []string{picture}, Top: 2, JSON: true, DType: "auto"}).Run(t.Context(), terminal{&out, io.Discard}); err != nil {
		t.Fatal(err)
	}
	var line struct {
		Picture string
		Classes []classify.Class
	}
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil || line.Picture != picture || len(line.Classes) != 2 || line.Classes[0].Name == "" || line.Classes[0].Probability <= 0 {
		t.Errorf("-json: %s, %v", &out, err)
	}
	labels, err := new(serveCommand).readLabels([]served{{name: "m", path: model, kind: pictureModel}, {name: "e", path: model, kind: vectorModel}})
	if err != nil || len(labels) != 1 || strings.Join(labels["m"], " ") != "cat dog gopher" {
		t.Errorf("the server's names are %q, %v", labels, err)
	}
}

// TestClassTable expects tables for several widths, with a name of a class that does not fit and a name of a picture that a terminal would act on.
func TestClassTable(t *testing.T) {
	list := []classify.Class{{Index: 285, Name: "Egyptian cat, a domestic cat of the banks of the Nile", Probability: 0.955}, {Index: 7, Name: "猫", Probability: 0.045}}
	for _, c := range []struct {
		width int
		names []string
		want  string
	}{
		{0, []string{"cat.jpg", "a longer name.jpg"}, `picture            probability  class  name
cat.jpg                 95.5 %    285  Egyptian cat, a domestic cat of the banks of the Nile
                         4.5 %      7  猫
a longer name.jpg       95.5 %    285  Egyptian cat, a domestic cat of the banks of the Nile
                         4.5 %      7  猫
`},
		{40, []string{"cat.jpg", "\x1b.jpg"}, `cat.jpg
     95.5 %  285  Egyptian cat, a
                  domestic cat of the
                  banks of the Nile
      4.5 %    7  猫
"\x1b.jpg"
     95.5 %  285  Egyptian cat, a
                  domestic cat of the
                  banks of the Nile
      4.5 %    7  猫
`},
		{80, []string{"cat.jpg"}, `picture  probability  class  name
cat.jpg       95.5 %    285  Egyptian cat, a domestic cat of the banks of the
                             Nile
               4.5 %      7  猫
`},
		{200, []string{"猫.jpg"}, `picture  probability  class  name
猫.jpg        95.5 %    285  Egyptian cat, a domestic cat of the banks of the Nile
               4.5 %      7  猫
`},
	} {
		t.Setenv("COLUMNS", fmt.Sprint(c.width))
		var out strings.Builder
		table := newClassTable(&out, c.names, 1000)
		for _, name := range c.names {
			if err := table.print(name, list); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, &out, c.want)
		}
	}
}
