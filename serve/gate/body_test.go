package gate_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// Integers may have the form of floating-point numbers. Floating-point numbers and other JSON values stay as they are.
func TestDecode(t *testing.T) {
	type body struct {
		N           *int            `json:"n"`
		Large       int64           `json:"large"`
		Temperature float64         `json:"temperature"`
		Raw         json.RawMessage `json:"raw"`
		Text        string          `json:"text"`
		List        []struct {
			ID int32 `json:"id"`
		} `json:"list"`
	}
	var got body
	text := " \n" + `{"text": "3.0", "n": 3.0, "raw": {"n": 3.0}, "temperature": 1.0, "list": [{"id": 2.0}, {"id": 1e1}, {"id": -0.0}], "large": 9007199254740991.0}`
	if err := gate.Decode([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.N == nil || *got.N != 3 || got.Large != 1<<53-1 || got.Temperature != 1 || string(got.Raw) != `{"n": 3.0}` || got.Text != "3.0" || len(got.List) != 3 || got.List[0].ID != 2 || got.List[1].ID != 10 || got.List[2].ID != 0 {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string]string{
		`{"n": 3.5}`: "n: a JSON number 3.5, want integer", `{"n": 1e300}`: "n: a JSON number 1e300, want integer", `{"n": "3.0"}`: "n: a JSON string, want integer",
		`{"list": [{"id": 1e10}]}`: "list.id: a JSON number 10000000000, want integer", `{"n": 3.0} {}`: "more after the object", `{"n": 3.0, "text": 5}`: "text: a JSON number, want string",
		`{"list": [` + strings.Repeat(`{"id": 1.0}, `, 17) + `{"id": 1}]}`: "list.id: a JSON number 1.0, want integer",
		"{\"text\": \"\xff\"}": "not valid UTF-8", "{\"text\": \"\xed\xa0\x80\"}": "not valid UTF-8",
	} {
		err := gate.Decode([]byte(text), new(body))
		if f, ok := err.(gate.Failure); !ok || f.Status != http.StatusBadRequest || !strings.Contains(f.Message, want) {
			t.Errorf("%.80q: %v, want %s", text, err, want)
		}
	}
}
