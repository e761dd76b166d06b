package cpu

import "testing"

// TestConjunction tests that no operand occurs twice, which go vet rejects in generated code.
func TestConjunction(t *testing.T) {
	a, b := operand("a"), operand("b")
	both := conjunction(a, b)
	for _, test := range []struct {
		x, y expr
		want string
	}{
		{a, b, "a && b"},
		{a, a, "a"},
		{both, b, "a && b"},
		{both, a, "a && b"},
		{binary("&&", a, operand("(b && c && d || e)")), operand("c"), "a && (b && c && d || e) && c"},
		{binary("||", a, b), b, "(a || b) && b"},
		{both, operand("xb"), "a && b && xb"},
		{conjunction(a, operand("xb")), b, "a && xb && b"},
	} {
		if got := conjunction(test.x, test.y); got.text != test.want {
			t.Errorf("conjunction of %s and %s is %s, want %s", test.x.text, test.y.text, got.text, test.want)
		}
	}
}
