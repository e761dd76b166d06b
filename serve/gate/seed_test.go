package gate_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// TestSeed reads all integers of 64 bits, with a sign or without.
func TestSeed(t *testing.T) {
	for text, want := range map[string]gate.Seed{
		"0": {}, "16513655310154552090": {Value: 16513655310154552090}, "18446744073709551615": {Value: 1<<64 - 1},
		"-1": {Value: 1<<64 - 1, Negative: true}, "1e3": {Value: 1000}, "-1.0": {Value: 1<<64 - 1, Negative: true}, "7.00": {Value: 7}, "-9223372036854775808": {Value: 1 << 63, Negative: true},
	} {
		var body struct{ Seed *gate.Seed }
		if err := gate.Decode([]byte(`{"seed": `+text+`}`), &body); err != nil || body.Seed == nil || *body.Seed != want {
			t.Errorf("%s: %v, %+v", text, err, body.Seed)
		}
	}
	for _, text := range []string{"18446744073709551616", "-9223372036854775809", "1.5", "1e300", "1e16", `"1"`, "true", "[]", "{}"} {
		var body struct{ Seed *gate.Seed }
		err := gate.Decode([]byte(`{"seed": `+text+`}`), &body)
		if f, ok := err.(gate.Failure); !ok || f.Param != "seed" || f.Status != 400 || !strings.Contains(f.Message, text+" is not an integer") {
			t.Errorf("%s: %v, %+v", text, err, body.Seed)
		}
	}
}

// Every client can send a new seed back.
func TestNewSeed(t *testing.T) {
	a, b := gate.NewSeed(), gate.NewSeed()
	if a >= 1<<32-1 || b >= 1<<32-1 || a == b && a == gate.NewSeed() {
		t.Errorf("%d, %d", a, b)
	}
}
