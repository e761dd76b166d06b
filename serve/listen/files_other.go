//go:build !linux

package listen

import "net"

// reserve does nothing: only Linux needs it.
func reserve(net.Listener, int) {}
