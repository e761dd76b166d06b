package main

import (
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
)

// Classes have the names of the file labels.txt beside the weights, unless -names gives others.
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
		if err := (&classifyCommand{Model: model, Pictures: []string{picture}, Names: c.names, Top: 2, DType: "auto"}).Run(t.Context(), terminal{&out, io.Discard}); err != nil {
			t.Fatal(err)
		}
		want := regexp.QuoteMeta(picture) + `\t *\d+\.\d %\t\d\t(` + c.want + `)\n`
		if !regexp.MustCompile("^(" + want + "){2}$").MatchString(out.String()) {
			t.Errorf("labels %q, -names %q: %s", c.labels, c.names, &out)
		}
	}
	labels, err := new(serveCommand).readLabels([]served{{name: "m", path: model, kind: pictureModel}, {name: "e", path: model, kind: vectorModel}})
	if err != nil || len(labels) != 1 || strings.Join(labels["m"], " ") != "cat dog gopher" {
		t.Errorf("the server's names are %q, %v", labels, err)
	}
}
