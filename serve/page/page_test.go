package page_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/page"
)

// get returns the answer to a request.
func get(path string) *httptest.ResponseRecorder { return ask(page.Handler(), path) }

// ask returns the answer of a handler to a request.
func ask(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

func TestHandler(t *testing.T) {
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/page/style.css": "text/css; charset=utf-8", "/page/page.js": "text/javascript; charset=utf-8",
		"/page/state.html": "text/html; charset=utf-8", "/page/state.js": "text/javascript; charset=utf-8",
	} {
		w := get(path)
		h := w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Type") != want || w.Body.Len() < 1000 || !strings.Contains(h.Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("%s: %d, %d bytes, %v", path, w.Code, w.Body.Len(), h)
		}
	}
	for _, path := range []string{"/page/", "/page/none", "/page/x/page.js", "/x", "/page/../page.go", "/static"} {
		if w := get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	if got, want := ask(page.State(), "/").Body.String(), get("/page/state.html").Body.String(); got != want {
		t.Errorf("without language models, / is %q", got)
	}
}

// The scripts name only elements that their pages have, and the pages load only files that exist. The policy forbids scripts and styles in
// the pages themselves.
func TestFiles(t *testing.T) {
	for path, script := range map[string]string{"/": "/page/page.js", "/page/state.html": "/page/state.js"} {
		checkFiles(t, get(path).Body.String(), get(script).Body.String())
	}
}

// checkFiles checks a page and its script.
func checkFiles(t *testing.T, html, script string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`\$\("([a-z-]+)"\)`).FindAllStringSubmatch(script, -1) {
		if !strings.Contains(html, `id="`+m[1]+`"`) {
			t.Errorf("the page has no element %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if m[1] != "data:," && get(m[1]).Code != http.StatusOK {
			t.Errorf("the page loads %s, which does not exist", m[1])
		}
	}
	if m := regexp.MustCompile(`<style|<script>| style=| on[a-z]+=`).FindString(html); m != "" {
		t.Errorf("the page contains %s", m)
	}
}
