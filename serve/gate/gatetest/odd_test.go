package gatetest_test

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/gate/gatetest"
)

func TestOdd(t *testing.T) {
	list := gatetest.Odd(`{"a": [{"b": 1}], "c": "x"}`)
	for _, want := range []string{`null`, `{"c":"x"}`, `{"a":null,"c":"x"}`, `{"a":[{"b":-1}],"c":"x"}`, `{"a":[{}],"c":"x"}`, `{"a":[{"b":1}],"c":{"$ref":"#"}}`} {
		if !slices.Contains(list, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if list := gatetest.Odd(`{`); len(list) > 0 {
		t.Errorf("forms of something else: %q", list)
	}
}
