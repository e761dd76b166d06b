package gate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// A request with a wrong method learns which methods the path has. Requests for other paths go on.
func TestMethods(t *testing.T) {
	var mux http.ServeMux
	mux.HandleFunc("GET /both", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /both", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /one/{name}", func(http.ResponseWriter, *http.Request) {})
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := gate.NoHandler(w, &mux, r)
		http.Error(w, "next: "+f.Message, f.Status)
	})
	mux.Handle("/", gate.Otherwise(&mux, next, status))
	for request, want := range map[string]struct {
		status       int
		allow, print string
	}{
		"GET /both":      {200, "", ""},
		"DELETE /both":   {405, "GET, HEAD, POST", "/both is for GET and HEAD and POST, not for DELETE"},
		"OPTIONS /one/x": {405, "POST", "/one/x is for POST, not for OPTIONS"},
		"GET /one/x":     {405, "POST", "/one/x is for POST, not for GET"},
		"GET /":          {404, "", "next: there is no GET /"},
		"PUT /other":     {404, "", "next: there is no PUT /other"},
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		text, err := io.ReadAll(w.Body)
		if err != nil || w.Code != want.status || w.Header().Get("Allow") != want.allow || strings.TrimSpace(string(text)) != want.print {
			t.Errorf("%s: %d, Allow %q: %s, %v", request, w.Code, w.Header().Get("Allow"), text, err)
		}
	}
}
