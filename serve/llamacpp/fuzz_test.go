package llamacpp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/gate/gatetest"
	"github.com/gopherwarp/gopherwarp/serve/llamacpp"
)

// Bodies never make the server fail.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{"prompt": "Hi", "n_predict": 2}`, `{"prompt": [72, "i"], "n_predict": 1, "stream": true}`, `{"prompt": ["a", {"prompt_string": "b"}, [1]], "n_predict": 1}`,
		`{"prompt": "a", "logit_bias": [[5, false], ["a", 1]], "n_predict": 1, "n_probs": 2}`, `{"prompt": "a", "logit_bias": {"a": -3}, "response_fields": ["a/b"], "n_predict": 1}`,
		`{"messages": [{"role": "user", "content": "a"}]}`, `[{"id": 0, "scale": 1}]`, `null`,
	} {
		f.Add(body)
		for i, odd := range gatetest.Odd(body) {
			if sweep.Every(5, i) {
				f.Add(odd)
			}
		}
	}
	dev, err := cpu.Open()
	if err != nil {
		f.Fatal(err)
	}
	m, err := llm.Open(dev, llamatest.Write(f, llamatest.Options{}), llm.Options{Context: 40})
	if err != nil {
		f.Fatal(err)
	}
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": m}, AnyName: true, Time: time.Second})
	if err != nil {
		f.Fatal(err)
	}
	h := llamacpp.Handle(g, http.HandlerFunc(next), llamacpp.Options{})
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/completion", "/apply-template", "/lora-adapters"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			if w.Code >= 500 && w.Code != http.StatusGatewayTimeout {
				t.Errorf("%s %.100q: %d %s", path, body, w.Code, w.Body)
			}
		}
	})
}
