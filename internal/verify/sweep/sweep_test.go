package sweep

import "testing"

func TestEvery(t *testing.T) {
	for value, want := range map[string]int{"": 4, "1": 10} {
		t.Setenv(variable, value)
		n := 0
		for i := range 10 {
			if Every(3, i) {
				n++
			}
		}
		if n != want || Whole() != (value != "") {
			t.Errorf("with %q, %d of 10 cases run", value, n)
		}
	}
}
