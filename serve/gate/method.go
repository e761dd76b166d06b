package gate

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// NoHandler returns the Failure for a request that only the pattern "/" of mux matches. If mux has handlers of the request's path for other methods,
// the status is 405, and NoHandler lists these methods in the header Allow. Otherwise the status is 404.
func NoHandler(w http.ResponseWriter, mux *http.ServeMux, r *http.Request) Failure {
	var list []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		as := r.WithContext(r.Context())
		as.Method = method
		if _, pattern := mux.Handler(as); pattern != "" && pattern != "/" {
			list = append(list, method)
		}
	}
	if len(list) == 0 || slices.Contains(list, r.Method) {
		return Failure{Status: http.StatusNotFound, Message: fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path)}
	}
	w.Header().Set("Allow", strings.Join(list, ", "))
	return Failure{Status: http.StatusMethodNotAllowed, Message: fmt.Sprintf("%s is for %s, not for %s", r.URL.Path, strings.Join(list, " and "), r.Method)}
}

// Otherwise returns a handler for the pattern "/" of mux. If mux has handlers for the request's path, but not for its method, the returned handler
// calls fail. It passes all other requests on to next.
func Otherwise(mux *http.ServeMux, next http.Handler, fail func(http.ResponseWriter, Failure)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := NoHandler(w, mux, r); f.Status == http.StatusMethodNotAllowed {
			fail(w, f)
			return
		}
		next.ServeHTTP(w, r)
	})
}
