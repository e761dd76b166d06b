package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, 1000); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"float32 [3 3] on ", "float32 [5] on ", "int64 [5] on ", "[1000 3]", "bfloat16 [2 3] on ",
		"tensor: MatMul: shapes do not fit: [1000 3] by [1000 3]: inner dimensions 3 and 1000 differ (main.go:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
