package listen

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Local returns a handler that passes requests on to next only if they are meant for this machine. Use it for a server without keys that listens only
// on a loopback address: a foreign web page runs in a browser on this machine, so its requests reach the server too.
//
// The host of the URL must be localhost, a name that ends in .localhost, or an IP address of this machine. Other names may belong to a foreign page
// whose name resolves to this machine (DNS rebinding). If there is a header Origin, its host must be such a host as well. The handler refuses other
// requests with status 403. It does not check the host of a request that arrives at a Unix socket.
func Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
		if !unix && r.Host != "" && !isLocal(r.Host) { // an empty host is that of HTTP/1.0, which browsers do not send
			refuse(w, "host", r.Host)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || !isLocal(u.Host) {
				refuse(w, "origin", origin)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers a request from elsewhere.
func refuse(w http.ResponseWriter, what, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{ // a client that has left learns nothing
		"message": fmt.Sprintf("the %s %.200q is not this machine; a server without API keys answers only requests to localhost, and only those of its pages", what, name),
		"type":    "permission_error", "code": http.StatusForbidden,
	}})
}

// isLocal reports whether a host, which may have a port, is this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (ip.IsLoopback() || ofThisMachine(ip.Unmap()))
}

// ofThisMachine reports whether one of the machine's network interfaces has an address.
func ofThisMachine(ip netip.Addr) bool {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}
