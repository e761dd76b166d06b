package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestRun measures a small model with random weights.
func TestRun(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	o := options{model: llamatest.Write(t, llamatest.Options{}), out: filepath.Join(t.TempDir(), "x.svg"), longest: 128}
	var w strings.Builder
	if err := run(t.Context(), &w, o); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(o.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"64", "95"} { // the second prompt leaves room for the generated tokens
		if !strings.Contains(w.String(), "\n      "+n+" ") || !strings.Contains(string(picture), ">"+n+"</text>") {
			t.Errorf("%s tokens are missing:\n%s\n%s", n, &w, picture)
		}
	}
}

// TestDraw draws points, and none.
func TestDraw(t *testing.T) {
	for _, points := range [][]point{{{64, 260.4}, {128, 255}, {8192, 190}}, {{64, 0.3}}, nil} {
		picture := draw("a <model>", points)
		for d := xml.NewDecoder(strings.NewReader(picture)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, picture)
			}
		}
		if strings.Contains(picture, "NaN") || strings.Count(picture, "<circle") != len(points) {
			t.Errorf("%d points:\n%s", len(points), picture)
		}
	}
}
