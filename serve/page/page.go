package page

import (
	"embed"
	"net/http"
	"path"
)

//go:embed static
var static embed.FS

// types are the types of the files. The package mime would also ask the machine's configuration.
var types = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// policy allows the page to load and to ask only its own server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler returns a handler for the page for chats, at /, and for the files of both pages, below /page/.
func Handler() http.Handler { return handler("index.html") }

// State returns a handler for the page about models and GPUs, at /, and for the files of both pages, below /page/. Use State on servers
// without language models. On other servers, Handler has this page at /page/state.html.
func State() http.Handler { return handler("state.html") }

// handler returns a handler that answers / with a file.
func handler(first string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := first
		if r.URL.Path != "/" {
			name = path.Base(r.URL.Path)
		}
		data, err := static.ReadFile("static/" + name)
		if err != nil || r.URL.Path != "/" && r.URL.Path != "/page/"+name {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", types[path.Ext(name)])
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // another version of the server has another page
		_, _ = w.Write(data)               // a client that has left learns nothing
	})
}
