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
func get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

func TestHandler(t *testing.T) {
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/page/style.css": "text/css; charset=utf-8", "/page/page.js": "text/javascript; charset=utf-8",
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
}

// The script names only elements that the page has, and the page loads only files that exist. The policy forbids scripts and styles in
// the page itself.
func TestFiles(t *testing.T) {
	html, script := get("/").Body.String(), get("/page/page.js").Body.String()
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
