package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"
)

// The programs in the documents pass on the requests for all paths of the protocol.
func TestPrograms(t *testing.T) {
	registers := regexp.MustCompile(`mux\.Handle\("([^"]+)", (?:messages|anthropic\.Handle\(g\))\)`)
	for _, name := range []string{"../../docs/serve.md", "../gate/doc.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		for _, found := range registers.FindAllSubmatch(text, -1) {
			mux.Handle(string(found[1]), http.NotFoundHandler())
		}
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			if _, pattern := mux.Handler(httptest.NewRequest("POST", path, nil)); pattern == "" {
				t.Errorf("%s: no handler for %s", name, path)
			}
		}
	}
}
